package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/manifest"
)

// stdinName is the argument that stands for the standard input.
const stdinName = "-"

// stdinShown is how places name it.
const stdinShown = "<stdin>"

// An imported is a manifest that was made of something else.
type imported struct {
	manifest *manifest.Manifest
	xml      []byte   // the same as a file, where it was made as one
	comment  string   // what the manifest says of itself
	faults   []string // what is wrong with the source, and was left out
	notes    []string // what is worth to know
}

// text returns the manifest as a file.
func (i *imported) text() []byte {
	if i.xml != nil {
		return i.xml
	}
	return i.manifest.AppendXML(nil, i.comment)
}

// add adds the providers of another form of the same file.
func (i *imported) add(path string, more *imported) {
	for _, p := range more.manifest.Providers {
		if slices.ContainsFunc(i.manifest.Providers, func(other *manifest.Provider) bool { return other.GUID == p.GUID }) {
			i.faults = append(i.faults, fmt.Sprintf("%s: provider %q is also in the resource, and its %d events of TraceLogging are left out", path, p.Name, len(p.Events)))
			continue
		}
		i.manifest.Providers = append(i.manifest.Providers, p)
	}
	_, rest, _ := strings.Cut(more.comment, "\n")
	i.comment += "\n" + rest
	i.faults, i.notes = append(i.faults, more.faults...), append(i.notes, more.notes...)
}

// sourceName returns the name in a manifest for the file that it was made of.
func sourceName(path string) string {
	if path == stdinName || path == stdinShown {
		return "the standard input"
	}
	return filepath.Base(path)
}

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// stdinName is the argument that stands for the standard input.
const stdinName = "-"

// parseManifest reads a manifest. Of faults and err at most one is not nil; err
// means that the file could not be read at all.
func parseManifest(cmd *cobra.Command, path string, opts manifest.Options) (m *manifest.Manifest, warnings, faults manifest.ErrorList, err error) {
	if path == stdinName {
		var data []byte
		if data, err = io.ReadAll(cmd.InOrStdin()); err == nil {
			m, warnings, err = manifest.Parse("<stdin>", data, opts)
		}
	} else {
		m, warnings, err = manifest.ParseFile(path, opts)
	}
	if errors.As(err, &faults) {
		return nil, warnings, faults, nil
	}
	if err != nil {
		err = &exitError{exitUsage, err}
	}
	return m, warnings, nil, err
}

// readManifest reads a manifest and prints what is to be said about it, errors
// and warnings, as lines of the form file:line:col: message in the order of the
// file. The manifest is nil if it has errors. An error means that the file
// could not be read at all.
func readManifest(cmd *cobra.Command, path string, opts manifest.Options) (m *manifest.Manifest, warnings int, err error) {
	m, warned, faults, err := parseManifest(cmd, path, opts)
	if err != nil {
		return nil, 0, err
	}
	all := append(manifest.ErrorList(nil), faults...)
	severity := make(map[*manifest.Error]string, len(warned))
	for _, w := range warned {
		all = append(all, w)
		severity[w] = "warning: "
	}
	all.Sort()
	for _, e := range all {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s%s\n", e.Pos, severity[e], e.Msg)
	}
	return m, len(warned), nil
}

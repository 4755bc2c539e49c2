package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/etwgen/etwgen/gen"
)

// printDiff prints how the old files in dir differ from files, and reports whether any does.
func printDiff(w io.Writer, dir string, old map[string][]byte, files []gen.File) (bool, error) {
	next := make(map[string][]byte)
	for _, f := range files {
		next[f.Name] = f.Content
	}
	either := unneeded(old, files)
	maps.Copy(either, next)
	differs := false
	for _, name := range slices.Sorted(maps.Keys(either)) {
		path := filepath.ToSlash(filepath.Join(dir, name))
		text := diff.Diff(side("a/", path, old[name]), old[name], side("b/", path, next[name]), next[name])
		if len(text) == 0 {
			continue
		}
		differs = true
		if _, err := w.Write(text); err != nil {
			return false, fmt.Errorf("writing the diff: %w", err)
		}
	}
	return differs, nil
}

// side names a side of a diff.
func side(prefix, path string, content []byte) string {
	if content == nil {
		return "/dev/null"
	}
	return prefix + path
}

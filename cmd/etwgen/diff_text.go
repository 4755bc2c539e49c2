package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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

// staleIn returns a finding for each file of a unified diff, at its first difference.
func staleIn(text string) []finding {
	var list []finding
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := cutEither(line, "--- a/", "+++ b/"); ok && (len(list) == 0 || list[len(list)-1].path != path) {
			list = append(list, finding{rule: "stale", level: "error", path: path,
				text: "the file differs from the output of its command; run: go generate ./..."})
		}
		if at, ok := strings.CutPrefix(line, "@@ -"); ok && len(list) > 0 && list[len(list)-1].line == 0 {
			fmt.Sscanf(at, "%d", &list[len(list)-1].line)
		}
	}
	return list
}

// cutEither cuts off one of two prefixes.
func cutEither(s, a, b string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, a); ok {
		return rest, true
	}
	return strings.CutPrefix(s, b)
}

package tracefilereceiver

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A found is a file that patterns lead to.
type found struct {
	path    string
	size    int64
	changed time.Time
}

// same reports whether a file is as it was.
func (f found) same(g found) bool {
	return f.path == g.path && f.size == g.size && f.changed.Equal(g.changed)
}

// find returns the files of the patterns, sorted by path. An unreadable path is left out.
func find(include, exclude []string) []found {
	var all []found
	seen := make(map[string]bool)
	for _, pattern := range include {
		for _, path := range expand(pattern) {
			if seen[path] || slices.ContainsFunc(exclude, func(p string) bool { return matches(p, path) }) {
				continue
			}
			seen[path] = true
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				all = append(all, found{path, info.Size(), info.ModTime()})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return all
}

// expand returns the paths of a pattern.
func expand(pattern string) []string {
	before, _, deep := strings.Cut(pattern, "**")
	if !deep {
		list, _ := filepath.Glob(pattern) // the pattern was checked
		return list
	}
	root := filepath.Dir(before + "x")
	roots, _ := filepath.Glob(root)
	var list []string
	for _, root := range roots {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && matches(pattern, path) {
				list = append(list, path)
			}
			return nil
		})
	}
	return list
}

// matches reports whether a path is one of a pattern.
func matches(pattern, path string) bool {
	split := func(s string) []string { return strings.Split(filepath.ToSlash(filepath.Clean(s)), "/") }
	return matchParts(split(pattern), split(path))
}

func matchParts(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if pattern[0] == "**" {
		return matchParts(pattern[1:], path) || len(path) > 0 && matchParts(pattern, path[1:])
	}
	if len(path) == 0 {
		return false
	}
	ok, _ := filepath.Match(pattern[0], path[0])
	return ok && matchParts(pattern[1:], path[1:])
}

package mutate

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// Folder returns the traces in a folder, and in those below it, that are whole
// and have at most max bytes, sorted by path.
func Folder(dir string, max int64) ([]*Trace, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".etl", ".nettrace", ".netperf":
			if info, err := d.Info(); err == nil && info.Size() <= max {
				paths = append(paths, path)
			}
		}
		return nil
	})
	sort.Strings(paths)
	var traces []*Trace
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if t := New(filepath.Base(path), data); t != nil {
			traces = append(traces, t)
		}
	}
	return traces, err
}

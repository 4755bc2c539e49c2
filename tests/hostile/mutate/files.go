package mutate

import (
	"compress/gzip"
	"io"
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
		case ".etl", ".nettrace", ".netperf", ".evtx", ".data", ".gz":
			if info, err := d.Info(); err == nil && info.Size() <= max {
				paths = append(paths, path)
			}
		}
		return nil
	})
	sort.Strings(paths)
	var traces []*Trace
	for _, path := range paths {
		data, err := unpacked(path, max)
		if err != nil {
			return nil, err
		}
		if t := New(filepath.Base(path), data); t != nil {
			traces = append(traces, t)
		}
	}
	return traces, err
}

// unpacked reads a file, also one that is packed. Of one that is larger it returns nothing.
func unpacked(path string, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, nil // it has the name alone
		}
	}
	data, err := io.ReadAll(io.LimitReader(r, max+1))
	if int64(len(data)) > max {
		return nil, err
	}
	return data, err
}

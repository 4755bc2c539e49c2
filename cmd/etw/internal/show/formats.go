package show

import (
	"os"
	"path/filepath"

	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ReadFormats reads the formats of a Linux kernel's events, and reports whether path is
// such: a folder like /sys/kernel/tracing/events, or a file format of one event in it.
func ReadFormats(path string) (list []*etw.Provider, ok bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, false, nil // reading the manifest says it
	case info.IsDir():
		list, err = tracepoints.Formats(os.DirFS(path))
		return list, err != nil || len(list) > 0, err
	case filepath.Base(path) != "format" || !info.Mode().IsRegular():
		return nil, false, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, true, err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, true, err
	}
	d, err := tracepoints.ParseFormat(filepath.Base(filepath.Dir(filepath.Dir(full))), data)
	if err != nil {
		return nil, true, err
	}
	return []*etw.Provider{{Desc: d.Provider, Events: []*etw.EventDesc{d}}}, true, nil
}

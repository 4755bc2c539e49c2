package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/device"
)

// Code opens the ELF file that a trace has at a path, nil if it is not at hand: the one with a
// build id, in the folder, or by the path in usual places. Where the trace does not tell the
// build id, it is the file of that path there if it has the same device and number, as in
// "fd:01 1234".
func (d *Dir) Code(path, buildID, number string) *os.File {
	id := strings.ToLower(buildID)
	if id == "" {
		own, ok := d.usual.regular(path)
		if !ok || number == "" {
			return nil
		}
		if info, err := os.Stat(own); err != nil || device.Of(info) != number {
			return nil
		}
		return open(own)
	}
	for _, p := range slices.Concat(d.withID(id), d.usual.candidates(path)) {
		is, err := openFile(p, elfID)
		// Debug files have the id, and not the code.
		if err == nil && is == id && (filepath.Ext(p) != ".debug" || filepath.Ext(path) == ".debug") {
			return open(p)
		}
	}
	return nil
}

func open(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

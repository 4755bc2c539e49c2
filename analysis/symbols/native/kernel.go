package native

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/perfmap"
)

var errHidden = errors.New("native: all its addresses are 0: it was not read as root")

// Kernel returns the function of the kernel at an address, if there is a list of symbols: a
// file with the name kallsyms and the contents of /proc/kallsyms. It must be of the machine
// of the trace, and of the same boot, which no identity says.
func (d *Dir) Kernel(address uint64) (symbols.Native, bool) {
	const user = 1 << 63
	if address < user {
		return symbols.Native{}, false
	}
	for _, path := range d.kernels {
		t := d.load(path, func(f *os.File) (*table, error) { return readKernel(f) })
		if t == nil {
			continue
		}
		if name, offset, ok := t.find(address); ok {
			n := symbols.Native{Module: "vmlinux", Function: name, Offset: offset}
			if name, module, ok := strings.Cut(name, "\t"); ok {
				n.Function, n.Module = name, strings.Trim(module, "[]")
			}
			n.Function = d.demangle(n.Function)
			return n, true
		}
	}
	return symbols.Native{}, false
}

// farthest is how long a function of the kernel may be that nothing follows.
const farthest = 1 << 20

// readKernel reads a list of symbols: lines of address, kind, name and, of those of modules,
// a tab and the module. Lines that are invalid are left out. With an error there is the part
// that could be read.
func readKernel(r io.Reader) (*table, error) {
	t := new(table)
	hidden := false
	last := uint64(0)
	err := perfmap.Lines(r, func(line string) {
		at, rest, _ := strings.Cut(line, " ")
		kind, name, ok := strings.Cut(rest, " ")
		address, err := strconv.ParseUint(at, 16, 64)
		if !ok || err != nil || len(kind) != 1 || strings.HasPrefix(name, "$") {
			return
		}
		if address == 0 {
			hidden = true
			return
		}
		switch kind {
		case "T":
			t.addRanked(address, 0, name, ofAll)
		case "W":
			t.addRanked(address, 0, name, ofAllWeak)
		case "t", "w":
			t.addRanked(address, 0, name, ofFile)
		default: // no code
			t.bound(address)
		}
		last = max(last, address)
	})
	if len(t.list) == 0 && hidden {
		return nil, errHidden
	}
	t.bound(last + farthest)
	t.sort()
	return t, err
}

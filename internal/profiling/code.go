package profiling

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// code names the methods that a process had before anybody listened, by files, where Linux
// tells which it has in memory: those that it compiled by the map that the runtime writes,
// some hundred kilobytes in a tenth of a second, and precompiled ones by its own files.
type code struct {
	p      *Process
	kernel *Kernel                   // nil if nobody samples it
	jitted []compiled                // by where they start
	known  map[uint64]symbols.Native // by address; without a name if there is none
}

type compiled struct {
	start, end uint64
	name       string
}

// maxKnown bounds how many addresses are remembered.
const maxKnown = 1 << 17

// ask has the runtime write its map, and reads it.
func (c *code) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	var maps eventpipe.PerfMaps
	err := maps.Ask(ctx, func(pid int) bool { return int64(pid) == c.p.number() })
	var list []compiled
	err = errors.Join(err, maps.Read(ctx, func(_ int, start, size uint64, name string) {
		list = append(list, compiled{start, start + size, name})
	}))
	// Of code at one place the last is there now.
	slices.Reverse(list)
	order.ByKey(list, func(c *compiled) uint64 { return c.start })
	c.jitted = slices.CompactFunc(list, func(a, b compiled) bool { return a.start == b.start })
	clear(c.known)
	return err
}

// naming returns the names of addresses for one naming of samples: the files are read for it
// and no longer, since they are large.
func (c *code) naming() (name func(int64, uint64, time.Time) (symbols.Native, bool), end func()) {
	var live *native.Live
	end = func() {}
	if root, err := os.OpenRoot(filepath.Join(c.p.folder(), "root")); err == nil {
		end = func() { root.Close() }
		if maps, err := os.Open(filepath.Join(c.p.folder(), "maps")); err == nil {
			defer maps.Close()
			live, _ = native.NewLive(maps, root) // a part is better than nothing
		}
	}
	return func(_ int64, address uint64, _ time.Time) (symbols.Native, bool) {
		if address >= kernelSpace {
			return c.kernel.name(address)
		}
		n, ok := c.known[address]
		if !ok {
			if n, ok = c.find(address); !ok && live != nil {
				n, _ = live.Name(address)
			}
			if c.known == nil || len(c.known) >= maxKnown {
				c.known = make(map[uint64]symbols.Native)
			}
			c.known[address] = n
		}
		return n, n.Function != ""
	}, end
}

// find returns the method that the process has compiled at an address.
func (c *code) find(address uint64) (symbols.Native, bool) {
	i, found := slices.BinarySearchFunc(c.jitted, address, func(x compiled, at uint64) int { return cmp.Compare(x.start, at) })
	if !found {
		i--
	}
	if i < 0 || address >= c.jitted[i].end {
		return symbols.Native{}, false
	}
	return symbols.Jitted(c.jitted[i].name, address-c.jitted[i].start), true
}

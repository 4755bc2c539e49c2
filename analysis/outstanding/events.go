package outstanding

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The events are read here field by field: their generated types would be 50 kB of a program.

// virtual takes that virtual memory is committed (98), or given back (99).
func (a *Analysis) virtual(r *etw.Record, c *etw.Cursor) {
	if r.Opcode != 98 && r.Opcode != 99 {
		return
	}
	base, size, pid, flags := uint64(c.Pointer()), uint64(c.Pointer()), int64(c.Uint32()), kernel.VirtualAllocFlags(c.Uint32())
	switch {
	case c.Failed():
	case r.Opcode == 99:
		if flags&(kernel.VirtualAllocFlagsMemDecommit|kernel.VirtualAllocFlagsMemRelease) != 0 && !a.remove(pid, 0, base, max(base+size, base)) {
			a.res.Older++
		}
	case flags&kernel.VirtualAllocFlagsMemCommit != 0: // to reserve addresses alone takes no memory
		a.alloc(r, pid, 0, base, size, held{bytes: min(size, ^uint64(0)-base)})
	}
}

// heap takes that memory of a heap is allocated (33), moved (34), or freed (36), and that a heap
// is destroyed (35).
func (a *Analysis) heap(r *etw.Record, c *etw.Cursor) {
	if r.Opcode < 33 || r.Opcode > 36 {
		return
	}
	pid, heap := a.whose(r), uint64(c.Pointer())
	switch r.Opcode {
	case 33:
		size, address := uint64(c.Pointer()), uint64(c.Pointer())
		a.one(r, c, pid, heap, address, held{bytes: size})
	case 34:
		to, from, size := uint64(c.Pointer()), uint64(c.Pointer()), uint64(c.Pointer())
		if !c.Failed() {
			a.gone(pid, heap, from)
		}
		a.one(r, c, pid, heap, to, held{bytes: size})
	case 35:
		if !c.Failed() {
			a.end(pid, heap)
		}
	case 36:
		if address := uint64(c.Pointer()); !c.Failed() {
			a.gone(pid, heap, address)
		}
	}
}

// pool takes that memory of a pool is allocated (32, and 33 for a session), or freed (34, 35).
// All processes share it.
func (a *Analysis) pool(r *etw.Record, c *etw.Cursor) {
	if r.Opcode < 32 || r.Opcode > 35 {
		return
	}
	h := held{name: "nonpaged"}
	if c.Uint32()&1 != 0 {
		h.name = "paged"
	}
	h.tag, h.bytes = c.Uint32(), uint64(c.Pointer())
	address := uint64(c.Pointer())
	if r.Opcode < 34 {
		a.one(r, c, everyone, 0, address, h)
	} else if !c.Failed() {
		a.gone(everyone, 0, address)
	}
}

// everyone is the process of what is nobody's.
const everyone = -1

// handle takes that a handle is made (32), closed (33) or copied to a process (34), and
// the names of types (36, 37).
func (a *Analysis) handle(r *etw.Record, c *etw.Cursor) {
	switch r.Opcode {
	case 32, 33:
		c.Pointer()
		handle, h := uint64(c.Uint32()), held{tag: uint32(c.Uint16())}
		if r.Opcode == 33 {
			if !c.Failed() {
				a.gone(a.table(r, handle), 0, handle)
			}
			return
		}
		if c.Left(2) {
			h.name = c.UTF16().String()
		}
		a.one(r, c, a.table(r, handle), 0, handle, h)
	case 34:
		c.Pointer()
		c.Uint32()
		handle, pid := uint64(c.Uint32()), int64(c.Uint32())
		h := held{tag: uint32(c.Uint16())}
		if handle>>31 != 0 {
			pid = kernelTable
		}
		a.one(r, c, pid, 0, handle, h)
	case 36, 37:
		number := c.Uint16()
		c.Uint16()
		if name := c.UTF16(); !c.Failed() {
			a.types[number] = name.String()
		}
	}
}

// kernelTable is the process that has the handles of the kernel, which every process may
// make and close: their highest bit is set.
const kernelTable = 4

// table returns the process whose a handle is.
func (a *Analysis) table(r *etw.Record, handle uint64) int64 {
	if handle>>31 != 0 {
		return kernelTable
	}
	return a.whose(r)
}

// one takes that something with one address is allocated.
func (a *Analysis) one(r *etw.Record, c *etw.Cursor, pid int64, within, address uint64, h held) {
	if !c.Failed() && address != 0 && address != ^uint64(0) {
		a.alloc(r, pid, within, address, 1, h)
	}
}

// gone takes that it is given back.
func (a *Analysis) gone(pid int64, within, address uint64) {
	if address != 0 && !a.remove(pid, within, address, max(address+1, address)) {
		a.res.Older++
	}
}

// tagged says which memory of a pool it is.
func (*Analysis) tagged(out *stacks.Samples, h *held) stacks.LabelSet {
	return out.Label(out.Label(0, "tag", tagText(h.tag)), "pool", h.name)
}

// typed says of which object a handle is.
func (a *Analysis) typed(out *stacks.Samples, h *held) stacks.LabelSet {
	name := a.types[uint16(h.tag)]
	if name == "" {
		name = fmt.Sprint("type ", h.tag)
	}
	l := out.Label(0, "type", name)
	if h.name != "" {
		l = out.Label(l, "object", h.name)
	}
	return l
}

// tagText returns the four characters of a tag. Its highest bit protects the memory.
func tagText(tag uint32) string {
	var b strings.Builder
	for tag &= 1<<31 - 1; b.Len() < 4; tag >>= 8 {
		c := byte(tag)
		if c < ' ' || c > '~' {
			c = '.'
		}
		b.WriteByte(c)
	}
	return b.String()
}

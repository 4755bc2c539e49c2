package universal

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// An unwinder finds the callers in copies of stacks.
type unwinder struct {
	run     func(*Translator, *perfevent.Record) // nil leaves stacks as they are, and the code out of programs
	machine *unwind.Machine
	files   map[codeID]*unwind.File // nil of those that do not tell
}

// A codeID is what a file with code is known by.
type codeID struct {
	path, device string
	file         uint64
}

// Unwind has copies of stacks unwound, of a machine by the name that the kernel gives it. It
// reports whether that machine is known.
func (t *Translator) Unwind(machine string) bool {
	t.unwinder = unwinder{(*Translator).unwind, unwind.Machines[machine], make(map[codeID]*unwind.File)}
	return t.unwinder.machine != nil
}

// unwind puts the callers that a copy of the stack tells into the stack of a record. Where the
// copy ends before the stack does, those follow that the kernel has found by frame pointers.
func (t *Translator) unwind(r *perfevent.Record) {
	m := t.unwinder.machine
	if m == nil || len(r.Copy) == 0 {
		return
	}
	regs, ok := m.Registers(r.Mask, r.Registers)
	p := t.processes[r.PID]
	if !ok || p == nil {
		return
	}
	list, whole := m.Stack(nil, regs, r.Copy, func(pc uint64) (*unwind.File, uint64) { return t.code(r.PID, p, pc) })
	n := 0 // the kernel's part
	for ; n+8 <= len(r.Stack) && binary.LittleEndian.Uint64(r.Stack[n:]) >= kernelSpace; n += 8 {
	}
	user := r.Stack[n:]
	if !whole {
		for at := 0; at+8 <= len(user); at += 8 {
			if i := slices.Index(list, binary.LittleEndian.Uint64(user[at:])); i >= 0 && len(list)-i < (len(user)-at)/8 {
				for ; at+8 <= len(user); at += 8 {
					list = append(list[:i], binary.LittleEndian.Uint64(user[at:]))
					i++
				}
			}
		}
	} else if 8*len(list) < len(user) && len(list) < 2 {
		return // nothing was found
	}
	r.Stack = slices.Clip(r.Stack[:n])
	for _, at := range list {
		r.Stack = binary.LittleEndian.AppendUint64(r.Stack, at)
	}
	t.Stats.Unwound++
}

// maxOverlap is how many parts before an address are looked at.
const maxOverlap = 16

// code returns how the code at an address of a process is unwound, and where that is in its
// file.
func (t *Translator) code(pid int32, p *traced, pc uint64) (*unwind.File, uint64) {
	start := func(i int, at uint64) int { return cmp.Compare(p.mappings[i].start, at) }
	for n := len(p.sorted); n < len(p.mappings); n++ {
		i, _ := slices.BinarySearchFunc(p.sorted, p.mappings[n].start+1, start)
		p.sorted = slices.Insert(p.sorted, i, n)
	}
	i, _ := slices.BinarySearchFunc(p.sorted, pc+1, start)
	newest := -1
	for k := i - 1; k >= max(i-maxOverlap, 0); k-- {
		if n := p.sorted[k]; pc < p.mappings[n].end && n > newest {
			newest = n
		}
	}
	if newest < 0 || p.mappings[newest].path == "" {
		return nil, 0
	}
	m := &p.mappings[newest]
	id := codeID{m.path, m.device, m.file}
	f, known := t.unwinder.files[id]
	if !known {
		f = t.host.Code(pid, &Area{Start: m.start, End: m.end, Offset: m.offset, Path: m.path, Device: m.device})
		t.unwinder.files[id] = f
	}
	if f == nil {
		return nil, 0
	}
	at, ok := f.Address(pc - m.start + m.offset)
	if !ok {
		return nil, 0
	}
	return f, at
}

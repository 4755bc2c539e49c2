package unwind

import (
	"encoding/binary"
	"math/bits"
)

// A Machine is how a machine numbers its registers.
type Machine struct {
	fromPerf []uint8 // the numbers of registers by those of perf_event, none for others
	pc       int     // of perf_event
	ret      uint64  // the register that has the address of the code, or of the caller
	sp, fp   uint64
	mask     uint64 // of addresses that may be signed
}

const none = 0xff

// Machines are those that are known, by the name that the kernel gives them.
var Machines = map[string]*Machine{
	"x86_64": {
		fromPerf: []uint8{0, 3, 2, 1, 4, 5, 6, 7, none, none, none, none, none, none, none, none, 8, 9, 10, 11, 12, 13, 14, 15},
		pc:       8, ret: 16, sp: 7, fp: 6, mask: ^uint64(0),
	},
	"aarch64": {
		fromPerf: []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
		pc:       32, ret: 30, sp: 31, fp: 29, mask: 1<<48 - 1,
	},
}

// Mask returns the registers to ask perf_event for.
func (m *Machine) Mask() uint64 {
	mask := uint64(1) << m.pc
	for i, n := range m.fromPerf {
		if n != none {
			mask |= 1 << i
		}
	}
	return mask
}

// Registers are those of a frame, as far as they are known.
type Registers struct {
	PC     uint64
	values [registers]uint64
	known  uint64
}

func (r *Registers) get(n uint64) (uint64, bool) {
	if n >= registers || r.known>>n&1 == 0 {
		return 0, false
	}
	return r.values[n], true
}

func (r *Registers) set(n, v uint64) { r.values[n], r.known = v, r.known|1<<n }

// Registers reads the values of a sample, little-endian, of the registers that are in a mask.
func (m *Machine) Registers(mask uint64, values []byte) (r Registers, ok bool) {
	for rest := mask; rest != 0 && len(values) >= 8; rest &= rest - 1 {
		n, v := bits.TrailingZeros64(rest), binary.LittleEndian.Uint64(values)
		values = values[8:]
		switch {
		case n == m.pc:
			r.PC, ok = v, true
		case n < len(m.fromPerf) && m.fromPerf[n] != none:
			r.set(uint64(m.fromPerf[n]), v)
		}
	}
	if _, hasStack := r.get(m.sp); !hasStack {
		return r, false
	}
	return r, ok
}

// maxFrames bounds a stack, and maxSteps the steps that all its rules and expressions take.
const (
	maxFrames = 1 << 10
	maxSteps  = 1 << 20
)

// A copied is a copy of a stack, and the steps that are left to unwind it.
type copied struct {
	base  uint64
	bytes []byte
	cut   bool // memory behind the copy was asked for
	left  int
}

func (c *copied) read(at uint64) (uint64, bool) {
	if at < c.base || at-c.base > uint64(len(c.bytes)) || uint64(len(c.bytes))-(at-c.base) < 8 {
		c.cut = c.cut || at >= c.base
		return 0, false
	}
	return binary.LittleEndian.Uint64(c.bytes[at-c.base:]), true
}

// step takes one of the steps.
func (c *copied) step() bool {
	c.left--
	return c.left >= 0
}

// A Finder returns how the code at an address is unwound, and where that is in its file, nil
// if no file says it.
type Finder func(pc uint64) (*File, uint64)

// Stack appends the addresses of the code of a sample and of its callers, and reports whether
// that is all of it, as opposed to the part up to the end of the copy. memory is a copy of the
// stack, from the register on that points to it.
func (m *Machine) Stack(out []uint64, r Registers, memory []byte, find Finder) (list []uint64, whole bool) {
	base, _ := r.get(m.sp)
	c := &copied{base: base, bytes: memory, left: maxSteps}
	exact := true // the address is that of the code, and not behind a call
	for n := 0; n < maxFrames && r.PC != 0; n++ {
		out = append(out, r.PC)
		at := r.PC
		if !exact {
			at--
		}
		before, _ := r.get(m.sp)
		f, place := find(at)
		var e *Entry
		if f != nil {
			e = f.entry(place)
		}
		var next Registers
		var ok bool
		if exact = e != nil && e.common.signal; e != nil {
			next, ok = m.byEntry(&r, e, place, c)
		} else {
			next, ok = m.byPointers(&r, c)
		}
		after, _ := next.get(m.sp)
		// A leaf of arm64 has nothing on the stack.
		if !ok || after < before || after == before && (n > 0 || next.PC == r.PC) {
			return out, !c.cut
		}
		r = next
	}
	return out, true
}

// byPointers finds the caller by the frame's pointer, which points to that of the caller, and
// to the address of its code behind it.
func (m *Machine) byPointers(r *Registers, c *copied) (next Registers, ok bool) {
	fp, _ := r.get(m.fp)
	if sp, _ := r.get(m.sp); fp < sp || fp%8 != 0 {
		return next, false
	}
	caller, ok := c.read(fp)
	pc, ok2 := c.read(fp + 8)
	next.PC = pc & m.mask
	next.set(m.fp, caller)
	next.set(m.sp, fp+16)
	return next, ok && ok2
}

// byEntry finds the caller by the rules of an entry. PC of the caller is 0 if there is none.
func (m *Machine) byEntry(r *Registers, e *Entry, at uint64, c *copied) (next Registers, ok bool) {
	w, ok := e.row(at, c)
	if !ok {
		return next, false
	}
	here := *r
	if m.ret == 16 {
		here.set(m.ret, r.PC) // expressions use it
	}
	frame, ok := w.address(&here, c)
	if !ok {
		return next, false
	}
	for n := range uint64(registers) {
		if v, ok := w.rules[n].value(n, frame, &here, c); ok {
			next.set(n, v)
		}
	}
	next.set(m.sp, frame)
	if rule := &w.rules[m.sp]; rule.kind != kept {
		if v, ok := rule.value(m.sp, frame, &here, c); ok {
			next.set(m.sp, v)
		}
	}
	if e.common.ret >= registers || w.rules[e.common.ret].kind == lost {
		return next, true // the outermost frame
	}
	if m.ret == 16 && w.rules[e.common.ret].kind == kept {
		return next, false // a call has put it into memory
	}
	pc, ok := next.get(e.common.ret)
	next.PC = pc & m.mask
	return next, ok
}

// address returns the address of the frame.
func (w *row) address(r *Registers, c *copied) (uint64, bool) {
	switch w.frame.kind {
	case inRegister:
		v, ok := r.get(w.reg)
		return v + uint64(w.frame.n), ok
	case expressionItself:
		return evaluate(w.frame.code, nil, r, c)
	}
	return 0, false
}

// value returns the caller's value of a register.
func (u *rule) value(reg, frame uint64, r *Registers, c *copied) (uint64, bool) {
	switch u.kind {
	case kept:
		return r.get(reg)
	case atFrame:
		return c.read(frame + uint64(u.n))
	case frameItself:
		return frame + uint64(u.n), true
	case inRegister:
		return r.get(uint64(u.n))
	case atExpression:
		at, ok := evaluate(u.code, &frame, r, c)
		if !ok {
			return 0, false
		}
		return c.read(at)
	case expressionItself:
		return evaluate(u.code, &frame, r, c)
	}
	return 0, false
}

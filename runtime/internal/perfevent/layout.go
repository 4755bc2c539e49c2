package perfevent

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A Layout says which parts the records of an event have.
type Layout struct {
	Order      binary.ByteOrder // of the machine that recorded
	Parts      uint64           // of samples: the bits of sample_type
	All        bool             // other records end with some of the parts, too
	ReadFormat uint64
	Branches   uint64 // which of the last branches are taken, and how
	Registers  uint64 // of user code, in bits
	// CodeRegister is the number of the register with the address of the code, of which
	// there are none without Registers.
	CodeRegister int
}

// The parts of samples.
const (
	PartIP         = 1 << 0
	PartThread     = 1 << 1
	PartTime       = 1 << 2
	PartAddress    = 1 << 3
	PartRead       = 1 << 4
	PartStack      = 1 << 5
	PartID         = 1 << 6
	PartProcessor  = 1 << 7
	PartPeriod     = 1 << 8
	PartStream     = 1 << 9
	PartRaw        = 1 << 10
	PartBranches   = 1 << 11
	PartRegisters  = 1 << 12
	PartUserStack  = 1 << 13
	PartIdentifier = 1 << 16
)

// Those that other records end with, in this order.
var trailerParts = [...]uint64{PartThread, PartTime, PartID, PartStream, PartProcessor, PartIdentifier}

// trailerSize is how many bytes these have.
func (l *Layout) trailerSize() (n int) {
	if !l.All {
		return 0
	}
	for _, part := range trailerParts {
		if l.Parts&part != 0 {
			n += 8
		}
	}
	return n
}

func (l *Layout) trailer(r *Record, b []byte) {
	for _, part := range trailerParts {
		if !l.All || l.Parts&part == 0 {
			continue
		}
		l.part(r, part, b)
		b = b[8:]
	}
}

// part reads a part of 8 bytes.
func (l *Layout) part(r *Record, part uint64, b []byte) {
	switch part {
	case PartThread:
		r.PID, r.TID = l.int32(b), l.int32(b[4:])
	case PartTime:
		r.Time = int64(l.Order.Uint64(b))
	case PartID, PartIdentifier:
		r.ID = l.Order.Uint64(b)
	case PartProcessor:
		r.Processor = l.int32(b)
	case PartPeriod:
		r.Period = l.Order.Uint64(b)
	}
}

// Identity finds the number of the event in a record, which tells its layout. It is at the
// same place in the records of all events of a file.
func (l *Layout) Identity(kind uint32, b []byte) (id uint64, ok bool) {
	at := 0
	switch {
	case kind == TypeSample && l.Parts&PartIdentifier != 0:
	case l.Parts&(PartID|PartIdentifier) == 0, kind != TypeSample && !l.All:
		return 0, false
	case kind == TypeSample:
		at = 8 * bits.OnesCount64(l.Parts&(PartIP|PartThread|PartTime|PartAddress))
	case l.Parts&PartIdentifier != 0:
		at = len(b) - 8
	default:
		at = len(b) - 8 - 8*bits.OnesCount64(l.Parts&(PartStream|PartProcessor))
	}
	if at < 0 || at+8 > len(b) {
		return 0, false
	}
	return l.Order.Uint64(b[at:]), true
}

// The parts of 8 bytes that a sample begins with, in this order.
var headParts = [...]uint64{PartIdentifier, PartIP, PartThread, PartTime, PartAddress, PartID, PartStream, PartProcessor, PartPeriod}

// sample reads a sample.
func (l *Layout) sample(r *Record, b []byte) bool {
	var code []byte
	for _, part := range headParts {
		if l.Parts&part == 0 {
			continue
		}
		if len(b) < 8 {
			return false
		}
		if l.part(r, part, b); part == PartIP {
			code = b[:8]
		}
		b = b[8:]
	}
	c := cutter{Layout: l, b: b}
	if l.Parts&PartRead != 0 {
		c.read()
	}
	inUser := false
	if l.Parts&PartStack != 0 {
		inUser = c.stack(r)
	}
	if len(r.Stack) == 0 && code != nil {
		r.Stack, inUser = l.address(nil, code), true
	}
	if l.Parts&PartRaw != 0 {
		size := c.take(4)
		if raw := c.take(int64(l.Order.Uint32(size))); len(raw) > 0 {
			r.Raw = bytes.Clone(raw)
		}
	}
	if l.Parts&PartRegisters != 0 && !c.bad {
		r.UserStack = l.Parts&PartUserStack != 0
		if code := c.registers(r); code != nil && !inUser && r.UserStack {
			r.Stack = l.address(r.Stack, code)
		}
		if r.UserStack && !c.bad {
			c.userStack(r)
		}
	}
	const known = PartIdentifier | PartIP | PartThread | PartTime | PartAddress | PartID | PartStream | PartProcessor | PartPeriod | PartRead | PartStack | PartRaw
	if l.Parts&^known == 0 {
		r.Extra = len(c.b)
	}
	return !c.bad
}

// address appends an address, little-endian.
func (l *Layout) address(to, from []byte) []byte {
	return binary.LittleEndian.AppendUint64(to, l.Order.Uint64(from))
}

// A cutter takes parts of any size off a sample.
type cutter struct {
	*Layout
	b   []byte
	bad bool // it was too short
}

var zeros [8]byte

// take returns the next n bytes. If there are fewer, it returns at least as many zeros as
// numbers have.
func (c *cutter) take(n int64) []byte {
	if n < 0 || n > int64(len(c.b)) {
		c.b, c.bad = nil, true
		return zeros[:]
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cutter) number() uint64 { return c.Order.Uint64(c.take(8)) }

// list takes a number of elements of a size.
func (c *cutter) list(count uint64, size int64) []byte {
	if count > uint64(len(c.b)) {
		count = uint64(len(c.b)) + 1 // which is too many
	}
	return c.take(int64(count) * size)
}

// The bits of ReadFormat, of the numbers beside the value of a counter.
const (
	readTimes = 1 | 2
	readID    = 4
	readGroup = 8
	readLost  = 16
)

// read passes over the values of counters.
func (c *cutter) read() {
	each, count := int64(1+bits.OnesCount64(c.ReadFormat&(readID|readLost))), uint64(1)
	if c.ReadFormat&readGroup != 0 {
		count = c.number()
	}
	c.take(8 * int64(bits.OnesCount64(c.ReadFormat&readTimes)))
	c.list(count, 8*each)
}

// Addresses from firstMark on are marks of the next part of a stack.
const (
	firstMark    = ^uint64(4095) + 1
	markUser     = ^uint64(512) + 1
	markDeferred = ^uint64(640) + 1 // a number follows, not an address
)

// stack reads a stack, and reports whether it goes on into user code.
func (c *cutter) stack(r *Record) (inUser bool) {
	list := c.list(c.number(), 8)
	if c.bad {
		return false
	}
	for ; len(list) > 0; list = list[8:] {
		switch at := c.Order.Uint64(list); {
		case at < firstMark:
			r.Stack = c.address(r.Stack, list)
		case at == markUser:
			inUser = len(list) > 8
		case at == markDeferred && len(list) > 8:
			list = list[8:]
		}
	}
	return inUser
}

// registers passes over the last branches, takes the registers of user code, and returns the
// one that has its address, nil if there is none.
func (c *cutter) registers(r *Record) []byte {
	const hasIndex, hasCounters, branch = 1 << 17, 1 << 19, 24
	if c.Parts&PartBranches != 0 {
		n := c.number()
		if c.Branches&hasIndex != 0 {
			c.take(8)
		}
		c.list(n, branch)
		if c.Branches&hasCounters != 0 {
			c.list(n, 8)
		}
	}
	const wide = 2 // of 64 bits; 0 is no user code
	width := c.number()
	if width == 0 {
		return nil
	}
	all := c.take(8 * int64(bits.OnesCount64(c.Registers)))
	bit := uint64(1) << c.CodeRegister
	if c.bad {
		return nil
	}
	if width == wide && c.Order == binary.LittleEndian {
		r.Registers, r.Mask = bytes.Clone(all), c.Registers
	}
	if c.Registers&bit == 0 {
		return nil
	}
	return all[8*bits.OnesCount64(c.Registers&(bit-1)):][:8]
}

// userStack takes the copy of the stack: room of a size, and how much of it is in use.
func (c *cutter) userStack(r *Record) {
	size := c.number()
	if size == 0 {
		return
	}
	room := c.list(size, 1)
	if used := c.number(); !c.bad && used <= uint64(len(room)) {
		r.Copy = bytes.Clone(room[:used])
	}
}

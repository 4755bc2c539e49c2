package perf

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// A Record is one record of the kernel.
type Record = perfevent.Record

// A parser reads records. It has the numbers of the events that are not for samples, and the
// kinds of their records.
type parser struct {
	kinds          map[uint64]perfevent.Kind
	layout, traced perfevent.Layout // the latter of tracepoints
}

// newParser returns a parser of the records of a Session.
func newParser(cfg *Config) parser {
	l := perfevent.Layout{Order: binary.LittleEndian, All: true, Parts: sampleParts, CodeRegister: 64}
	if cfg.StackBytes > 0 {
		l.Parts, l.Registers = l.Parts|perfevent.PartRegisters|perfevent.PartUserStack, cfg.Registers
	}
	p := parser{make(map[uint64]perfevent.Kind), l, l}
	p.traced.Parts |= perfevent.PartRaw
	return p
}

const sampleParts = perfevent.PartIdentifier | perfevent.PartThread | perfevent.PartTime | perfevent.PartProcessor | perfevent.PartStack

// next reads the first record of b and returns how many bytes it has. A record that does not
// fit into b, or does not fit its type, is an error; n then is 0 if nothing after it can be
// read.
func (p *parser) next(b []byte) (rec Record, n int, err error) {
	if len(b) < perfevent.HeaderSize {
		return rec, 0, fmt.Errorf("perf: %d bytes are left, which is no header", len(b))
	}
	kind, misc := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])
	n = int(binary.LittleEndian.Uint16(b[6:]))
	if n < perfevent.HeaderSize || n > len(b) {
		return rec, 0, fmt.Errorf("perf: a record of type %d has %d bytes, of %d that are left", kind, n, len(b))
	}
	layout, body := &p.layout, b[perfevent.HeaderSize:n]
	if id, ok := layout.Identity(kind, body); ok && kind == perfevent.TypeSample && p.kinds[id] == perfevent.Traced {
		layout = &p.traced
	}
	rec, ok := layout.Parse(kind, misc, body)
	if !ok {
		err = fmt.Errorf("perf: a record of type %d is too short, with %d bytes", kind, n)
	}
	switch {
	case rec.Kind == perfevent.Gone: // the event for switches tells it, with the stack
		rec.Kind = perfevent.Other
	case rec.Kind == perfevent.Sample && p.kinds[rec.ID] != perfevent.Other:
		rec.Kind = p.kinds[rec.ID]
	}
	return rec, n, err
}

// unroll appends the contents of a ring from tail up to head, which count bytes since its begin.
func unroll(out, ring []byte, tail, head uint64) []byte {
	size := uint64(len(ring))
	if size == 0 || head < tail || head-tail > size {
		return out
	}
	from, n := tail%size, head-tail
	first := min(n, size-from)
	out = append(out, ring[from:from+first]...)
	return append(out, ring[:n-first]...)
}

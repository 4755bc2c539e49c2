package perfdata

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
)

// isRead reports whether a feature is read.
func isRead(n int) bool {
	switch n {
	case featureTracing, featureBuildIDs, featureHost, featureRelease, featurePerf, featureArch, featureProcessors, featureCPU, featureCommand, featureEvents,
		featureTimes, featurePacked, featureClock:
		return true
	}
	return false
}

// feature takes a feature, and reports whether it is complete.
func (r *Reader) feature(n int, b []byte) bool {
	h := &r.header
	p := parts{order: r.order, b: b}
	switch n {
	case featureTracing:
		return r.tracing(b)
	case featureBuildIDs:
		for len(p.b) >= 8 && !p.bad {
			size := int(p.order.Uint16(p.b[6:]))
			if size < 8 {
				return false
			}
			record := p.take(size)
			r.buildID(record)
		}
	case featureHost:
		h.Host = p.text()
	case featureRelease:
		h.Release = p.text()
	case featurePerf:
		h.Perf = p.text()
	case featureArch:
		h.Arch = p.text()
		r.setCodeRegister()
	case featureCPU:
		h.CPU = p.text()
	case featureProcessors:
		p.u32() // those that there could be
		h.Processors = int(min(p.u32(), 1<<16))
	case featureCommand:
		h.CommandLine = nil
		for n := p.u32(); n > 0 && !p.bad && len(h.CommandLine) < maxWords; n-- {
			h.CommandLine = append(h.CommandLine, p.text())
		}
	case featureEvents:
		r.eventNames(&p)
	case featureTimes:
		r.firstSample, r.lastSample = int64(p.u64()), int64(p.u64())
	case featurePacked:
		h.Packed = true
	case featureClock:
		p.bad = p.u32() != 1 // the version
		p.u32()              // which clock
		r.wall, r.wallClock = int64(p.u64()), int64(p.u64())
		h.Dated = !p.bad
	}
	return !p.bad
}

const (
	maxWords = 1 << 12 // of a command line
	maxNames = 1 << 16 // of files with build ids
)

// buildID takes the identity of a file: a record with process, build id, and path.
func (r *Reader) buildID(b []byte) {
	const idAt, pathAt, most, hasSize = 12, 36, 20, 1 << 15
	if len(b) <= pathAt {
		return
	}
	size := most
	if r.order.Uint16(b[4:])&hasSize != 0 {
		size = min(int(b[idAt+most]), most)
	}
	path, _, _ := bytes.Cut(b[pathAt:], []byte{0})
	if len(r.buildIDs) < maxNames && !bytes.Equal(b[idAt:][:size], make([]byte, size)) {
		if r.buildIDs == nil {
			r.buildIDs = make(map[string]string)
		}
		r.buildIDs[string(path)] = hex.EncodeToString(b[idAt:][:size])
	}
}

// eventNames takes the names of events, by their numbers, and what perf asked for, which is there twice.
func (r *Reader) eventNames(p *parts) {
	count, size := p.u32(), int(p.u32())
	for i := 0; i < int(count) && !p.bad; i++ {
		b := p.take(size)
		a, ok := parseAttr(b, r.order)
		ids := p.u32()
		name := p.text()
		list := p.take(8 * int(min(ids, 1<<24)))
		if p.bad {
			return
		}
		var e *event
		if len(list) >= 8 {
			e = r.byID[r.order.Uint64(list)]
		}
		if i < len(r.events) {
			a.layout.CodeRegister = r.events[i].layout.CodeRegister // which is of the machine
			if e == nil && ok && r.events[i].attr == a {            // its first number is wrong
				e = r.events[i]
			}
		}
		for _, x := range r.events {
			if e == nil && ok && x.name == "" && x.attr.kind == a.kind && x.attr.config == a.config {
				e = x
			}
		}
		if e != nil {
			e.name = name
		}
		if e != nil && ok {
			r.compare(e, a, list)
		}
	}
}

// parts takes numbers and texts off a feature.
type parts struct {
	order binary.ByteOrder
	b     []byte
	bad   bool // it was too short
}

// take returns the next n bytes, zeros if there are fewer.
func (p *parts) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.b, p.bad = nil, true
		return make([]byte, 8)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parts) u32() uint32 { return p.order.Uint32(p.take(4)) }

func (p *parts) u64() uint64 { return p.order.Uint64(p.take(8)) }

// text takes a text with its length, behind which zeros may stand.
func (p *parts) text() string {
	text, _, _ := bytes.Cut(p.take(int(min(p.u32(), 1<<30))), []byte{0})
	if p.bad {
		return ""
	}
	return string(text)
}

// line takes a text that ends at a NUL.
func (p *parts) line() string {
	text, _, found := bytes.Cut(p.b, []byte{0})
	if !found {
		p.bad = true
		return ""
	}
	p.b = p.b[len(text)+1:]
	return string(text)
}

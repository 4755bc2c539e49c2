package perfdata

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/unzstd"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// An asked is the second copy of what perf asked for, beside the name of the event.
type asked struct {
	event *event
	attr
}

// compare notes if the second copy of an event differs, and takes the numbers that the first has not.
func (r *Reader) compare(e *event, a attr, ids []byte) {
	if r.byID == nil {
		r.byID = make(map[uint64]*event)
	}
	if e.attr != a {
		r.copies = append(r.copies, asked{e, a})
	}
	for ; len(ids) >= 8 && int64(r.ids) <= r.size/8; ids = ids[8:] {
		if id := r.order.Uint64(ids); r.byID[id] == nil {
			r.damage(e.at, "header", errors.New("an event has other numbers than its copy has"))
			r.byID[id] = e
			r.ids++
		}
	}
}

// settleCopies has, of two copies that differ, the one by which more records are as they must be, and
// if that does not tell, the one that its name fits.
func (r *Reader) settleCopies() {
	if len(r.copies) == 0 {
		return
	}
	b := make([]byte, min(r.data.size, enough))
	n, err := r.src.ReadAt(b, r.data.offset)
	if err != nil && err != io.EOF {
		return
	}
	b = r.plain(b[:n])
	for _, c := range r.copies {
		first, was := r.suits(b), c.event.attr
		c.event.attr = c.attr
		second := r.suits(b)
		if second < first || second == first && (r.isNamed(c.event.name, &was) || !r.isNamed(c.event.name, &c.attr)) {
			c.event.attr = was
		}
		r.damage(c.event.at, "header", errors.New("what perf asked for is there twice, and not the same"))
	}
	r.copies = nil
}

// enough is how many bytes tell which copy is right.
const enough = 1 << 20

// plain returns the records that b begins with, unpacked. The packed ones are all one stream, of which
// the first part is enough.
func (r *Reader) plain(b []byte) []byte {
	for rest := b; len(rest) >= perfevent.HeaderSize; {
		size, why := r.plausible(rest)
		if why != nil || size > len(rest) {
			break
		}
		p := parts{order: r.order, b: rest[perfevent.HeaderSize:size]}
		switch r.order.Uint32(rest) {
		case typePackedToo:
			p.b = p.take(int(min(p.u64(), uint64(size))))
			fallthrough
		case typePacked:
			list := slices.Clone(b[:len(b)-len(rest)])
			if u, err := unzstd.New(); err == nil {
				u.Unpack(p.b, func(b []byte) { list = append(list, b[:min(len(b), enough-min(len(list), enough))]...) })
			}
			return list
		}
		rest = rest[size:]
	}
	return b
}

// suits counts the records that b begins with and that are as their event needs them.
func (r *Reader) suits(b []byte) (n int) {
	for len(b) >= perfevent.HeaderSize {
		size, why := r.plausible(b)
		if why != nil || size > len(b) {
			break
		}
		if h, ok := r.parse(b[:size]); ok && h.Extra == 0 && r.isTimely(h.Time) {
			n++
		}
		b = b[size:]
	}
	return n
}

// software and hardware are the names of perf's own events, by their numbers.
var (
	software = strings.Fields("cpu-clock task-clock page-faults context-switches cpu-migrations minor-faults major-faults alignment-faults emulation-faults dummy bpf-output cgroup-switches")
	hardware = strings.Fields("cycles instructions cache-references cache-misses branches branch-misses bus-cycles stalled-cycles-frontend stalled-cycles-backend ref-cycles")
)

// isNamed reports whether an event of such a name asks for what a says.
func (r *Reader) isNamed(name string, a *attr) bool {
	base, _, _ := strings.Cut(name, ":")
	switch a.kind {
	case kindSoftware:
		return a.config < uint64(len(software)) && software[a.config] == base
	case kindHardware:
		n := uint64(uint32(a.config))
		return n < uint64(len(hardware)) && hardware[n] == strings.TrimPrefix(base, "cpu-")
	case kindTracepoint:
		d := r.formats[uint16(a.config)]
		return a.config < 1<<16 && d != nil && d.Provider.Name+":"+d.Name == name
	}
	return false
}

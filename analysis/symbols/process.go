package symbols

import (
	"cmp"
	"math"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A process holds the code of one process: of one life of an id.
type process struct {
	pid     int64
	began   int64 // when the life began, or always
	text    *arena
	methods methodList
	index   codeIndex

	modules   []moduleLife
	moduleIDs map[uint64]int32

	maps    mapStore
	started map[uint16]bool // runtimes that told of their start
	rundown int             // methods that a rundown at the end listed
}

// code is the common part of events of methods.
type code struct {
	id, module, start      uint64
	size, token            uint32
	flags                  clr.MethodFlags
	rejit                  uint64
	space, name, signature etw.UTF16
}

// learn takes an event that tells of a method at a time.
func (p *process) learn(at int64, origin Origin, c *code) {
	if c.size == 0 || c.start == 0 {
		return
	}
	named := method{start: c.start, id: c.id, size: c.size, token: c.token, flags: c.flags,
		rejit: uint32(min(c.rejit, math.MaxUint32)), module: p.moduleIndex(c.module), origin: origin,
		space: p.text.of(c.space), name: p.text.of(c.name), signature: p.text.of(c.signature)}
	slot := p.index.find(&p.methods, c.start, c.id)
	if slot.method != 0 {
		if m := p.methods.at(slot.method - 1); m.is(&named) && m.takes(at, origin, &named) {
			return
		}
	} else {
		p.index.used++
	}
	named.from, named.to, named.seen = always, never, at
	switch origin {
	case Loaded:
		named.from = at
	case Unloaded:
		named.to = at
	}
	slot.method = p.methods.add(named) + 1
}

// is reports whether n tells of the same code, or of code of which the one or the
// other has no name.
func (m *method) is(n *method) bool {
	if m.rejit != n.rejit {
		return false
	}
	unnamed := m.name == 0 && m.space == 0 || n.name == 0 && n.space == 0
	return unnamed || m.space == n.space && m.name == n.name && m.signature == n.signature
}

// takes adds the facts of n about the same code, if it can be of the same life.
func (m *method) takes(at int64, origin Origin, n *method) bool {
	switch {
	case m.to == never:
	case origin == AtEnd:
		// When a process ends the runtime unloads all methods, and then lists them.
	default:
		return false // it was loaded again
	}
	m.to = never
	if origin == Unloaded {
		m.to = at
	}
	m.seen = max(m.seen, at)
	if m.name == 0 && m.space == 0 {
		m.space, m.name, m.signature = n.space, n.name, n.signature
	}
	m.size = max(m.size, n.size)
	m.token = cmp.Or(m.token, n.token)
	if m.origin == ByLookup {
		m.module, m.flags, m.origin = n.module, n.flags, n.origin
	}
	return true
}

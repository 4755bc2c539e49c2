package need

import (
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A State says whether a trace has the events of a need.
type State string

const (
	Present State = "present"
	// Absent are events of which there are none: they were not recorded, or nothing happened.
	Absent State = "absent"
	// Lost are events of which there are none in a trace that lost some.
	Lost State = "lost"
	// Unknown are those of recorders of which no event tells, of traces that do not say
	// which keywords events have, and of parts of traces that have none.
	Unknown State = "unknown"
)

// A Seen knows which events a trace has.
type Seen struct {
	providers map[etw.GUID]*events
	last      *events // of the provider of the last record, or nil
	provider  etw.GUID
	ids       bool // an event has the id of an activity
}

// channels are the bits of keywords that say to which logs of Windows an event goes.
const channels = 0xffff << 48

// The events of a provider.
type events struct {
	keywords [256]uint64 // of those of each level
	sure     [256]uint64 // of these, those of events that have one keyword: it was on
	ids      [1 << 10]uint64
	any      bool
	told     bool            // what their levels or keywords are
	named    map[string]bool // whether there were some of these names
}

// Follow returns an observer for the records of a trace, which says then which of the events
// are there.
func Follow(needs []Need) *Seen {
	s := &Seen{providers: make(map[etw.GUID]*events)}
	for i := range needs {
		if needs[i].Recorder == "" {
			s.providers[needs[i].guid()] = new(events)
		}
		for _, k := range needs[i].kernel() {
			s.follow(&k)
		}
	}
	return s
}

// follow has See look for events of the kernel.
func (s *Seen) follow(k *Events) {
	guid, name := k.provider()
	e := s.providers[guid]
	if e == nil {
		e = new(events)
		s.providers[guid] = e
	}
	if name != "" {
		if e.named == nil {
			e.named = make(map[string]bool)
		}
		e.named[name] = false
	}
}

// See takes a record into account.
func (s *Seen) See(r *etw.Record) {
	s.ids = s.ids || !r.ActivityID.IsZero()
	if s.provider != r.Provider {
		s.last, s.provider = s.providers[r.Provider], r.Provider
	}
	if s.last == nil {
		return
	}
	s.last.any = true
	s.last.told = s.last.told || r.Level != 0 || r.Keywords != 0
	s.last.keywords[r.Level] |= r.Keywords
	if k := r.Keywords &^ channels; k&(k-1) == 0 {
		s.last.sure[r.Level] |= k
	}
	if e := s.last; e.named != nil && r.Schema != nil {
		if there, asked := e.named[r.Schema.Name]; asked && !there {
			e.named[r.Schema.Name] = true
		}
	}
	id := r.Key().ID
	s.last.ids[id>>6] |= 1 << (id & 63)
}

// Has says whether the events of a need were there. Losses are of the trace.
func (s *Seen) Has(n *Need, losses bool) State {
	if n.Recorder != "" {
		return s.hasKernel(n, losses)
	}
	e := s.providers[n.guid()]
	if e != nil && e.has(n) || n.IDs && s.ids {
		return Present
	}
	if e != nil && e.any && n.Events[0] == 0 && !e.told {
		return Unknown
	}
	if losses {
		return Lost
	}
	return Absent
}

// Recorded reports whether the events of a need were surely recorded: others came by the same
// keywords, at its level or one beyond. Those that have several keywords come by any of them.
func (s *Seen) Recorded(n *Need) bool {
	e := s.providers[n.guid()]
	if e == nil || n.Recorder != "" || n.Keywords == 0 {
		return false
	}
	var on uint64
	for _, keywords := range e.sure[n.Level:] {
		on |= keywords
	}
	return n.Keywords&^on == 0
}

// kernel returns those of the Kernel that are any.
func (n *Need) kernel() []Events {
	return order.Delete(slices.Clone(n.Kernel[:]), func(k Events) bool { return k.Provider == "" })
}

// hasKernel says whether the events that tools of Windows record were there.
func (s *Seen) hasKernel(n *Need, losses bool) State {
	for _, k := range n.kernel() {
		guid, name := k.provider()
		e := s.providers[guid]
		if name != "" && e != nil && e.named[name] {
			return Present
		}
		for id := int(k.First); e != nil && name == "" && id <= int(k.Last); id++ {
			if e.ids[id>>6]&(1<<(id&63)) != 0 {
				return Present
			}
		}
	}
	switch {
	case n.Kernel[0].Provider == "":
		return Unknown
	case losses:
		return Lost
	}
	return Absent
}

func (e *events) has(n *Need) bool {
	if n.Events[0] != 0 {
		return slices.ContainsFunc(n.Events[:], func(id uint16) bool { return id != 0 && e.ids[id>>6]&(1<<(id&63)) != 0 })
	}
	if n.Keywords == 0 || n.Keywords == All {
		return e.any
	}
	for level, keywords := range e.keywords {
		if keywords&n.Keywords != 0 && (etw.Level(level) <= n.Level || n.Level == 0) {
			return true
		}
	}
	return false
}

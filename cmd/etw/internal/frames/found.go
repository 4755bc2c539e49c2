package frames

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/analysis/system"
)

// groupEvents is the number of events whose stacks are unpacked at once.
const groupEvents = 1 << 14

// A foundStacks has the stacks of events, which come in about the order of these. A trace can have
// tens of millions: they take some six bytes each, until the pass that wants them has been there.
type foundStacks struct {
	files  []*fileStacks
	groups [][]byte // of each stack the event, the file and the halves, as varints
	at     int64    // the group that is unpacked
	events [groupEvents]eventStack
}

// An eventStack is the stack of an event, or of no file if it has none.
type eventStack struct {
	of    *fileStacks
	stack system.CallStack
}

// add adds the stack of the event with a number.
func (s *foundStacks) add(event int64, f *fileStacks, c system.CallStack) {
	group := event / groupEvents
	for int64(len(s.groups)) <= group {
		s.groups = append(s.groups, nil)
	}
	b := s.groups[group]
	for _, v := range [...]uint64{uint64(event % groupEvents), uint64(f.number), uint64(c.Kernel), uint64(c.User)} {
		b = binary.AppendUvarint(b, v)
	}
	s.groups[group] = b
}

// unpack takes the stacks of a group. Of two of one event the one that was found last counts.
func (s *foundStacks) unpack(group int64) {
	clear(s.events[:])
	if s.at = group; group >= int64(len(s.groups)) {
		return
	}
	for b := s.groups[group]; len(b) > 0; {
		var v [4]uint64
		for i := range v {
			n := 0
			v[i], n = binary.Uvarint(b)
			b = b[n:]
		}
		s.events[v[0]] = eventStack{s.files[v[1]], system.CallStack{Kernel: system.StackID(v[2]), User: system.StackID(v[3])}}
	}
}

// take returns the stack of an event. Events are to be asked for in their order.
func (s *foundStacks) take(event int64) eventStack {
	if group := event / groupEvents; group != s.at {
		s.unpack(group)
		if group < int64(len(s.groups)) {
			s.groups[group] = nil
		}
	}
	return s.events[event%groupEvents]
}

// A stackCount counts the events of which the kernel recorded stacks, and those of which the
// trace does not have all of it: stacks are compressed to keys, and a tool that filters a
// trace may drop the definitions of the keys.
type stackCount struct{ all, partial, missing int }

// count counts all. It is to be called before any is taken.
func (s *foundStacks) count() (n stackCount) {
	for group := range s.groups {
		s.unpack(int64(group))
		for _, e := range s.events {
			if e.of == nil {
				continue
			}
			n.all++
			kernel, user := e.lacks(e.stack.Kernel), e.lacks(e.stack.User)
			switch {
			case e.of.stacks.Len(e.stack) == 0:
				n.missing++
			case kernel || user:
				n.partial++
			}
		}
	}
	s.at = -1
	return n
}

// lacks reports whether a half was recorded and is not in the trace.
func (s eventStack) lacks(half system.StackID) bool {
	return half != 0 && !s.of.stacks.Has(half)
}

package requests

import (
	"bytes"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/runtime/etw"
)

// take returns the activity that is on under an id, or is a span, and is over now; or nil.
// A span that ends is no other one, though that has its activity; neither is an activity of another task
// than the stop.
func (s *state) take(id etw.GUID, span string, stopped *activities.Activity, of taskKey) *activity {
	c := s.open[id]
	if c != nil && span == "" && c.task.taskKey != of && s.tasks[of] != nil {
		if c = s.lastWithin(c, of); c != nil {
			s.forget(c)
		}
		return c
	}
	for x := c; x != nil; x = x.twin { // of several on under one id
		if x.Flow == stopped {
			c = x
			break
		}
	}
	if span != "" {
		if x := s.spans[span]; x != nil {
			c = x
		} else if c != nil && c.SpanID != "" && c.SpanID != span {
			return nil
		}
	}
	if c != nil {
		s.forget(c)
	}
	return c
}

// lastWithin returns the activity of a task that began last of those that are on within another one, or nil.
// If one begins within itself, the runtime takes that before for over, and its stop has the id of the one
// around all of them.
func (s *state) lastWithin(c *activity, of taskKey) (last *activity) {
	if c.children == 0 || s.looked > mostLooked {
		return nil
	}
	s.looked += len(s.open)
	for _, x := range s.open {
		if x.task.taskKey != of || last != nil && (x.begin < last.begin || x.begin == last.begin && bytes.Compare(x.id[:], last.id[:]) < 0) {
			continue
		}
		up := x.parent
		for ; up != nil && up != c; up = up.parent {
			continue
		}
		if up == c {
			last = x
		}
	}
	if last != nil {
		last.Flow = nil // which ended when the next one began
	}
	return last
}

// mostLooked bounds how many activities are looked at, all together: stops without a start of their own are rare.
const mostLooked = 1 << 24

// forget removes an activity from those that are on.
func (s *state) forget(c *activity) {
	switch at := s.open[c.id]; {
	case at == c && c.twin != nil:
		s.open[c.id] = c.twin
	case at == c:
		delete(s.open, c.id)
	default:
		for ; at != nil; at = at.twin {
			if at.twin == c {
				at.twin = c.twin
				break
			}
		}
	}
	if s.spans[c.SpanID] == c {
		delete(s.spans, c.SpanID)
	}
}

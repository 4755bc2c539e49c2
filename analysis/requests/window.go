package requests

import (
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A part is the part of the time that is asked for. Events in it count, and of activities that have
// a part in it that.
type part struct {
	window *window.Window
	in     int  // 1 if the record that is taken is in the window, else 0
	early  bool // it is before that
}

// place notes where the record is that is taken.
func (p *part) place(r *etw.Record) {
	p.in, p.early = 1, false
	if !p.window.HasRecord(r) {
		p.in, p.early = 0, p.window.NotAfter(when.Of(r))
	}
}

// within returns how much of a time is in the window.
func (p *part) within(rt *process, from, to int64) int64 {
	w := rt.Within(p.window)
	from, to = w.Clip(from, to)
	return to - from
}

// level notes how many activities of a task are on at once: so many as are so when the window
// begins, or later in it.
func (p *part) level(t *task) {
	switch {
	case p.in == 1:
		t.most = max(t.most, t.live)
	case p.early:
		t.most = t.live
	}
}

// leave takes an activity out of those that are on.
func (a *Analysis) leave(rt *process, c *activity) {
	c.over, c.end = true, rt.Now
	c.task.live--
	if a.early {
		a.level(c.task)
	}
	if c.children > 0 {
		c.covered += a.within(rt, c.since, rt.Now)
	}
	if p := c.parent; p != nil && !p.over {
		p.children--
		if p.children == 0 {
			p.covered += a.within(rt, p.since, rt.Now)
		}
	}
	c.parent = nil
}

// on returns how many activities of each task had not ended until now, and have a part in a window.
func (s *state) on(w window.Window, now int64) map[*task]int {
	n := make(map[*task]int)
	for _, c := range s.open {
		for ; c != nil; c = c.twin {
			if w.Meets(c.begin, now) {
				n[c.task]++
			}
		}
	}
	return n
}

// any reports whether activities have a part in the window: of those that are on, so many.
func (s *state) any(on map[*task]int) bool {
	for _, t := range s.tasks {
		if len(t.durations) > 0 {
			return true
		}
	}
	return len(on) > 0
}

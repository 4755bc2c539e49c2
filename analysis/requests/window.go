package requests

import (
	"bytes"
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/internal/order"
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
	if c.live {
		c.task.live--
	}
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

// on returns the activities of each task that had not ended at the end, have a part in a window, and
// count; the longest first; and how many more may have ended, as events were lost since.
func on(rt *process, w window.Window) (of map[*task][]*activity, lost int) {
	s, now := &rt.State, rt.End()
	of = make(map[*task][]*activity)
	for _, c := range s.open {
		for ; c != nil; c = c.twin {
			switch {
			case !c.chosen || !w.Meets(c.begin, now):
			case rt.Lost(rt.PID, -1, c.begin):
				lost++
			default:
				of[c.task] = append(of[c.task], c)
			}
		}
	}
	for _, list := range of {
		order.Sort(list, func(a, b *activity) int {
			return cmp.Or(cmp.Compare(a.begin, b.begin), bytes.Compare(a.id[:], b.id[:]))
		})
	}
	return of, lost
}

// unended has a result have the activities that are on.
func (t *task) unended(rt *process, w window.Window, out *Task, on []*activity) {
	out.Open = len(on)
	at := make(map[string]int)
	for i := range out.Endpoints {
		at[out.Endpoints[i].Endpoint] = i
	}
	for i, c := range on {
		act := c.Activity
		from, to := w.Clip(c.begin, rt.End())
		act.StartMS, act.DurationMS, act.Open = rt.At(c.begin), rt.MS(to-from), true
		if act.ID == "" {
			act.ID = actid.Text(c.id, rt.PID)
		}
		if c.parent != nil {
			act.Parent = c.parent.task.name
		}
		act.ExclusiveMS = act.DurationMS - rt.MS(c.covered)
		if i < t.slowest.N {
			out.Unended = append(out.Unended, act)
		}
		name := c.place()
		if name == "" {
			continue
		}
		n, ok := at[name]
		if !ok && len(out.Endpoints) >= maxEndpoints {
			continue
		}
		if !ok {
			n = len(out.Endpoints)
			at[name] = n
			out.Endpoints = append(out.Endpoints, Endpoint{Endpoint: name})
		}
		e := &out.Endpoints[n]
		e.Open++
		e.OpenMS = measure.Known(max(e.OpenMS.Or(0), act.DurationMS))
	}
}

// any reports whether activities have a part in the window: of those that are on, so many.
func (s *state) any(on map[*task][]*activity) bool {
	for _, t := range s.tasks {
		if len(t.durations) > 0 {
			return true
		}
	}
	return len(on) > 0
}

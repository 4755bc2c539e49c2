package threads

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/internal/order"
)

// A Switch is the end of a time in which a thread did not run: it comes to a processor. Only
// threads of which that time is known from its begin on, or from when they could run, have one.
// Waits after which they have not come are the last ones.
type Switch struct {
	*off
	atMS   measure.Float
	window *window.Window
	dark   []span
	origin int64 // of the session
}

// part returns how much of a time is in the window.
func (s *Switch) part(from, to int64) float64 {
	from, to = s.window.Clip(from, to)
	return ms(to - from)
}

// sinceMS is when the thread went, if that was before the window, or it has not come.
func (s *Switch) sinceMS() measure.Float {
	if s.processor >= 0 && s.window.Has(s.from) {
		return measure.Float{}
	}
	return measure.Known(ms(s.from - s.origin))
}

// by returns the number of the thread that made this one ready, or -1.
func (s *Switch) by() int64 {
	if t := s.readier.Thread(); t != nil {
		return t.TID
	}
	return -1
}

func (s *Switch) byName() string {
	switch t := s.readier.Thread(); {
	case s.open:
		return NotOver
	case s.readier.interrupt:
		return byInterrupt
	case t != nil:
		return t.Name
	}
	return ""
}

// isDark reports whether the thread may have run in a part of a time.
func (s *Switch) isDark(from, to int64) bool { return lit(s.dark, from, to) < to-from }

// waitedMS is not known where no event tells since when, or events are missing.
func (s *Switch) waitedMS() measure.Float {
	if s.unseen || s.isDark(s.from, s.readied) {
		return measure.Float{}
	}
	return measure.Known(s.part(s.from, s.readied))
}

// readyMS is not known where no event tells when a wait ended: the wait has that time, too.
func (s *Switch) readyMS() measure.Float {
	if s.waited && !s.byOther || s.isDark(s.readied, s.till) {
		return measure.Float{}
	}
	return measure.Known(s.part(s.readied, s.till))
}

func (s *Switch) ranMS() measure.Float {
	if s.ran < 0 || !s.window.Meets(s.till, s.till+s.ran) {
		return measure.Float{}
	}
	return measure.Known(s.part(s.till, s.till+s.ran))
}

// Switches returns those of the threads that has reports, in the order of time: of a
// [window.Window] all that have a part in it, which counts. They are not a part of the [Result]:
// there may be millions.
func (a *Analysis) Switches(has func(*system.Thread) bool) []Switch {
	a.settle()
	list, dark := make([]Switch, 0, len(a.off)), a.darkness()
	for i := range a.off {
		o := &a.off[i]
		if a.window.Meets(o.from, o.till+max(o.ran, 0)) && has(o.thread.Thread) {
			list = append(list, Switch{o, measure.Known(ms(o.till - a.origin)), a.window, dark, a.origin})
		}
	}
	n := len(list)
	for _, x := range a.order {
		if o, is := a.last(x); is && a.window.Meets(o.from, o.till) && has(x.Thread) {
			list = append(list, Switch{&o, measure.Float{}, a.window, dark, a.origin})
		}
	}
	order.Sort(list[n:], func(a, b Switch) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.thread.TID, b.thread.TID))
	})
	return list
}

// SwitchView is the table of switches.
func SwitchView(list []Switch) table.View {
	return table.Of("switch", "Context switches", table.Refs(list),
		table.Moment("atMs", func(s *Switch) measure.Float { return s.atMS }).Natural().Helped("when the thread came to a processor"),
		table.ID("processor", func(s *Switch) int32 { return s.processor }).Natural(),
		table.ID("pid", func(s *Switch) int64 { return pidOf(s.thread.Thread) }),
		table.NameOf("process", table.Process, func(s *Switch) int64 { return pidOf(s.thread.Thread) }, func(s *Switch) string { return s.thread.Process.Called() }),
		table.ID("tid", func(s *Switch) int64 { return s.thread.TID }),
		table.NameOf("name", table.Thread, func(s *Switch) int64 { return s.thread.TID }, func(s *Switch) string { return s.thread.Name }).IfAny(),
		table.Moment("sinceMs", (*Switch).sinceMS).IfAny().Helped("when it went, if that was before --from or it has not come back"),
		table.Amount("waitedMs", (*Switch).waitedMS),
		table.Text("why", func(s *Switch) string {
			switch {
			case s.begins:
				return created
			case s.unseen:
				return ""
			case !s.waited:
				return "preempted"
			}
			return s.why
		}),
		table.Amount("readyMs", (*Switch).readyMS),
		table.ID("byTid", (*Switch).by).Natural().Helped("the thread that made it ready"),
		table.Text("by", (*Switch).byName).IfAny(),
		table.Amount("ranMs", (*Switch).ranMS).Helped("from then on"))
}

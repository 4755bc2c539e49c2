package threads

import (
	"iter"

	"github.com/etwgen/etwgen/analysis/system"
)

// A Span is a time in which a thread did one thing. Times are nanoseconds since 1970.
type Span struct {
	PID, TID int64
	Name     string // of the thread
	State    string // running, ready, waiting, or waiting or ready
	Reason   string // of the kernel, for a wait
	By       string // who ended a wait, if the trace tells
	From, To int64
}

// Spans iterates over the known spans of threads.
func (a *Analysis) Spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		a.settle()
		dark := a.darkness()
		each := func(o *off) bool {
			for _, s := range o.spans() {
				if s.State != "running" && lit(dark, s.From, s.To) < s.To-s.From {
					continue
				}
				if s.To > s.From && !yield(s) {
					return false
				}
			}
			return true
		}
		for i := range a.off {
			if !each(&a.off[i]) {
				return
			}
		}
		for _, x := range a.order {
			if o, is := a.last(x); is {
				if !each(&o) {
					return
				}
				continue
			}
			s := Span{PID: pidOf(x.Thread), TID: x.TID, Name: x.Name, State: "running", From: x.ranFrom, To: x.ranTo}
			switch {
			case x.TID == 0:
				continue
			case x.does == running:
				s.From, s.To = x.since, a.runsUntil(x)
			}
			if s.To > s.From && !yield(s) {
				return
			}
		}
	}
}

// Running iterates over the threads that run now, as far as that is known, and since when.
func (a *Analysis) Running() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		a.settle()
		for _, x := range a.order {
			if x.TID == 0 || !x.seen || x.does != running || x.over {
				continue
			}
			s := Span{PID: pidOf(x.Thread), TID: x.TID, Name: x.Name, State: "running"}
			s.From, s.To = a.window.Clip(x.since, a.runsUntil(x))
			if s.To > s.From && !yield(s) {
				return
			}
		}
	}
}

// A State is what a thread does at the end: it runs since a time, or waits since then and, if To is
// before the end, could run from To on. Times are nanoseconds since 1970.
type State struct {
	Thread   *system.Thread
	Runs     bool
	From, To int64
	End      int64
}

// Last returns the states of threads that last to the end, as far as they are known.
func (a *Analysis) Last() (list []State) {
	a.settle()
	for _, x := range a.order {
		s := State{Thread: x.Thread, Runs: x.does == running, From: x.since, To: a.now, End: a.now}
		switch {
		case x.TID == 0 || !x.seen || x.over || x.does != waiting && x.does != running:
			continue
		case s.Runs:
			s.To = a.runsUntil(x)
			s.End = s.To
		case x.byOther:
			s.To = x.readied
		}
		list = append(list, s)
	}
	return list
}

// spans returns a time off processors, with that on one before it.
func (o *off) spans() []Span {
	base := Span{PID: pidOf(o.thread.Thread), TID: o.thread.TID, Name: o.thread.Name}
	ran, waited, wasReady := base, base, base
	ran.State, ran.From, ran.To = "running", o.ranFrom, o.from
	if o.ranFrom == 0 {
		ran.From = o.from
	}
	waited.State, waited.From, waited.To = "waiting", o.from, o.readied
	if o.blurred {
		waited.State = "waiting or ready"
	} else if o.waited {
		waited.Reason = o.why
	}
	switch {
	case o.open:
		waited.By = NotOver
	case o.byOther:
		waited.By = o.readier.name()
	}
	wasReady.State, wasReady.From, wasReady.To = "ready", o.readied, o.till
	return []Span{ran, waited, wasReady}
}

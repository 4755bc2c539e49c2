package spans

import (
	"math"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Waits follows the waits of the threads of a runtime. W is the contents of a begin.
type Waits[W any] struct {
	Table[Wait[W]]
	Samples   *stacks.Samples // to be set before a wait begins or is added
	Window    *window.Window  // the same, and before one ends
	Series    measure.Series  // of milliseconds, by the end of the wait
	Orphans   int             // ends without a begin, but those before the window, where a part lacks begins
	Seen      bool            // there was any event
	durations []float64
	ended     map[int64]bool // threads that had a wait before
}

// A Wait is one that began.
type Wait[W any] struct {
	Of   W
	At   int64     // ticks
	Time time.Time // as samples have it
	// Untold says that nothing tells when it began.
	Untold bool
	stack  stacks.ID
}

// Begin begins a wait.
func (w *Waits[W]) Begin(t *lives.Time, r *etw.Record, of W) {
	w.Seen = true
	w.Gap(r)
	w.Push(r.ThreadID, Wait[W]{Of: of, At: t.Now, Time: time.Unix(0, when.Of(r)), stack: w.Samples.Intern(r.ProcessID, r.Stack)})
}

// End returns the wait that ends, or if nothing told that it began, one from the begin of the
// trace on, or from an unknown time on if events of the thread came before.
func (w *Waits[W]) End(t *lives.Time, r *etw.Record) (b Wait[W], ok bool) {
	w.Seen = true
	lost := w.Gap(r)
	b, ok = w.Pop(r.ThreadID)
	if !ok {
		if w.Window.Meets(math.MinInt64, when.Of(r)) {
			w.Orphans++
		}
		b = Wait[W]{At: t.First, Time: time.Unix(0, when.Of(r)), Untold: lost || w.ended[r.ThreadID]}
	}
	if w.ended == nil {
		w.ended = make(map[int64]bool)
	}
	w.ended[r.ThreadID] = true
	return b, ok
}

// Part returns of a wait that takes so long the part in the window, and reports whether it has any.
func (w *Waits[W]) Part(b *Wait[W], ms float64) (float64, bool) {
	if !w.Window.Chosen() {
		return ms, true
	}
	from := b.Time.UnixNano()
	to := from + int64(math.Round(ms*1e6))
	first, last := w.Window.Clip(from, to)
	return float64(last-first) / 1e6, w.Window.Meets(from, to)
}

// Add counts a wait that is over.
func (w *Waits[W]) Add(t *lives.Time, r *etw.Record, b *Wait[W], labels stacks.LabelSet, ms float64) {
	w.durations = append(w.durations, ms)
	w.Samples.AddStack(b.Time, r.ProcessID, r.ThreadID, b.stack, labels, 1, int64(math.Round(ms*1e6)))
	w.Series.Add(t.At(t.Now), ms)
}

// Durations sums up the waits that are over.
func (w *Waits[W]) Durations() measure.Summary { return measure.Summarize(slices.Clone(w.durations)) }

// Unfinished returns how many waits of a process are not over, and how long they have lasted, and how many
// more may be over, as events of their threads were lost since. It calls do for each that is not.
func (w *Waits[W]) Unfinished(pid int64, t *lives.Time, do func(thread int64, b *Wait[W], ms float64)) (n, lost int, ms float64) {
	for _, o := range w.Open() {
		part, meets := w.Part(&o.Value, t.MS(t.End()-o.Value.At))
		switch {
		case !meets:
		case t.Lost(pid, o.Thread, o.Value.At):
			lost++
		default:
			n++
			ms += part
			do(o.Thread, &o.Value, part)
		}
	}
	return n, lost, ms
}

// Unended returns samples of the waits that are not over, where they began.
func (w *Waits[W]) Unended(pid int64, t *lives.Time) *stacks.Samples {
	if w.Samples == nil {
		return nil
	}
	s := w.Samples.Derive()
	for _, o := range w.Open() {
		if !t.Lost(pid, o.Thread, o.Value.At) {
			s.AddStack(o.Value.Time, pid, o.Thread, o.Value.stack, 0, 1, 0)
		}
	}
	return s
}

// Samples returns those of the runtimes that have any.
func Samples[T any](t *lives.Table[T], of func(*T) *stacks.Samples) []*stacks.Samples {
	var list []*stacks.Samples
	for _, rt := range t.All() {
		if s := of(&rt.State); s != nil {
			list = append(list, s)
		}
	}
	return list
}

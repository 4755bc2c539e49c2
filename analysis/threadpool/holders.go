package threadpool

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/spots"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A worker that samples find again and again in one place is held there: it waits, which names
// of code tell, or runs a narrow loop. Of each thread the places are kept in which it stood for
// long, since only the end of a trace tells when the pool starved.

// A hold is a time in which a thread stood in one place.
type hold struct {
	thread   int64
	from, to int64
	began    time.Time
	stack    stacks.ID
	locked   bool // for a lock, by events
}

// idleMS is for how long no work was begun when the pool adds a worker for that.
const idleMS = 500

// leastHold is how long a thread stands in a place that is kept, and maxHolds how many are.
const (
	leastHold = 10 * time.Millisecond
	maxHolds  = 1 << 17
)

// NameBy has results say which code held the workers while the pool starved: of gives call
// stacks their names, once all is read.
func (a *Analysis) NameBy(of func(*stacks.Samples) *stacks.Profile) { a.named = of }

// handleHolds follows where threads stand.
func (a *Analysis) handleHolds(mux *etw.Mux) {
	cpu.OnSample(mux, func(r *etw.Record, outside bool) {
		if a.named == nil || r.Stack.Len() == 0 {
			return
		}
		rt := a.runtimes.At(r, 0)
		s := &rt.State
		if s.places == nil {
			s.places = stacks.NewSamples("holds", stacks.ValueType{Name: "holds", Unit: "count"}, stacks.ValueType{Name: "number", Unit: "count"})
			s.places.SetReading(cpu.Reading)
			s.places.SetOutside(s.places.Label(0, "state", "external"))
			s.standing, s.locking = make(map[int64]hold), make(map[int64]bool)
		}
		h, stack := s.standing[r.ThreadID], stacks.ID(0)
		s.sampled.Add(!outside)
		if outside {
			stack = s.places.Intern(r.ProcessID, r.Stack)
		}
		if h.stack != stack {
			s.keep(rt, h)
			h = hold{thread: r.ThreadID, from: rt.Now, stack: stack, began: time.Unix(0, when.Of(r)), locked: s.locking[r.ThreadID]}
		}
		h.to = rt.Now
		s.standing[r.ThreadID] = h
	})
	lock := func(r *etw.Record, on bool) {
		if s := &a.runtimes.At(r, 0).State; s.places != nil {
			s.locking[r.ThreadID] = on
		}
	}
	etw.Handle(mux, func(r *etw.Record, _ *clr.AnyContentionStart) error { lock(r, true); return nil })
	etw.Handle(mux, func(r *etw.Record, _ *clr.AnyContentionStop) error { lock(r, false); return nil })
}

// keep keeps where a thread stood.
func (s *state) keep(rt *runtime, h hold) {
	switch {
	case h.stack == 0 || h.to-h.from < rt.Ticks(leastHold):
	case len(s.holds) == maxHolds: // an hour of a hundred threads in their places
	default:
		s.holds = append(s.holds, h)
	}
}

// holders adds to a starvation, between two times, which code held workers meanwhile.
func (s *state) holders(rt *runtime, named func(*stacks.Samples) *stacks.Profile, out *Starvation) {
	first, last := out.FirstMS.Or(0), out.LastMS.Or(0)
	if named == nil || s.places == nil || last == 0 {
		return
	}
	if s.queue == nil {
		first -= idleMS
	}
	list := s.holds
	for _, thread := range slices.Sorted(maps.Keys(s.standing)) {
		if h := s.standing[thread]; h.stack != 0 {
			list = append(slices.Clip(list), h)
		}
	}
	all := s.places.Derive()
	outside := all.Label(0, "state", "external")
	all.SetOutside(outside)
	for i, h := range list {
		if rt.At(h.to) > first && rt.At(h.from) < last {
			all.AddStack(h.began, rt.PID, h.thread, h.stack, outside, 1, int64(i))
		}
	}
	p := named(all)
	kind, of, sum := kinds.Default().OfFrames(), make(map[string]float64), 0.0
	for x := range p.Samples() {
		h := &list[x.Values[1]]
		at := spots.Of(p, x.Stack, kind)
		isWorker := slices.ContainsFunc(slices.Collect(p.Stack(x.Stack)), func(i int) bool { return strings.Contains(p.Frames[i].Full, dispatch) })
		what := at.What
		switch {
		case !isWorker:
			continue
		case h.locked:
			what = "a lock"
		case at.Waits:
		case at.In != "" && s.sampled.Within*mostOutside >= s.sampled.All: // as Thread.Sleep of .NET Core 3.1, which has no frame
			what = strings.TrimSuffix(native+": "+what, ": ")
		default:
			continue
		}
		ms := min(rt.At(h.to), last) - max(rt.At(h.from), first)
		of[at.Name(what)] += ms
		sum += ms
	}
	out.BlockedMS = measure.Known(sum)
	for name, ms := range of {
		out.Holders = append(out.Holders, Holder{name, ms, 100 * ms / sum})
	}
	order.Sort(out.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.BlockedMS, a.BlockedMS), cmp.Compare(a.Name, b.Name))
	})
	out.Holders = out.Holders[:min(len(out.Holders), maxHolders)]
}

// native is of a worker that no name of a method says to wait: it stood outside of managed code for
// as long as a hold lasts, where a method of the program had called it to. Of a runtime that calls more
// than 99 of 100 samples outside, as .NET 9 does, none is told.
const (
	native      = "native code"
	mostOutside = 100
)

// dispatch is the method of all versions in which workers do their work: above it nothing is
// the pool's own, and below it they are idle.
const dispatch = "System.Threading.ThreadPoolWorkQueue.Dispatch("

// maxHolders is how many holders a result has.
const maxHolders = 20

// Held says which code held the workers, the longest first, or why that is not known.
func (s *Starvation) Held() string {
	ms, ok := s.BlockedMS.Get()
	switch {
	case !ok:
		return "code that is not told: the trace has no samples of threads (Microsoft-DotNETCore-SampleProfiler)"
	case len(s.Holders) == 0:
		return "code that is not told: no worker waits by the names in its call stacks, or stays in native code"
	}
	var list []string
	for _, h := range s.Holders[:min(len(s.Holders), 3)] {
		list = append(list, measure.Percent(h.Percent)+" in "+h.Name)
	}
	text := strings.Join(list, ", ") + ", of " + measure.Span(ms) + " in which workers were blocked"
	if slices.ContainsFunc(s.Holders, func(h Holder) bool { return strings.HasPrefix(h.Name, native) }) {
		text += ", or in " + native + ", where nothing tells whether they are"
	}
	return text
}

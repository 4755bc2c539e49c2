package gc

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A view makes results of the state of one runtime, which it does not change.
type view struct {
	*runtime
	types  func(id uint64) string
	marked map[uint32]int64 // by heap, when it was last done with marking

	gcs       []*collection // that have a part in the window
	allocated allocated
	goesOn    bool // a collection that began before, when others are handed over
	names     map[clr.GCGlobalMechanisms]string
	// Room for the parts of all collections, which are made at once.
	sizeRoom  []GenerationSizes
	markRoom  []Mark
	timesRoom []Times
	boolRoom  []bool
}

func (a *Analysis) view(rt *runtime) *view {
	return &view{runtime: rt, types: func(id uint64) string { return a.types.Name(rt.Key, id) },
		allocated: rt.State.before, marked: map[uint32]int64{}, names: map[clr.GCGlobalMechanisms]string{}}
}

// take returns n elements of room, which gets new ones if it has not as many: one by one
// they would cost more than to fill them.
func take[T any](room *[]T, n int) []T {
	if len(*room) < n {
		*room = make([]T, max(n, atOnce))
	}
	part := (*room)[:n:n]
	*room = (*room)[n:]
	return part
}

// atOnce is how many elements a room gets at least.
const atOnce = 16

// mechanisms returns the names of the bits of m.
func (rt *view) mechanisms(m clr.GCGlobalMechanisms) string {
	name, ok := rt.names[m]
	if !ok {
		name = m.String()
		rt.names[m] = name
	}
	return name
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if !rt.State.seen {
			continue
		}
		rt.State.window = rt.Within(a.window)
		if out := a.view(rt).result(); !a.window.Chosen() || out.Count > 0 || out.TickedMB > 0 || len(out.Suspensions.ByReason) > 0 || out.Finalizers != nil {
			res.Runtimes = append(res.Runtimes, out)
		}
	}
	return res
}

// origin is the begin of the session, or of the runtime's events if that is
// earlier.
func (rt *view) origin() int64 { return min(rt.Origin(), rt.First) }

func (rt *view) ticksTotal() uint64 {
	t := &rt.State.ticks
	return measure.Plus(measure.Plus(t[0], t[1]), t[2])
}

func (rt *view) result() *Runtime {
	s := &rt.State
	out := &Runtime{
		PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life,
		FirstMS: rt.At(rt.First), LastMS: rt.At(rt.Now), SpanMS: rt.MS(cmp.Or(rt.State.over, rt.Span())),
		Settings: s.settings, ServerGC: s.server, GCs: make([]*GC, 0, len(s.gcs)),
		TickedMB: mb(rt.ticksTotal()).Or(0),
	}
	gcs, prev := rt.meeting()
	all := make([]GC, len(gcs))
	marks, sizes := 0, 0
	for _, c := range gcs {
		marks += len(c.marks)
		if c.statsSeen || len(c.heaps) > 0 {
			sizes += generations
		}
	}
	rt.markRoom, rt.sizeRoom = make([]Mark, marks), make([]GenerationSizes, sizes)
	for i, c := range gcs {
		g := &all[i]
		rt.columns(g, c, prev)
		prev = c
		if !rt.meets(c) {
			continue
		}
		out.GCs, rt.gcs = append(out.GCs, g), append(rt.gcs, c)
		switch {
		case g.Partial:
			out.Partial++
		case g.Unfinished:
			out.Unfinished++
		}
	}
	out.Count = len(out.GCs)
	rt.peaks(out.GCs)
	out.numbers(gcs)
	rt.suspensions(out)
	rt.heaps(out)
	rt.rollups(out)
	rt.total(out)
	out.GCCPUMSPerMB = measure.Ratio(out.GCCPUMS, out.AllocatedMB)
	rt.objects(out)
	rt.waits(out)
	return out
}

// meeting returns the collections from the first that has a part in the window to the last, and the
// one before them. What was allocated before the first is not of the window alone: then it is not told.
func (rt *view) meeting() (list []*collection, before *collection) {
	list = rt.State.gcs
	first := slices.IndexFunc(list, rt.meets)
	if first < 0 {
		return nil, nil
	}
	last := len(list)
	for !rt.meets(list[last-1]) {
		last--
	}
	if first > 0 {
		before, rt.allocated = list[first-1], allocated{}
	}
	return list[first:last], before
}

// meets reports whether a collection, or a pause for it, has a part in the window.
func (rt *view) meets(c *collection) bool {
	return rt.State.window.Meets(c.lasts(rt.Now))
}

// lasts returns from when to when a collection and its pauses last, which do so until now if
// they are not over.
func (c *collection) lasts(now int64) (from, to int64) {
	if c.ended {
		now = max(c.end, c.goneOn)
	}
	return c.pauseStart, now
}

// peaks raises the peak of each background collection to the largest heap before
// any collection that began while it ran.
func (rt *view) peaks(gcs []*GC) {
	for i, c := range rt.gcs {
		if c.kind != Background || !c.ended || !c.statsSeen {
			continue
		}
		g := gcs[i]
		for k := i + 1; k < len(gcs) && rt.gcs[k].pauseStart < c.end; k++ {
			g.PeakMB = measure.Known(max(g.PeakMB.Or(0), gcs[k].BeforeMB.Or(0)))
		}
		g.PeakAfterRatio = measure.Ratio(g.PeakMB, g.AfterMB)
	}
}

// numbers counts the numbers between those of the collections that are listed, and below them.
func (out *Runtime) numbers(gcs []*collection) {
	last := uint32(0)
	for _, c := range gcs {
		if c.number == 0 {
			continue
		}
		if last == 0 {
			out.NumbersBefore = int(c.number - 1)
		} else if c.number > last+1 {
			out.MissingNumbers += int(c.number - last - 1)
		}
		last = max(last, c.number)
	}
}

// suspensions sums up the stops of the threads.
func (rt *view) suspensions(out *Runtime) {
	s := &rt.State
	var pause, restart int64
	for i := range s.byReason {
		t := &s.byReason[i]
		if t.count == 0 {
			continue
		}
		reason := clr.GCSuspendEEReason(i)
		row := SuspensionReason{Reason: reason.String(), GC: suspend.ForGC(reason), Count: t.count,
			TotalMS: rt.MS(t.ticks), MaxMS: rt.MS(t.max), SuspendMS: rt.MS(t.suspend), RestartMS: rt.MS(t.restart)}
		if row.GC {
			pause += t.ticks
			restart += t.restart
		}
		if i == reasons-1 {
			row.Reason = "Unknown"
		}
		out.Suspensions.ByReason = append(out.Suspensions.ByReason, row)
	}
	out.PauseMS, out.RestartMS = rt.MS(pause), rt.MS(restart)
	out.PausePercent = measure.Ratio(measure.Known(100*out.PauseMS), measure.Known(out.SpanMS))
	if s.hasPause {
		out.PausePercentOfActive = measure.Ratio(measure.Known(100*out.PauseMS), measure.Known(rt.MS(s.pauseEnd-s.firstPause)))
	}
	out.Suspensions.WithoutGC, out.Suspensions.WithoutGCMS = s.withoutGC.count, rt.MS(s.withoutGC.ticks)
	out.Suspensions.LostBegins, out.Suspensions.LostEnds = s.lostBegins, s.lostEnds
	var open int64
	for i := range s.open {
		if begin := s.open[i].begin; s.window.Meets(begin, rt.Now) {
			out.Suspensions.Open++
			open += s.within(begin, rt.Now)
		}
	}
	out.Suspensions.OpenMS = rt.MS(open)
}

// heaps tells how many there are, and whether that is server GC.
func (rt *view) heaps(out *Runtime) {
	for _, g := range out.GCs {
		if g.Heaps > 0 {
			out.Heaps = g.Heaps
			out.MaxHeaps = max(out.MaxHeaps, g.Heaps)
			if out.MinHeaps == 0 || g.Heaps < out.MinHeaps {
				out.MinHeaps = g.Heaps
			}
		}
		for i := range g.Dynamic {
			if t, ok := g.Dynamic[i].tuning(); ok {
				out.Tuning = append(out.Tuning, t)
			}
		}
	}
	order.Stable(out.Tuning, func(a, b Tuning) int { return cmp.Compare(a.AtMS, b.AtMS) })
	if out.MaxHeaps > 1 {
		server := true
		out.ServerGC = &server
	}
}

// objects lists the types of finalized objects.
func (rt *view) objects(out *Runtime) {
	s := &rt.State
	if f := s.finalizers; f.runs > 0 {
		out.Finalizers = &Finalizers{Runs: f.runs, Count: f.count, MS: rt.MS(f.ticks), MaxMS: rt.MS(f.max)}
	}
	for id, n := range s.finalized {
		if len(s.finalizedBy) == 0 { // else the same objects are there, with names
			out.FinalizedTypes = append(out.FinalizedTypes, TypeCount{rt.types(id), n})
		}
	}
	for name, n := range s.finalizedBy {
		out.FinalizedTypes = append(out.FinalizedTypes, TypeCount{etw.UTF16(name).String(), n})
	}
	order.Sort(out.FinalizedTypes, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
}

// waits lists the long waits for memory.
func (rt *view) waits(out *Runtime) {
	for i := range rt.State.waits {
		w := &rt.State.waits[i]
		end := w.end
		if !w.over {
			end = rt.Now
		}
		if ms := rt.MS(rt.State.within(w.begin, end)); ms > shortWait {
			out.AllocWaits = append(out.AllocWaits, AllocationWait{w.thread, rt.At(w.begin), ms, w.reason.String(), !w.over})
		}
	}
}

// Package alloc reports the allocations of a .NET program: bytes by type, by kind of heap
// and by call stack, and over time. Use it when a program allocates, and so collects, more
// than it should.
//
// # Events to enable
//
// Microsoft-Windows-DotNETRuntime with the keyword GC (0x1) at level 5 writes a
// GCAllocationTick for each 100 KB that are handed out. AllocationSampling
// (0x80000000000) at level 4 writes unbiased samples, from .NET 10 on, and silences the
// ticks: as long as any session of the process asks for samples, no session gets ticks.
// GCSampledObjectAllocationHigh (0x200000) or Low (0x2000000) at the start of the
// process count every object, at a price; they need the keyword Type (0x80000) for
// names.
//
// # Meaning of the numbers
//
// The weight of a tick is AllocationAmount64, never the size of its object. Shares of types
// are good estimates if a type has many ticks: the relative error of n ticks is about 1/√n.
// The sum over all types can be far above the bytes really allocated, since a runtime counts
// the rest of an allocation context again when it extends one in place; the table of
// collections has the true total.
package alloc

import (
	"cmp"
	"math"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/names"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/ticks"
	"github.com/etwgen/etwgen/analysis/internal/types"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the allocations in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	types    *types.Analysis
	event    func(pid int64, by By, atMS, bytes float64)
}

// A By is a kind of events that allocations are estimated by.
type By string

// Estimates are the kinds of events, those first that a [Result] prefers.
var Estimates = []By{byTicks, bySamples, byCounts}

const (
	byTicks   By = "ticks"
	bySamples By = "samples"
	byCounts  By = "exact"
)

// OnEvent has do called for each event of allocations, with the bytes that it stands for:
// Bytes of [Ticks], [Samples] and [Exact] are their sums.
func (a *Analysis) OnEvent(do func(pid int64, by By, atMS, bytes float64)) { a.event = do }

// tell tells who asked for it of an event.
func (a *Analysis) tell(rt *lives.Runtime[state], by By, bytes float64) {
	if a.event != nil {
		a.event(rt.PID, by, rt.At(rt.Now), bytes)
	}
}

type state struct {
	ticks   weights
	kinds   [3]Kind
	tickSum uint64
	clamp   bool // amounts of this runtime are not to be trusted
	old     bool // it is before .NET 5
	samples weights
	exact   map[uint64]*row
	counted uint64 // bytes of exact
	cut     int    // events that say more than sums can take
	damaged int    // events of which the amounts cannot be
	objects *stacks.Samples
	events  int
}

// weights are estimates by type.
type weights struct {
	count          int
	bytes, objects float64
	types          names.Table[row]
	byID           map[uint64]*row // of types without names
	stacks         *stacks.Samples
	series         measure.Series
}

type row struct {
	n              int
	bytes, objects float64
	variance       float64 // of bytes
	noObjects      bool
	label          stacks.LabelSet // of the type, once it has a stack
}

// Needs are ticks, which every runtime has. NeedsSampled are samples without bias, from
// .NET 10 on, which the runtime takes for the session. NeedsExact are all objects, which
// runtimes tell of from their start alone.
var (
	Needs        = []need.Need{{What: "allocations", Provider: need.CLR, Keywords: 0x1, Names: "GC", Level: etw.LevelVerbose, Events: [2]uint16{10}}}
	NeedsSampled = []need.Need{{What: "samples of allocations", Provider: need.CLR, Keywords: 0x80000000000, Names: "AllocationSampling", Level: etw.LevelInformational, Events: [2]uint16{303}}}
	NeedsExact   = []need.Need{{What: "all objects that are allocated", Provider: need.CLR, Keywords: 0x200000, Names: "GCSampledObjectAllocationHigh", Level: etw.LevelInformational, Events: [2]uint16{20, 32}}}
)

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{types: types.Of(mux)}
	a.runtimes.Watch(mux)
	lives.On(&a.runtimes, mux, a.tick)
	lives.On(&a.runtimes, mux, a.sampled)
	lives.On(&a.runtimes, mux, func(rt *lives.Runtime[state], r *etw.Record, e *clr.GCSampledObjectAllocationHigh) {
		a.count(rt, r, uint64(e.TypeID), e.ObjectCountForTypeSample, e.TotalSizeForTypeSample)
	})
	lives.On(&a.runtimes, mux, func(rt *lives.Runtime[state], r *etw.Record, e *clr.GCSampledObjectAllocationLow) {
		a.count(rt, r, uint64(e.TypeID), e.ObjectCountForTypeSample, e.TotalSizeForTypeSample)
	})
	return a
}

// The bounds of ticks of a runtime that writes amounts that cannot be.
const (
	leastTick     = 90 << 10
	mostSmallTick = 110 << 10
	mostLargeTick = 2 << 20
)

func (a *Analysis) tick(rt *lives.Runtime[state], r *etw.Record, e *clr.AnyGCAllocationTick) {
	s := &rt.State
	bytes := uint64(e.AllocationAmount)
	if e.HasAllocationAmount64() {
		bytes = e.AllocationAmount64
	}
	if ticks.Impossible(e) {
		s.damaged++
		return
	}
	negative := int64(bytes) < 0 || !e.HasAllocationAmount64() && int32(bytes) < 0
	bytes = fit(s, s.tickSum, s.bounded(bytes, negative, e.AllocationKind))
	kind := &s.kinds[min(int(e.AllocationKind), len(s.kinds)-1)]
	kind.Count++
	kind.Bytes += bytes
	s.tickSum += bytes
	s.old = s.old || !e.HasObjectSize()
	objects := -1.0
	if e.HasObjectSize() && e.ObjectSize > 0 {
		objects = float64(bytes) / float64(e.ObjectSize)
	}
	s.ticks.add(e.TypeName, uint64(e.TypeID), r, rt.At(rt.Now), float64(bytes), objects, 0)
	a.tell(rt, byTicks, float64(bytes))
}

// bounded returns the amount of a tick. Old runtimes wrote negative ones; from then
// on none is taken as it is.
func (s *state) bounded(bytes uint64, negative bool, kind clr.GCAllocationKind) uint64 {
	s.clamp = s.clamp || negative
	if !s.clamp {
		return bytes
	}
	most := uint64(mostSmallTick)
	if kind == clr.GCAllocationKindLarge {
		most = mostLargeTick
	}
	return min(max(bytes, leastTick), most)
}

// mostBytes is more than any program allocates, and sums that end there fit every number that
// they become part of.
const mostBytes = 1 << 62

// fit returns the part of an amount that a sum still takes.
func fit[T uint64 | float64](s *state, sum, bytes T) T {
	if bytes > mostBytes-sum {
		s.cut++
		return mostBytes - sum
	}
	return bytes
}

// q is the probability that a byte is not drawn.
const q = 1 - 1.0/102400

func (a *Analysis) sampled(rt *lives.Runtime[state], r *etw.Record, e *clr.AllocationSampled) {
	size := float64(e.ObjectSize)
	miss := math.Pow(q, size) // that no byte of the object is drawn
	objects := 1 / (1 - miss)
	if size == 0 {
		objects = 0
	}
	s := &rt.State
	if e.ObjectSize > ticks.MostObject || e.SampledByteOffset > e.ObjectSize || e.AllocationKind > clr.GCAllocationKindPinned {
		s.damaged++
		return
	}
	bytes := fit(s, s.samples.bytes, size*objects)
	s.samples.add(e.TypeName, uint64(e.TypeID), r, rt.At(rt.Now), bytes, objects, size*size*miss*objects*objects)
	a.tell(rt, bySamples, bytes)
}

// add adds the amount that one event stands for. Negative objects are unknown.
func (w *weights) add(name etw.UTF16, id uint64, r *etw.Record, ms, bytes, objects, variance float64) {
	t, label := w.row(name, id)
	t.n++
	t.bytes += bytes
	t.variance += variance
	if objects < 0 {
		t.noObjects = true
	} else {
		t.objects += objects
		w.objects += objects
	}
	w.count++
	w.bytes += bytes
	w.series.Add(ms, bytes)
	if r.Stack.Len() > 0 {
		if w.stacks == nil {
			w.stacks = newSamples("samples")
		}
		if t.label == 0 {
			t.label = w.stacks.Label(0, "type", label)
		}
		w.stacks.Add(r, t.label, 1, int64(math.Round(bytes)))
	}
}

// row returns the sums of a type, by its id where it has no name.
func (w *weights) row(name etw.UTF16, id uint64) (*row, string) {
	if name.Len() > 0 || id == 0 {
		e := w.types.At(name)
		return &e.Value, e.Name
	}
	if w.byID == nil {
		w.byID = make(map[uint64]*row)
	}
	t := w.byID[id]
	if t == nil {
		t = new(row)
		w.byID[id] = t
	}
	return t, ""
}

// count adds the objects of a type that an event counts.
func (a *Analysis) count(rt *lives.Runtime[state], r *etw.Record, id uint64, count uint32, bytes uint64) {
	s := &rt.State
	if bytes > ticks.MostObject {
		s.damaged++
		return
	}
	bytes = fit(s, s.counted, bytes)
	s.counted += bytes
	s.addExact(r, id, count, bytes)
	a.tell(rt, byCounts, float64(bytes))
}

func (s *state) addExact(r *etw.Record, id uint64, count uint32, bytes uint64) {
	if s.exact == nil {
		s.exact = make(map[uint64]*row)
	}
	t := s.exact[id]
	if t == nil {
		t = new(row)
		s.exact[id] = t
	}
	t.n++
	t.objects += float64(count)
	t.bytes += float64(bytes)
	s.events++
	if r.Stack.Len() > 0 {
		if s.objects == nil {
			s.objects = newSamples("alloc_objects")
		}
		s.objects.Add(r, 0, int64(count), int64(bytes))
	}
}

func newSamples(count string) *stacks.Samples {
	return stacks.NewSamples("allocations", stacks.ValueType{Name: count, Unit: "count"}, stacks.ValueType{Name: "alloc_space", Unit: "bytes"})
}

// Samples returns the allocations with their stacks: ticks, or where a runtime wrote none,
// those it drew or counted.
func (a *Analysis) Samples() []*stacks.Samples {
	return spans.Samples(&a.runtimes, func(s *state) *stacks.Samples { return cmp.Or(s.ticks.stacks, s.samples.stacks, s.objects) })
}

package gc

import (
	"cmp"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/ticks"
	"github.com/etwgen/etwgen/analysis/internal/types"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the collections in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	types    *types.Analysis
	window   *window.Window
	paused   func(Pause)
}

// OnPause has do called for each time that threads were suspended for collections, when it
// is over: PauseMS of a [Runtime] is their sum.
func (a *Analysis) OnPause(do func(Pause)) { a.paused = do }

// A Pause is a time in which threads were suspended for collections.
type Pause struct {
	PID           int64
	ClrInstanceID uint16 // which runtime of the process
	Begin         time.Time
	Duration      time.Duration
	// StartMS and MS are the same in milliseconds, since the session began.
	StartMS, MS float64
}

// Needs are collections and their pauses.
var Needs = []need.Need{{What: "garbage collections", Provider: need.CLR, Keywords: 0x1, Names: "GC", Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{types: types.Of(mux), window: window.Of(mux)}
	a.runtimes.Watch(mux)
	a.handleSamples(mux)
	a.handleSuspensions(mux)
	a.handleCollections(mux)
	a.handleHistories(mux)
	a.handleMarks(mux)
	a.handlePrivateMarks(mux)
	a.handleObjects(mux)
	a.handleWaits(mux)
	a.handleSettings(mux)
	return a
}

func (a *Analysis) handleSuspensions(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCSuspendEEBegin) {
		rt.State.window = rt.Within(a.window)
		rt.State.suspendBegin(r, rt.Now, e.Reason)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCSuspendEEEnd) {
		rt.State.suspendReady(r, rt.Now)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCRestartEEBegin) {
		rt.State.restartBegin(r, rt.Now)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCRestartEEEnd) {
		rt.State.window = rt.Within(a.window)
		begin, ok := rt.State.restartEnd(r, rt.Now)
		if ok && a.paused != nil {
			a.paused(Pause{PID: rt.PID, ClrInstanceID: rt.CLR, Begin: rt.When(begin), Duration: rt.When(rt.Now).Sub(rt.When(begin)),
				StartMS: rt.At(begin), MS: rt.MS(rt.Now - begin)})
		}
	})
}

func (a *Analysis) handleCollections(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.GCTriggered) { rt.State.trigger = r.ThreadID })
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCStart) { rt.State.start(r.ThreadID, rt.Now, e) })
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCEnd) { rt.State.stop(r.ThreadID, rt.Now, e) })
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCHeapStats) {
		rt.State.window = rt.Within(a.window)
		rt.State.heapStats(r.ThreadID, rt.Now, e)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCAllocationTick) {
		if !a.window.HasRecord(r) || ticks.Impossible(e) {
			return
		}
		bytes := uint64(e.AllocationAmount)
		if e.HasAllocationAmount64() {
			bytes = e.AllocationAmount64
		}
		rt.State.tick(e.AllocationKind, bytes)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.GCDynamicEvent) {
		d, committed := dynamic(e)
		d.AtMS = rt.At(rt.Now)
		rt.State.dynamicEvent(r.ThreadID, d, committed)
	})
}

// tick counts allocated bytes. It also marks the runtime as one of which there is
// something to say.
func (s *state) tick(kind clr.GCAllocationKind, bytes uint64) {
	s.seen = true
	if int(kind) < len(s.ticks) {
		s.ticks[kind] = measure.Plus(s.ticks[kind], bytes)
		s.ticksSince[kind] = measure.Plus(s.ticksSince[kind], bytes)
	}
}

func (a *Analysis) handleHistories(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyGCGlobalHeapHistory) {
		rt.State.globalHistory(r.ThreadID, globalOf(e))
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *private.AnyGCGlobalHeapHistory) {
		rt.State.globalHistory(r.ThreadID, global{heaps: int(e.NumHeaps), condemned: e.CondemnedGeneration,
			reason: clr.GCReason(e.Reason), mechanisms: clr.GCGlobalMechanisms(e.GlobalMechanisms)})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.GCPerHeapHistoryV3) {
		var h Heap
		historyV3(&h, e)
		rt.State.heapHistory(r.ThreadID, &h)
	})
	hear.On(mux, func(r *etw.Record, _ *private.AnyGCPerHeapHistory) {
		layout := 2
		if r.Version < 2 {
			layout = 0
		}
		if h, instance, ok := historyPrivate(r.Payload, r.PointerSize, layout); ok {
			rt := a.runtimes.At(r, instance)
			rt.State.heapHistory(r.ThreadID, &h)
		}
	})
}

func globalOf(e *clr.AnyGCGlobalHeapHistory) global {
	g := global{heaps: int(e.NumHeaps), condemned: e.CondemnedGeneration, reason: e.Reason, mechanisms: e.GlobalMechanisms,
		hasMode: true, mode: e.PauseMode, load: e.MemoryPressure,
		hasReasons: e.HasCondemnReasons0(), reasons0: e.CondemnReasons0, reasons1: uint32(e.CondemnReasons1)}
	if e.HasValues() {
		g.timesN = min(e.Values.Len(), len(g.times))
		for i := range g.timesN {
			g.times[i] = e.Values.At(i).Time
		}
	}
	return g
}

func (a *Analysis) handleMarks(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.GCMarkWithType) {
		if rt.State.current != nil {
			rt.State.cpu.worker(&rt.State.cpu.collectors, r.ThreadID)
		}
		rt.State.mark(mark{e.HeapNum, e.Type, rt.Now, e.Bytes, true})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.GCMarkStackRoots) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootStack, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.GCMarkFinalizeQueueRoots) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootFinalizeQueue, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.GCMarkHandles) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootHandles, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.GCMarkOlderGenerationRoots) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootOlder, at: rt.Now})
	})
}

func (a *Analysis) handlePrivateMarks(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.AnyPrvGCMarkStackRoots) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootStack, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.AnyPrvGCMarkFinalizeQueueRoots) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootFinalizeQueue, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.AnyPrvGCMarkHandles) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootHandles, at: rt.Now})
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.AnyPrvGCMarkCards) {
		rt.State.mark(mark{heap: e.HeapNum, root: rootOlder, at: rt.Now})
	})
}

func (a *Analysis) handleSettings(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *rundown.GCSettingsRundown) {
		rt.State.settings = &Settings{
			HardLimitBytes: e.HardLimit, LOHThresholdBytes: e.LOHThreshold, PhysicalMemoryBytes: e.PhysicalMemoryConfig,
			Gen0MinBudgetBytes: e.Gen0MinBudgetConfig, Gen0MaxBudgetBytes: e.Gen0MaxBudgetConfig,
			HighMemoryPercent: e.HighMemPercentConfig, BitSettings: uint32(e.BitSettings),
		}
		rt.State.settings.decode()
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, _ *rundown.AnyDCEndInit) {
		rt.State.over = cmp.Or(rt.State.over, rt.Span())
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.RuntimeInformationStart) {
		rt.State.before.begun()
		rt.State.setServer(uint32(e.StartupFlags), e.Sku == clr.RuntimeSkuCoreCLR && e.VMMajorVersion < 5)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *rundown.RuntimeInformationDCStart) {
		rt.State.setServer(uint32(e.StartupFlags), e.Sku == rundown.RuntimeSkuCoreCLR && e.VMMajorVersion < 5)
	})
}

// setServer takes over whether the runtime has server GC from its startup flags. Those of
// .NET Core before 5 leave out settings by the environment.
func (s *state) setServer(flags uint32, core bool) {
	if server := flags&uint32(clr.StartupFlagsServerGC) != 0; server || !core {
		s.server = &server
	}
}

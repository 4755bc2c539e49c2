package gc

import (
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/runtime/etw"
)

// finalizers sums up the runs of the finalizer thread. Times are ticks.
type finalizers struct {
	runs       int
	count      uint64
	ticks, max int64
	begin      int64
	running    bool
}

// handleObjects takes the events of single objects: pinned ones and finalized ones.
func (a *Analysis) handleObjects(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.PinObjectAtGCTime) {
		if c := rt.State.inProgress(); c != nil {
			c.pins = append(c.pins, pin{uint64(e.ObjectID), e.ObjectSize})
		}
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.PinPlugAtGCTime) {
		if c := rt.State.inProgress(); c != nil {
			c.plugs = append(c.plugs, plug{uint64(e.PlugStart), uint64(e.PlugEnd)})
		}
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, _ *clr.AnyGCFinalizersBegin) {
		rt.State.finalizers.begin, rt.State.finalizers.running = rt.Now, true
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyGCFinalizersEnd) {
		rt.State.window = rt.Within(a.window)
		rt.State.finalizersEnd(rt.Now, e.Count)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.FinalizeObject) {
		if a.window.HasRecord(r) {
			rt.State.finalize(uint64(e.TypeID))
		}
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *private.PrvFinalizeObject) {
		if a.window.HasRecord(r) {
			rt.State.finalizeNamed(e.TypeName)
		}
	})
}

// finalizersEnd ends a run. Of one that began before the trace only the count is known.
func (s *state) finalizersEnd(now int64, count uint32) {
	f, from := &s.finalizers, now
	if f.running {
		from, f.running = f.begin, false
	}
	if !s.window.Meets(from, now) {
		return
	}
	took := s.within(from, now)
	f.runs, f.count, f.ticks, f.max = f.runs+1, f.count+uint64(count), f.ticks+took, max(f.max, took)
}

func (s *state) finalize(id uint64) {
	if s.finalized == nil {
		s.finalized = make(map[uint64]uint64)
	}
	s.seen = true
	s.finalized[id]++
}

// finalizeNamed counts by the bytes of the name: that makes no string but for the
// first object of a type.
func (s *state) finalizeNamed(name etw.UTF16) {
	if s.finalizedBy == nil {
		s.finalizedBy = make(map[string]uint64)
	}
	s.seen = true
	s.finalizedBy[string(name)]++
}

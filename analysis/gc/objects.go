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
		rt.State.finalizers.end(rt.Now, e.Count)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.FinalizeObject) { rt.State.finalize(uint64(e.TypeID)) })
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *private.PrvFinalizeObject) { rt.State.finalizeNamed(e.TypeName) })
}

// end ends a run. Of one that began before the trace only the count is known.
func (f *finalizers) end(now int64, count uint32) {
	f.runs++
	f.count += uint64(count)
	if f.running {
		f.ticks += now - f.begin
		f.max = max(f.max, now-f.begin)
		f.running = false
	}
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

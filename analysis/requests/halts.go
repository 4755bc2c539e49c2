package requests

import (
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// halts follows how long programs were stopped for other reasons than collections, as the sampler of a
// recording does: a kernel sees threads wait then.
type halts struct {
	begun map[[2]int64]halt // by process and thread
	sums  map[int64]int64   // nanoseconds, by process
}

type halt struct {
	at   int64
	lost uint32 // events of the thread before
}

func newHalts(mux *etw.Mux) *halts {
	h := &halts{make(map[[2]int64]halt), make(map[int64]int64)}
	hear.On(mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) {
		if !suspend.ForGC(e.Reason) {
			h.begun[[2]int64{r.ProcessID, r.ThreadID}] = halt{when.Of(r), r.Lost}
		}
	})
	hear.On(mux, func(r *etw.Record, _ *clr.AnyGCRestartEEEnd) {
		k := [2]int64{r.ProcessID, r.ThreadID}
		if was, ok := h.begun[k]; ok && was.lost == r.Lost {
			h.sums[r.ProcessID] += max(when.Of(r)-was.at, 0)
		}
		delete(h.begun, k)
	})
	return h
}

// tellsNative reports whether the runtime of a process tells native code, by the samples of threads at work: of
// those that wait few are in managed code.
func (a *Analysis) tellsNative(pid int64) bool {
	all, outside := a.flow.Sampled(pid)
	return (&cpu.Flags{Inside: all - outside, All: all}).Tell()
}

// manyHalts is of what part of the time stops are told: a twentieth.
const manyHalts = 20

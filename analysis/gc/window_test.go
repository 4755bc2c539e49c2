package gc

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// collecting returns the result of a random program that collects, of a part of the time, and the
// pauses of all of it.
func collecting(t *testing.T, seed uint64, from, to time.Duration) (*Result, []Pause) {
	random := rand.New(rand.NewPCG(seed, 3))
	var mux etw.Mux
	a := New(&mux)
	var pauses []Pause
	a.OnPause(func(p Pause) { pauses = append(pauses, p) })
	s := testtrace.NewScript(t, &mux)
	s.Between(from, to)
	now := time.Duration(0)
	add := func(thread int64, e etw.Event) {
		now += time.Duration(random.Int64N(5e6))
		if random.IntN(40) != 0 { // else it was lost
			s.Event(now, thread, e)
		}
	}
	for n := range uint32(30) {
		reason := []clr.GCSuspendEEReason{clr.GCSuspendEEReasonSuspendForGC, clr.GCSuspendEEReasonSuspendOther, clr.GCSuspendEEReasonSuspendForGCPrep}[random.IntN(3)]
		add(7, &clr.GCAllocationTickV4{AllocationAmount64: 1e5, AllocationKind: clr.GCAllocationKind(random.IntN(2))})
		add(1, &clr.GCSuspendEEBeginV1{Reason: reason, Count: n})
		add(1, &clr.GCSuspendEEEndV1{})
		if reason == clr.GCSuspendEEReasonSuspendForGC {
			add(1, &clr.GCStartV2{Count: n + 1, Depth: n % 3})
			add(1, &clr.GCEndV1{Count: n + 1, Depth: n % 3})
			add(1, &clr.GCHeapStatsV2{GenerationSize0: 5})
		}
		add(1, &clr.GCRestartEEBeginV1{})
		add(1, &clr.GCRestartEEEndV1{})
		add(2, &clr.GCFinalizersBeginV1{})
		add(2, &clr.GCFinalizersEndV1{Count: 3})
	}
	return a.Result(), pauses
}

// TestWindow: of adjacent parts of the time the pauses, by reason and of collections, add up to those
// of all of it, and of each part they are what of the single pauses lies within.
func TestWindow(t *testing.T) {
	for seed := range uint64(20) {
		figures := func(res *Result) map[string]float64 {
			sums := make(map[string]float64)
			for _, rt := range res.Runtimes {
				sums["pauses"], sums["restarts"], sums["ticked"] = rt.PauseMS, rt.RestartMS, rt.TickedMB
				for _, x := range rt.Suspensions.ByReason {
					sums[x.Reason] = x.TotalMS
				}
				for _, g := range rt.GCs {
					sums[fmt.Sprint("collection ", g.Number)] = g.PauseMS.Or(0)
				}
				if rt.Finalizers != nil {
					sums["finalizers"] = rt.Finalizers.MS
				}
			}
			return sums
		}
		all, pauses := collecting(t, seed, 0, 0)
		whole, sums := figures(all), make(map[string]float64)
		if whole["pauses"] == 0 || whole["SuspendOther"] == 0 {
			t.Fatal("no thread stands still")
		}
		cuts := []time.Duration{0, time.Duration(1e6 + seed*13e6), time.Duration(7e6 + seed*13e6), 400e6, 0}
		for i, from := range cuts[:len(cuts)-1] {
			to := cuts[i+1]
			res, _ := collecting(t, seed, from, to)
			part, within := figures(res), 0.0
			for name, v := range part {
				sums[name] += v
			}
			if to == 0 {
				to = time.Hour
			}
			for _, p := range pauses {
				within += max(0, min(p.StartMS+p.MS, float64(to)/1e6)-max(p.StartMS, float64(from)/1e6))
			}
			if !testtrace.Near(part["pauses"], within, 1e-3) {
				t.Errorf("seed %d: from %v to %v pauses are %v ms, not %v", seed, from, to, part["pauses"], within)
			}
		}
		for name, want := range whole {
			if !testtrace.Near(sums[name], want, 1e-3) {
				t.Errorf("seed %d: %s: the parts add up to %v, not to %v", seed, name, sums[name], want)
			}
		}
	}
}

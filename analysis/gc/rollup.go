package gc

import "github.com/etwgen/etwgen/analysis/measure"

// rollups sums up the complete collections.
func (rt *view) rollups(out *Runtime) {
	out.All = rollup(out.GCs, -1)
	for gen := range Generation(3) {
		out.ByGeneration = append(out.ByGeneration, rollup(out.GCs, gen))
	}
	if c := &rt.State.cpu; c.sampled {
		out.CPUMS, out.GCCPUMS = cpuMS(c.all), cpuMS(c.ofGC)
	}
	if n := len(out.GCs); n > 0 {
		s := rt.gcs
		out.FirstToLastMS = measure.Known(rt.MS(s[n-1].pauseStart - s[0].pauseStart))
	}
}

// rollup sums up the complete collections of a generation, or of all if that is
// unknown.
func rollup(gcs []*GC, gen Generation) Rollup {
	r := Rollup{Generation: gen}
	pauses, suspends := make([]float64, 0, len(gcs)), make([]float64, 0, len(gcs))
	var after float64
	for i, g := range gcs {
		if !g.Complete() || gen >= 0 && g.Generation != gen {
			continue
		}
		r.count(g)
		if ms, ok := g.PauseMS.Get(); ok {
			pauses = append(pauses, ms)
		}
		if ms, ok := g.SuspendMS.Get(); ok {
			suspends = append(suspends, ms)
		}
		r.MaxPeakMB = greater(r.MaxPeakMB, g.PeakMB)
		r.MaxAllocationRateMBPerSec = greater(r.MaxAllocationRateMBPerSec, g.AllocationRateMBPerSec)
		if mb, ok := g.AllocatedMB.Get(); ok {
			r.AllocatedMB = measure.Known(r.AllocatedMB.Or(0) + mb)
		}
		if i > 0 && !g.AllocatedByTicks {
			r.AllocatedByHistoriesMB += g.AllocatedMB.Or(0)
		}
		r.PromotedMB += g.PromotedMB.Or(0)
		after += g.AfterMB.Or(0)
	}
	r.PauseMS, r.SuspendMS = measure.Summarize(pauses), measure.Summarize(suspends)
	r.MeanAfterMB = measure.Ratio(measure.Known(after), measure.Known(float64(r.Count)))
	total := measure.Known(r.PauseMS.Total)
	r.PromotedMBPerMS = measure.Ratio(measure.Known(r.PromotedMB), total)
	r.AllocatedMBPerPauseMS = measure.Ratio(r.AllocatedMB, total)
	return r
}

// count counts one collection.
func (r *Rollup) count(g *GC) {
	r.Count++
	switch g.Kind {
	case Background:
		r.Background++
	case Foreground:
		r.Foreground++
	default:
		r.Blocking++
	}
	if g.Induced {
		r.Induced++
	}
}

// greater returns the greater of two numbers, or the one that is known.
func greater(a, b measure.Float) measure.Float {
	if a.IsZero() || b.Or(a.Or(0)) > a.Or(0) {
		return b
	}
	return a
}

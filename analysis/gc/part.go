package gc

import (
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
)

// Part says that the analysis saw a part of the session alone, from one time since its begin to
// another: shares of time are of that. Events that name things come from outside of it, too, and so
// do not tell where it begins and ends.
func (r *Result) Part(from, to time.Duration) {
	for _, rt := range r.Runtimes {
		rt.FirstMS = max(rt.FirstMS, ms(from))
		rt.LastMS = max(min(rt.LastMS, ms(to)), rt.FirstMS)
		rt.last(ms(to) - rt.FirstMS)
	}
}

// Recorded says for how long one process recorded itself: shares of time are of that, though a program
// that seldom collects has events in a short part of it alone.
func (r *Result) Recorded(took time.Duration) {
	for _, rt := range r.Runtimes {
		rt.last(ms(took))
	}
}

func (rt *Runtime) last(ms float64) {
	rt.SpanMS = max(ms, 0)
	rt.PausePercent = measure.Ratio(measure.Known(100*rt.PauseMS), measure.Known(rt.SpanMS))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

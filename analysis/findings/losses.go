package findings

import "github.com/etwgen/etwgen/analysis"

// losses says how much of the trace was lost when it was recorded.
func losses(r *analysis.Result) []Finding {
	f := new(finder)
	if r.Lost > 0 {
		p := 100 * float64(r.Lost) / (float64(r.Lost) + float64(r.Records))
		f.add("trace.lost", atLeast(p, muchLost, Problem, Look), "At least %s lost when the trace was recorded, %s of all: counts and sums are lower bounds.",
			things("lost", r.Lost, "event was", "events were"), share("lostPercent", p))
	}
	return f.list
}

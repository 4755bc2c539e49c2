package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/exceptions"
)

// manyExceptions is how many a second are worth a look.
const manyExceptions = 20

// addExceptions adds what is known of exceptions.
func addExceptions(v *view, s *subject, texts *texts) {
	r := s.exceptions
	if r == nil || r.Count == 0 && len(r.Handlers) == 0 {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "exceptions", Title: "Exceptions"}
	lead := count(r.Count, "exception was", "exceptions were") + " thrown"
	if r.Rethrown > 0 {
		lead += fmt.Sprintf(", %s of them again", grouped(float64(r.Rethrown), 0))
	}
	sec.Lead = append(sec.Lead, lead+".")
	if h := r.HandlingMS; h.Count > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("From a throw to the end of its handling it took %s at the median, %s at most, %s in all.", span(h.P50.Or(0)), span(h.Max.Or(0)), span(h.Total)))
	}
	sec.Charts = append(sec.Charts, overTime("thrown", "Exceptions", "", "Thrown", "exception", r.Series, countOnly))
	sec.showEach((&exceptions.Result{Count: r.Count, Types: r.Types, Runtimes: []*exceptions.Runtime{r}}).Tables(), texts)
	v.exceptionFinding(r)
	v.Sections = append(v.Sections, sec)
}

func (v *view) exceptionFinding(r *exceptions.Runtime) {
	if len(r.Types) == 0 {
		return
	}
	top := r.Types[0]
	v.Tiles = append(v.Tiles, tile{"Exceptions", grouped(float64(r.Count), 0), clean(top.Type), "exceptions"})
	var peak float64
	for i, n := range r.Series.Counts {
		// Of a short time, the rate says little.
		if sec := max(r.Series.WidthMS, 1000) / 1000; float64(n)/sec > peak {
			peak = float64(r.Series.Counts[i]) / sec
		}
	}
	level := note
	if peak >= manyExceptions {
		level = look
	}
	v.Findings = append(v.Findings, finding{level, fmt.Sprintf("%s thrown; most often %s, %s.", count(r.Count, "exception was", "exceptions were"), clean(top.Type), times(top.Count)), "exceptions"})
}

// times says how often.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return grouped(float64(n), 0) + " times"
}

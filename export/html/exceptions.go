package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/findings"
)

// addExceptions adds the exceptions.
func addExceptions(v *view, s *subject, texts *texts) {
	r := s.exceptions
	if r == nil || r.Count == 0 && len(r.Handlers) == 0 {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "exceptions", Title: "Exceptions"}
	sec.Lead = append(sec.Lead, "Exceptions thrown: "+r.Tally.Text()+".")
	if h := r.HandlingMS; h.Count > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("From a throw to the end of its handling it took %s at the median, %s at most, %s in all.", span(h.P50.Or(0)), span(h.Max.Or(0)), span(h.Total)))
	}
	sec.Charts = append(sec.Charts, overTime("thrown", "Exceptions", "", "Thrown", "bad", r.Series, countOnly))
	sec.showEach((&exceptions.Result{Tally: r.Tally, Types: r.Types, Runtimes: []*exceptions.Runtime{r}}).Tables(), texts)
	v.add(findings.Exceptions(r))
	if len(r.Types) > 0 {
		v.Tiles = append(v.Tiles, tile{"Exceptions", grouped(float64(r.Throws()), 0), clean(r.Types[0].Type), "exceptions"})
	}
	v.Sections = append(v.Sections, sec)
}

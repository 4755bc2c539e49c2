package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/findings"
)

// addAlloc adds the allocations.
func addAlloc(v *view, s *subject, texts *texts) {
	r := s.alloc
	if r == nil || r.Ticks == nil && r.Samples == nil && r.Exact == nil {
		return
	}
	v.add(findings.Alloc(r))
	sec := &section{ID: "alloc", Title: "Allocations"}
	perSec := func(_, sum, sec float64) float64 { return sum / 1e6 / sec }
	if t := r.Ticks; t != nil {
		v.weight += t.Count
		lead := fmt.Sprintf("%s stand for %s; each names the object that passed a line of some 100 kB.", count(t.Count, "allocation tick", "allocation ticks"), size(float64(t.Bytes)))
		for _, k := range t.Kinds {
			lead += fmt.Sprintf(" %s objects: %s.", k.Kind, size(float64(k.Bytes)))
		}
		if t.Clamped {
			lead += " Some amounts of this old runtime were wrong, and have been bounded."
		}
		sec.Lead = append(sec.Lead, lead)
		sec.Charts = append(sec.Charts, overTime("ticks", "Allocated, by ticks", "MB/s", "Allocated", "gc", t.Series, perSec))
	}
	if a := r.Samples; a != nil {
		v.weight += a.Count
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s, drawn at random, stand for %s in %s objects.", count(a.Count, "sample", "samples"), size(a.Bytes), precise(a.Objects)))
		sec.Charts = append(sec.Charts, overTime("samples", "Allocated, by samples", "MB/s", "Allocated", "gc", a.Series, perSec))
	}
	if e := r.Exact; e != nil {
		v.weight += e.Events
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s of sampled objects, whose sums by type are exact: %s in %s objects.", count(e.Events, "event", "events"), size(float64(e.Bytes)), grouped(float64(e.Objects), 0)))
	}
	for _, t := range (&alloc.Result{Runtimes: []*alloc.Runtime{r}}).Tables() {
		if t.Name != "type" { // the types of all processes
			sec.show(t, texts)
		}
	}
	v.Sections = append(v.Sections, sec)
}

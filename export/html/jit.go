package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/measure"
)

// addJIT adds the compilations.
func addJIT(v *view, s *subject, texts *texts) {
	r := s.jit
	if r == nil || r.Count == 0 && len(r.Methods) == 0 && r.Precompiled == nil && r.Inlining == nil && r.Tiering == nil {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "jit", Title: "Compilation", Lead: jitLead(r)}
	if r.Count > 0 {
		v.Tiles = append(v.Tiles, tile{"Methods compiled", grouped(float64(r.Count), 0), span(r.ExclusiveMS) + " by the clock", "jit"})
		v.add(findings.JIT(r))
		sec.Charts = append(sec.Charts, overTime("compiling", "Time spent compiling", "ms", "Compiling", "jit", r.Series, sumOnly))
	}
	sec.showEach((&jit.Result{Methods: r.Methods, Runtimes: []*jit.Runtime{r}}).Tables(), texts)
	v.Sections = append(v.Sections, sec)
}

// jitLead sums up the compilations.
func jitLead(r *jit.Runtime) []string {
	var lead []string
	if r.Count > 0 {
		lead = append(lead, fmt.Sprintf("%s in %s. %s of IL became %s of code.",
			count(r.Count, "method was compiled", "methods were compiled"), span(r.ExclusiveMS), size(float64(r.ILBytes)), size(float64(r.NativeBytes))))
	}
	if r.Nested > 0 {
		lead = append(lead, fmt.Sprintf("Compiling one can need another, as it did %s: with what was compiled meanwhile, the times add up to %s.", measure.Times(r.Nested), span(r.InclusiveMS)))
	}
	if r.SuspendedMS > 0 {
		lead = append(lead, "All threads stood still for "+span(r.SuspendedMS)+" of that.")
	}
	if r.Open > 0 || r.LostStops > 0 {
		lead = append(lead, fmt.Sprintf("Of %s the end is not in the trace.", count(r.Open+r.LostStops, "more", "more")))
	}
	if p := r.Precompiled; p != nil {
		if p.Lookups != nil {
			lead = append(lead, fmt.Sprintf("Precompiled code was found for %s, and missing for %d.", count(p.Found, "method", "methods"), p.Missing))
		}
		if n := int(p.Rejected.Or(0)); n > 0 {
			lead = append(lead, fmt.Sprintf("The precompiled code of %s could not be used.", count(n, "method", "methods")))
		}
	}
	if t := r.Tiering; t != nil {
		lead = append(lead, fmt.Sprintf("Tiering compiled %s in the background, in %s; %d were waiting at the end.", count(t.Methods, "method", "methods"), span(t.BusyMS), t.PendingAtEnd))
	}
	if i := r.Inlining; i != nil {
		lead = append(lead, fmt.Sprintf("%s inlined, %s not.", count(i.Succeeded, "call was", "calls were"), grouped(float64(i.Failed), 0)))
	}
	return lead
}

package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/measure"
)

// addJIT adds what is known of compiling.
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
	for _, g := range []struct {
		id, title string
		groups    []jit.Group
	}{{"triggers", "By trigger", r.Triggers}, {"tiers", "By tier", r.Tiers}, {"modules", "By module", r.Modules}} {
		if len(g.groups) > 0 {
			sec.Tables = append(sec.Tables, groupTable(g.id, g.title, g.groups, texts))
		}
	}
	if len(r.Methods) > 0 {
		sec.Tables = append(sec.Tables, methodTable(r, texts))
	}
	if p := r.Precompiled; p != nil && len(p.MissingMethods) > 0 {
		t := &table{ID: "notprecompiled", Title: "Methods without precompiled code", texts: texts}
		word(t, p.MissingMethods, column{Key: "method", Label: "Method"}, func(m string) string { return m })
		cutOff(t, p.Missing)
		sec.Tables = append(sec.Tables, t)
	}
	for _, d := range []struct {
		id, title string
		of        *jit.Inlining
	}{{"inlining", "Why calls were not inlined", r.Inlining}, {"tailcalls", "Why calls were no tail calls", r.TailCalls}} {
		if d.of != nil && len(d.of.Reasons) > 0 {
			sec.Tables = append(sec.Tables, reasonTable(d.id, d.title, d.of.Reasons, texts))
		}
	}
	v.Sections = append(v.Sections, sec)
}

// jitLead sums up what was compiled.
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
		if p.Found+p.Missing > 0 {
			lead = append(lead, fmt.Sprintf("Precompiled code was found for %s, and missing for %d.", count(p.Found, "method", "methods"), p.Missing))
		}
		if p.Rejected > 0 {
			lead = append(lead, fmt.Sprintf("The precompiled code of %s could not be used.", count(p.Rejected, "method", "methods")))
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

func groupTable(id, title string, rows []jit.Group, texts *texts) *table {
	t := &table{ID: id, Title: title, Sort: "exclusive", texts: texts}
	all := len(rows)
	rows = shown(rows)
	word(t, rows, column{Key: "name", Label: "Name"}, func(g jit.Group) string { return g.Name })
	num(t, rows, column{Key: "count", Label: "Methods"}, func(g jit.Group) float64 { return float64(g.Count) })
	num(t, rows, column{Key: "exclusive", Label: "Time", Unit: "ms", Digits: 3, Share: true}, func(g jit.Group) float64 { return g.ExclusiveMS })
	num(t, rows, column{Key: "il", Label: "IL", Unit: "bytes"}, func(g jit.Group) float64 { return float64(g.ILBytes) })
	num(t, rows, column{Key: "native", Label: "Code", Unit: "bytes"}, func(g jit.Group) float64 { return float64(g.NativeBytes) })
	cutOff(t, all)
	return t
}

func methodTable(r *jit.Runtime, texts *texts) *table {
	t := &table{ID: "methods", Title: "Methods", Sort: "exclusive", Time: "start", texts: texts}
	rows := shown(r.Methods)
	word(t, rows, column{Key: "method", Label: "Method"}, func(m jit.Method) string { return m.Method })
	num(t, rows, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(m jit.Method) float64 { return m.StartMS / 1000 })
	num(t, rows, column{Key: "exclusive", Label: "Time", Unit: "ms", Digits: 3, Share: true, Help: "without what was compiled meanwhile"}, func(m jit.Method) float64 { return orNaN(m.ExclusiveMS) })
	num(t, rows, column{Key: "inclusive", Label: "With nested", Unit: "ms", Digits: 3}, func(m jit.Method) float64 { return orNaN(m.InclusiveMS) })
	num(t, rows, column{Key: "il", Label: "IL", Unit: "bytes"}, func(m jit.Method) float64 { return float64(m.ILBytes) })
	num(t, rows, column{Key: "native", Label: "Code", Unit: "bytes"}, func(m jit.Method) float64 { return float64(m.NativeBytes) })
	word(t, rows, column{Key: "tier", Label: "Tier"}, func(m jit.Method) string { return m.Tier })
	word(t, rows, column{Key: "trigger", Label: "Trigger"}, func(m jit.Method) string { return m.Trigger })
	mark := len(t.Columns)
	word(t, rows, column{Key: "module", Label: "Module", Detail: true}, func(m jit.Method) string { return m.Module })
	num(t, rows, column{Key: "thread", Label: "Thread", ID: true, Detail: true}, func(m jit.Method) float64 { return float64(m.Thread) })
	word(t, rows, column{Key: "flags", Label: "Flags", Detail: true}, func(m jit.Method) string { return m.Flags })
	num(t, rows, column{Key: "version", Label: "Version", Detail: true}, func(m jit.Method) float64 { return float64(m.Version) })
	word(t, rows, column{Key: "remarks", Label: "Remarks", Detail: true}, func(m jit.Method) string {
		if m.WithoutStart {
			return "the begin of its compilation is not in the trace"
		}
		return ""
	})
	t.Columns = append(t.Columns[:mark], dropEmpty(t.Columns[mark:])...)
	cutOff(t, len(r.Methods))
	return t
}

func reasonTable(id, title string, rows []jit.Reason, texts *texts) *table {
	t := &table{ID: id, Title: title, Sort: "count", texts: texts}
	all := len(rows)
	rows = shown(rows)
	word(t, rows, column{Key: "reason", Label: "Reason"}, func(r jit.Reason) string { return r.Reason })
	num(t, rows, column{Key: "count", Label: "Calls", Share: true}, func(r jit.Reason) float64 { return float64(r.Count) })
	cutOff(t, all)
	return t
}

package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/findings"
)

// addAlloc adds what is known of allocations.
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
		sec.Charts = append(sec.Charts, overTime("ticks", "Allocated, by ticks", "MB/s", "Allocated", "alloc", t.Series, perSec))
		sec.Tables = append(sec.Tables, typeTable("ticktypes", "Types, by ticks", "Ticks", t.Types, texts))
	}
	if a := r.Samples; a != nil {
		v.weight += a.Count
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s, drawn at random, stand for %s in %s objects.", count(a.Count, "sample", "samples"), size(a.Bytes), precise(a.Objects)))
		sec.Charts = append(sec.Charts, overTime("samples", "Allocated, by samples", "MB/s", "Allocated", "alloc", a.Series, perSec))
		sec.Tables = append(sec.Tables, typeTable("sampledtypes", "Types, by samples", "Samples", a.Types, texts))
	}
	if e := r.Exact; e != nil {
		v.weight += e.Events
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s of sampled objects, whose sums by type are exact: %s in %s objects.", count(e.Events, "event", "events"), size(float64(e.Bytes)), grouped(float64(e.Objects), 0)))
		sec.Tables = append(sec.Tables, typeTable("exacttypes", "Types, by counted objects", "Events", e.Types, texts))
	}
	v.Sections = append(v.Sections, sec)
}

func typeTable(id, title, events string, all []alloc.Type, texts *texts) *table {
	t := &table{ID: id, Title: title, Sort: "mb", texts: texts}
	rows := shown(all)
	word(t, rows, column{Key: "type", Label: "Type"}, func(x alloc.Type) string { return x.Type })
	num(t, rows, column{Key: "mb", Label: "Allocated", Unit: "MB", Digits: 3, Share: true}, func(x alloc.Type) float64 { return x.Bytes / 1e6 })
	num(t, rows, column{Key: "share", Label: "Share", Unit: "%", Digits: 2}, func(x alloc.Type) float64 { return orNaN(x.SharePercent) })
	num(t, rows, column{Key: "events", Label: events}, func(x alloc.Type) float64 { return float64(x.Ticks) })
	num(t, rows, column{Key: "objects", Label: "Objects", Help: "estimate of their number"}, func(x alloc.Type) float64 { return orNaN(x.Objects) })
	num(t, rows, column{Key: "error", Label: "Error", Unit: "%", Digits: 1, Help: "relative standard error, as far as allocations are random"}, func(x alloc.Type) float64 { return orNaN(x.ErrorPercent) })
	t.Columns = append(t.Columns[:4], dropEmpty(t.Columns[4:])...)
	cutOff(t, len(all))
	return t
}

package code

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/etwgen/etwgen/analysis/cpu"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// lastTotal is the weight of all samples.
func (p *Profiled) lastTotal() int64 {
	if len(p.Types) == 0 {
		return 0
	}
	return lastOf(p.Totals())
}

// countOrigins counts the frames of each source of names, and of each file with code that
// has none.
func (p *Profiled) countOrigins(o *frames.Origins) map[frames.Namesake]int64 {
	counts := make(map[frames.Namesake]int64)
	for s := range p.Samples() {
		// Only processes of .NET have a rundown.
		rundown := p.Table.HasRundown(s.Process) || p.Kind != cpu.ThreadTime && len(p.Table.Facts()) == 0
		for frame := range p.Stack(s.Stack) {
			if f := &p.Frames[frame]; !f.Pseudo {
				counts[o.Of(f, rundown)]++
			}
		}
	}
	return counts
}

// originTable returns a row for each count of countOrigins.
func (p *Profiled) originTable(o *frames.Origins) *show.Table {
	counts := p.countOrigins(o)
	total := int64(0)
	sources := make([]frames.Namesake, 0, len(counts))
	for k, n := range counts {
		sources = append(sources, k)
		total += n
	}
	order.Sort(sources, func(a, b frames.Namesake) int {
		return cmp.Or(cmp.Compare(min(len(a.Wanted), 1), min(len(b.Wanted), 1)), cmp.Compare(counts[b], counts[a]),
			cmp.Compare(a.File, b.File), cmp.Compare(a.From, b.From), cmp.Compare(a.Wanted, b.Wanted))
	})
	return pick.Rows(sources,
		views.Text("source", func(k frames.Namesake) string { return k.From }),
		views.Text("file", func(k frames.Namesake) string { return k.File }),
		views.Count("frames", func(k frames.Namesake) int64 { return counts[k] }),
		share("percent", func(k frames.Namesake) (int64, int64) { return counts[k], total }).Under("%").To(1),
		views.Text("wanted", func(k frames.Namesake) string { return k.Wanted }))
}

// unit says how values are shown.
func (p *Profiled) unit() valueUnit {
	if len(p.Types) == 0 {
		return valueUnit{}
	}
	return unitOf(p.Types[len(p.Types)-1])
}

// weight is a column of the weights of rows, in the unit that its name then ends in.
func weight[T any](p *Profiled, name string, of func(T) int64) views.Column[T] {
	u := p.unit()
	if u.suffix == "" {
		return views.Count(name, of)
	}
	return views.Amount(name+u.suffix, func(row T) float64 { return float64(of(row)) / u.per })
}

// sharing returns a column of the weights of rows, and one of that as a share of all.
func sharing[T any](p *Profiled, name string, all int64, of func(T) []int64) []views.Column[T] {
	return []views.Column[T]{
		weight(p, name, func(row T) int64 { return lastOf(of(row)) }),
		share(name+"Percent", func(row T) (int64, int64) { return lastOf(of(row)), all }),
	}
}

// counts returns a column of how many samples rows have, unless the profile is one that
// does not count them.
func counts[T any](p *Profiled, of func(T) []int64) []views.Column[T] {
	if len(p.Types) == 1 && p.Types[0].Unit != "count" {
		return nil
	}
	return []views.Column[T]{views.Count("count", func(row T) int64 { return of(row)[0] })}
}

// weightColumns are the columns of the weights of rows themselves, and with all that they
// call. Of traces that are compared they say how the own weight changed.
func weightColumns[T any](p *Profiled, all int64, own, whole func(T) []int64) []views.Column[T] {
	if p.compared {
		return changes(p, own)
	}
	return append(sharing(p, "self", all, own), sharing(p, "total", all, whole)...)
}

// weights are the weight of something itself, and with all that it calls. The values are in
// the order of the types.
type weights struct {
	Self  []int64 `json:"self"`
	Total []int64 `json:"total"`
}

func (w weights) own() []int64   { return w.Self }
func (w weights) whole() []int64 { return w.Total }

// writeDocument prints the document of a profile, with more behind its rows: of each its own
// fields, and then columns.
func writeDocument[T any](out *show.Printer, p *Profiled, rows []T, more string, columns ...views.Column[T]) error {
	v := views.Of("", "", rows, columns...)
	names := make([]string, len(v.Heads))
	for k, h := range v.Heads {
		if h.Name != "self" && h.Name != "total" { // which have no unit, and are there
			names[k] = string(etw.AppendJSONString([]byte{','}, h.Name)) + ":"
		}
	}
	var b bytes.Buffer
	b.WriteString(`,"rows":[`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
		b.Truncate(b.Len() - len("}\n"))
		for k, name := range names {
			if name != "" {
				b.WriteString(name)
				b.WriteString(cmp.Or(v.At(i, k).Text(), "null"))
			}
		}
		b.WriteByte('}')
	}
	b.WriteString("]" + more)
	return show.WriteMore(out, p.document(), b.String(), p.T.Stats().Lost)
}

package code

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

func lastOf(values []int64) int64 { return values[len(values)-1] }

// lastTotal is what all samples weigh.
func (p *Profiled) lastTotal() int64 {
	if len(p.Types) == 0 {
		return 0
	}
	return lastOf(p.Totals())
}

func percentColumn(name, head string) show.Column {
	c := show.Measured(name, 1)
	c.Head = head
	return c
}

// toldApart returns the names of the frames for people.
func (p *Profiled) toldApart() []string {
	if p.Lambdas == nil {
		p.Lambdas = make(Lambdas)
	}
	return p.Lambdas.names(p.Frames)
}

// originTable returns a row for each source of names, and for each file with code that
// has none.
func (p *Profiled) originTable(o *frames.Origins) *show.Table {
	counts := make(map[frames.Namesake]int64)
	total := int64(0)
	for s := range p.Samples() {
		// Only processes of .NET have a rundown.
		rundown := p.Table.HasRundown(s.Process) || p.Kind != cpu.ThreadTime && len(p.Table.Facts()) == 0
		for frame := range p.Stack(s.Stack) {
			if f := &p.Frames[frame]; !f.Pseudo {
				counts[o.Of(f, rundown)]++
				total++
			}
		}
	}
	order := make([]frames.Namesake, 0, len(counts))
	for k := range counts {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b frames.Namesake) int {
		return cmp.Or(cmp.Compare(min(len(a.Wanted), 1), min(len(b.Wanted), 1)), cmp.Compare(counts[b], counts[a]),
			cmp.Compare(a.File, b.File), cmp.Compare(a.From, b.From), cmp.Compare(a.Wanted, b.Wanted))
	})
	tab := show.NewTable(show.Label("source"), show.Label("file"), show.Counted("frames"), percentColumn("percent", "%"), show.Label("wanted"))
	for _, k := range order {
		tab.Add(k.From, k.File, show.Whole(counts[k]), share(counts[k], total), k.Wanted)
	}
	return tab
}

// unit says how values are shown.
func (p *Profiled) unit() valueUnit {
	if len(p.Types) == 0 {
		return valueUnit{}
	}
	return unitOf(p.Types[len(p.Types)-1])
}

// A valueUnit is how values of one type are shown.
type valueUnit struct {
	suffix string // of the names of columns
	per    float64
	digits int
}

func unitOf(t stacks.ValueType) valueUnit {
	switch t.Unit {
	case "nanoseconds":
		return valueUnit{"Ms", 1e6, 3}
	case "bytes":
		return valueUnit{"MB", 1e6, 3}
	}
	return valueUnit{"", 1, 0}
}

func (u valueUnit) column(name string) show.Column { return show.Measured(name+u.suffix, u.digits) }

func (u valueUnit) cell(v int64) string {
	if u.per == 1 {
		return show.Whole(v)
	}
	return show.Exact(float64(v) / u.per)
}

// text says a value in a sentence.
func (u valueUnit) text(v int64) string {
	switch u.suffix {
	case "Ms":
		return show.MS(float64(v) / u.per)
	case "MB":
		return show.MB(float64(v) / u.per)
	}
	return show.Whole(v)
}

// share returns a part of all in percent.
func share(v, all int64) string {
	if all == 0 {
		return ""
	}
	return show.Exact(100 * float64(v) / float64(all))
}

package main

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/cpu"
)

func lastOf(values []int64) int64 { return values[len(values)-1] }

// lastTotal is what all samples weigh.
func (p *profiled) lastTotal() int64 {
	if len(p.Types) == 0 {
		return 0
	}
	return lastOf(p.Totals())
}

func percentColumn(name, head string) column {
	c := measured(name, 1)
	c.head = head
	return c
}

// toldApart returns the names of the frames for people.
func (p *profiled) toldApart() []string {
	if p.lambdas == nil {
		p.lambdas = make(lambdas)
	}
	return p.lambdas.names(p.Frames)
}

// originTable returns a row for each source of names, and for each file with code that
// has none.
func (p *profiled) originTable(o *origins) *table {
	counts := make(map[namesake]int64)
	total := int64(0)
	for s := range p.Samples() {
		// Only processes of .NET have a rundown.
		rundown := p.table.HasRundown(s.Process) || p.Kind != cpu.ThreadTime && len(p.table.Facts()) == 0
		for frame := range p.Stack(s.Stack) {
			if f := &p.Frames[frame]; !f.Pseudo {
				counts[o.of(f, rundown)]++
				total++
			}
		}
	}
	order := make([]namesake, 0, len(counts))
	for k := range counts {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b namesake) int {
		return cmp.Or(cmp.Compare(min(len(a.wanted), 1), min(len(b.wanted), 1)), cmp.Compare(counts[b], counts[a]),
			cmp.Compare(a.file, b.file), cmp.Compare(a.from, b.from), cmp.Compare(a.wanted, b.wanted))
	})
	tab := newTable(label("source"), label("file"), counted("frames"), percentColumn("percent", "%"), label("wanted"))
	for _, k := range order {
		tab.add(k.from, k.file, whole(counts[k]), share(counts[k], total), k.wanted)
	}
	return tab
}

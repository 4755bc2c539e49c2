package code

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
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
	sources := make([]frames.Namesake, 0, len(counts))
	for k := range counts {
		sources = append(sources, k)
	}
	order.Sort(sources, func(a, b frames.Namesake) int {
		return cmp.Or(cmp.Compare(min(len(a.Wanted), 1), min(len(b.Wanted), 1)), cmp.Compare(counts[b], counts[a]),
			cmp.Compare(a.File, b.File), cmp.Compare(a.From, b.From), cmp.Compare(a.Wanted, b.Wanted))
	})
	tab := show.NewTable(show.Label("source"), show.Label("file"), show.Counted("frames"), percentColumn("percent", "%"), show.Label("wanted"))
	for _, k := range sources {
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

// inUnits are the weights of a row under names that have the unit.
type inUnits struct {
	SelfMS       *float64 `json:"selfMs,omitempty"`
	SelfMB       *float64 `json:"selfMB,omitempty"`
	SelfPercent  *float64 `json:"selfPercent,omitempty"`
	TotalMS      *float64 `json:"totalMs,omitempty"`
	TotalMB      *float64 `json:"totalMB,omitempty"`
	TotalPercent *float64 `json:"totalPercent,omitempty"`
	ChangeMS     *float64 `json:"changeMs,omitempty"` // of what it weighs itself
	ChangeMB     *float64 `json:"changeMB,omitempty"`
	Change       *float64 `json:"change,omitempty"` // where values are numbers
	BeforeMS     *float64 `json:"beforeMs,omitempty"`
	BeforeMB     *float64 `json:"beforeMB,omitempty"`
	Before       *float64 `json:"before,omitempty"`
	AfterMS      *float64 `json:"afterMs,omitempty"`
	AfterMB      *float64 `json:"afterMB,omitempty"`
	After        *float64 `json:"after,omitempty"`
}

// inUnits returns the weights of a row, which may have no total, of all that there is.
func (p *Profiled) inUnits(self, total []int64, all int64) (w inUnits) {
	u := p.unit()
	set := func(ms, mb, plain **float64, v int64) {
		x := float64(v) / u.per
		switch u.suffix {
		case "Ms":
			*ms = &x
		case "MB":
			*mb = &x
		default:
			*plain = &x
		}
	}
	var unnamed *float64
	if p.compared {
		set(&w.ChangeMS, &w.ChangeMB, &w.Change, change(self))
		set(&w.BeforeMS, &w.BeforeMB, &w.Before, self[0])
		set(&w.AfterMS, &w.AfterMB, &w.After, self[1])
		return w
	}
	set(&w.SelfMS, &w.SelfMB, &unnamed, lastOf(self))
	of := func(v int64) *float64 { x := 100 * float64(v) / float64(max(all, 1)); return &x }
	w.SelfPercent = of(lastOf(self))
	if total != nil {
		set(&w.TotalMS, &w.TotalMB, &unnamed, lastOf(total))
		w.TotalPercent = of(lastOf(total))
	}
	return w
}

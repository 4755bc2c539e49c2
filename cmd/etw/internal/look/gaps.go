package look

import "time"

// A gap is a time without events.
type gap struct {
	FromMS float64 `json:"fromMs"`
	ToMS   float64 `json:"toMs"`
}

// gaps has the longest times without events of a trace, whose events come in order.
type gaps struct {
	last    time.Duration // of the events so far, and at first the start of the session
	longest []gap
}

// maxGaps is how many are kept.
const maxGaps = 3

// see takes the time of an event.
func (g *gaps) see(at time.Duration) {
	if length := at - g.last; length >= time.Second {
		g.add(gap{float64(g.last) / 1e6, float64(at) / 1e6})
	}
	g.last = max(g.last, at)
}

func (g *gaps) add(x gap) {
	if g.longest = append(g.longest, x); len(g.longest) <= maxGaps {
		return
	}
	shortest := 0
	for i, y := range g.longest {
		if y.ToMS-y.FromMS < g.longest[shortest].ToMS-g.longest[shortest].FromMS {
			shortest = i
		}
	}
	g.longest = append(g.longest[:shortest], g.longest[shortest+1:]...)
}

// large returns those that are a tenth of the trace or more.
func (g *gaps) large() []gap {
	var list []gap
	for _, x := range g.longest {
		if x.ToMS-x.FromMS >= float64(g.last)/1e6/10 {
			list = append(list, x)
		}
	}
	return list
}

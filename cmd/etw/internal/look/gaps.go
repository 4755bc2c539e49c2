package look

import (
	"math"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A gap is a time between two events.
type gap struct {
	FromMS float64 `json:"fromMs"`
	ToMS   float64 `json:"toMs"`
}

// gaps has the longest times without events of a trace, whose events come in order.
type gaps struct {
	last    time.Duration // of the events so far, and at first the start of the session
	longest []gap
}

// latestOf returns the latest time that a record of a session can have, which ended at a time, if that is known:
// of those behind it the time is damaged.
func latestOf(end etw.FileTime, c *etw.Clock) time.Duration {
	if c == nil || end <= c.Start {
		return math.MaxInt64
	}
	return 2*end.Time().Sub(c.Start.Time()) + time.Minute
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

// busy is the time in which there are events that do not just help to understand others. In
// a part that was cut out of a trace that is less than its duration.
type busy struct {
	events      int64
	first, last time.Duration
}

func (b *busy) see(at time.Duration) {
	if b.events == 0 {
		b.first, b.last = at, at
	}
	b.events++
	b.first, b.last = min(b.first, at), max(b.last, at)
}

// short reports whether that is less than half of a duration.
func (b *busy) short(duration time.Duration) bool {
	return b.events > 0 && duration >= time.Second && b.last-b.first < duration/2
}

// ends returns the times of its first and last event.
func (b *busy) ends() gap { return gap{float64(b.first) / 1e6, float64(b.last) / 1e6} }

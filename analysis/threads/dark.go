package threads

import (
	"fmt"
	"math"
	"sort"
)

// A span is a time, in nanoseconds since 1970.
type span struct{ from, to int64 }

// A rest is a time in which a thread was ready, or waited, as far as its own events tell.
type rest struct {
	thread *thread
	does   doing
	sure   bool // an event tells its end
	span
}

// gap takes that a processor has no events from one time to another, though it should: another
// thread leaves it than the one that came. The later times are, the later they are taken.
func (a *Analysis) gap(from, to int64) { a.gone = joined(a.gone, span{from, to}) }

// joined adds a span to those before, none of which meet.
func joined(list []span, s span) []span {
	n := len(list)
	for ; n > 0 && list[n-1].to >= s.from; n-- {
		s.from, s.to = min(s.from, list[n-1].from), max(s.to, list[n-1].to)
	}
	return append(list[:n], s)
}

// darkness returns when events of a processor are missing, in a trace that does not have all that
// was recorded: a thread that is not seen to run may have run there. In one that was filtered the
// events of those threads which it has are all there.
func (a *Analysis) darkness() (dark []span) {
	lacks := a.window.Lacking()
	if !lacks.Any || a.blurred || a.partial {
		return nil
	}
	begin, end, seen := int64(math.MinInt64), int64(math.MaxInt64), 0
	for i := range a.processors {
		if p := &a.processors[i]; p.begun {
			seen++
			begin, end = max(begin, p.first), min(end, p.since)
		}
	}
	if seen > 0 && seen < lacks.Processors { // of the others all events may be among those that are missing
		return []span{{math.MinInt64, math.MaxInt64}}
	}
	if lacks.Begin {
		dark = append(dark, span{math.MinInt64, begin})
	}
	for _, s := range a.gone {
		dark = joined(dark, s)
	}
	if lacks.End {
		dark = joined(dark, span{end, math.MaxInt64})
	}
	return dark
}

// Unseen returns a function that reports whether a thread that is not seen to run in a time, in nanoseconds
// since 1970, may have run in a part of it: events of a processor are missing.
func (a *Analysis) Unseen() func(from, to int64) bool {
	dark := a.darkness()
	return func(from, to int64) bool { return lit(dark, from, to) < to-from }
}

// until returns when a time begins to be dark, or its end. Of a rest of which no event tells the end
// nothing is known from then on: the thread may wait after the dark, or be ready.
func until(dark []span, from, to int64) int64 {
	i := sort.Search(len(dark), func(i int) bool { return dark[i].to > from })
	if i < len(dark) {
		return min(to, max(from, dark[i].from))
	}
	return to
}

// lit returns how much of a time is not dark.
func lit(dark []span, from, to int64) int64 {
	n := to - from
	i := sort.Search(len(dark), func(i int) bool { return dark[i].to > from })
	for ; i < len(dark) && dark[i].from < to; i++ {
		n -= min(to, dark[i].to) - max(from, dark[i].from)
	}
	return n
}

// known returns how much of a rest counts and is known. Sure is one of which an event tells the end.
func (a *Analysis) known(dark []span, from, to int64, sure bool) int64 {
	if !sure {
		to = until(dark, from, to)
	}
	from, to = a.window.Clip(from, to)
	return lit(dark, from, to)
}

// Dark says for how long it is dark, in words.
func (r *Result) Dark() string {
	return fmt.Sprintf("the trace lacks a part of the recording, and for %.3f ms events of a processor are missing: threads that are not seen to run then are unknown", r.DarkMS)
}

// dim takes the rests of threads that are in the dark from their times, and returns how long it is
// dark.
func (a *Analysis) dim(dark []span) (ns int64) {
	for _, x := range a.order {
		x.dark, x.longestLit = [doings]int64{}, x.longest
		if dark != nil {
			x.longestLit = 0
		}
	}
	if dark == nil {
		return 0
	}
	for i := range a.rested {
		r := &a.rested[i]
		from, to := a.window.Clip(r.from, r.to)
		n := a.known(dark, r.from, r.to, r.sure)
		r.thread.dark[r.does] += to - from - n
		if r.does == waiting {
			r.thread.longestLit = max(r.thread.longestLit, n)
		}
	}
	from, to := a.window.Clip(a.origin, a.now)
	return to - from - lit(dark, from, to)
}

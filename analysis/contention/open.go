package contention

import (
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// unfinished lists the waits that are not over, and finds those of threads for each other.
func (s *state) unfinished(rt *runtime, out *Runtime) {
	var list top.List[waited]
	last := make(map[int64]Wait) // of each thread, the one that it is in
	lost := 0
	out.Open, lost, out.OpenMS = s.waits.Unfinished(rt.PID, &rt.Time, func(thread int64, b *spans.Wait[start], ms float64) {
		x := waited{*b, ms, thread}
		list.Add(ms, x)
		last[thread] = x.row(rt)
	})
	out.LostStops += lost
	for _, x := range list.All() {
		row := x.row(rt)
		row.Open = true
		out.Unended = append(out.Unended, row)
	}
	out.Deadlocks = deadlocks(out.Unended, last)
}

// row returns the wait as results have it.
func (x *waited) row(rt *runtime) Wait {
	return Wait{StartMS: rt.At(x.At), DurationMS: x.ms, Thread: x.thread, Owner: x.Of.owner,
		Lock: hex(x.Of.lock.id), Object: hex(x.Of.object), at: x.Time}
}

// deadlocks follows each thread that waits to who held its lock: all the way round, if they
// wait for each other.
func deadlocks(list []Wait, last map[int64]Wait) (found []Deadlock) {
	seen := make(map[int64]bool)
	for _, first := range list {
		round := make(map[int64]int)
		var path []Wait
		for at := first.Thread; !seen[at]; {
			w, waits := last[at]
			if !waits || w.Owner == at {
				break
			}
			if n, again := round[at]; again {
				found = append(found, deadlock(path[n:]))
				break
			}
			round[at] = len(path)
			path = append(path, w)
			at = w.Owner
		}
		for at := range round {
			seen[at] = true
		}
	}
	return found
}

func deadlock(round []Wait) (d Deadlock) {
	for _, w := range round {
		d.Threads = append(d.Threads, w.Thread)
		if w.StartMS >= d.SinceMS {
			d.SinceMS, d.ForMS = w.StartMS, w.DurationMS
		}
	}
	return d
}

// Unended returns the waits that are not over, with the stacks of where they began.
func (a *Analysis) Unended() (list []*stacks.Samples) {
	for _, rt := range a.runtimes.All() {
		if s := rt.State.waits.Unended(rt.PID, &rt.Time); s != nil {
			list = append(list, s)
		}
	}
	return list
}

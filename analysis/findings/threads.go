package findings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/threadpool"
)

// Contention says how long the threads of a runtime waited for locks.
func Contention(r *contention.Runtime) []Finding {
	f := &finder{part: "contention"}
	if r.Count > 0 {
		f.add("contention.waited", Note, "Threads waited %s for locks, %s in all; the longest wait was %s.",
			times("count", r.Count), span("totalMs", r.TotalMS), span("maxMs", r.DurationMS.Max.Or(0)))
	}
	for _, d := range r.Deadlocks {
		if d.ForMS >= longLocked {
			f.add("contention.deadlock", Problem, "Threads %s wait for each other's locks, from %s to the end, %s: a deadlock, unless a lock came to another thread in between.",
				strings.Trim(fmt.Sprint(d.Threads), "[]"), moment("sinceMs", d.SinceMS), span("forMs", d.ForMS))
		}
	}
	if len(r.Unended) > 0 && r.Unended[0].DurationMS >= longLocked {
		f.add("contention.open", Look, "%s not over at the end: the longest, of thread %s, took %s until then.",
			things("open", r.Open, "wait for a lock was", "waits for locks were"), strconv.FormatInt(r.Unended[0].Thread, 10), span("openMs", r.Unended[0].DurationMS))
	}
	return f.list
}

// ThreadPool returns whether the thread pool of a runtime starved, and whether work waited
// for it.
func ThreadPool(r *threadpool.Runtime) []Finding {
	f := &finder{part: "threadpool"}
	if s := r.Starvation; s != nil {
		f.starved(s)
	}
	if q := r.Queue; q != nil && q.WaitMS.P95.Or(0) >= longQueue {
		p95 := q.WaitMS.P95.Or(0)
		f.add("threadpool.queue", Look, "Work waited in the queue of the thread pool: 5 %% of it longer than %s.", span("p95Ms", p95))
	}
	return f.list
}

func (f *finder) starved(s *threadpool.Starvation) {
	format, args := "The thread pool starved: %s.", []any{strings.Join(s.Because, "; ")}
	severity := Problem
	if s.Unsure {
		severity = Look
		format = "The thread pool may have starved: %s; the trace does not have its queue, which tells whether work waited."
	}
	if first, ok := s.FirstMS.Get(); ok {
		format += " It was seen at %s"
		args = append(args, moment("firstMs", first))
		if last := s.LastMS.Or(first); last > first {
			format = strings.Replace(format, "was seen at", "began at", 1) + " and went on until %s"
			args = append(args, moment("lastMs", last))
		}
		if before, ok := s.WorkersBefore.Get(); ok {
			format += ", while the pool went from %s to %s workers"
			args = append(args, number("workersBefore", before), number("workersAfter", s.WorkersAfter.Or(0)))
		}
		if s.Times > 1 {
			format += ", the longest of %s times"
			args = append(args, number("times", float64(s.Times)))
		}
		format += "."
	}
	format, args = format+" Held by: %s.", append(args, s.Held())
	f.add("threadpool.starved", severity, format, args...)
}

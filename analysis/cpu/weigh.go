package cpu

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A weighed is the meaning of samples until another one comes.
type weighed struct {
	weights []weight // of all that were taken
	pauses  []stopped
	result  Result
}

// A weight parts the time that a sample stands for.
type weight struct{ time, pause int64 }

// in returns the weight of a sample of a state: no collection stops native code, or a thread
// that waits.
func (w weight) in(s state) weight {
	if s == external || s == locked {
		return weight{time: w.time + w.pause}
	}
	return w
}

// A weighing weighs the samples of one thread.
type weighing struct {
	of     *rounds // of its process
	round  int     // of its last sample, + 1
	at     int64   // the time of that
	counts bool    // that is in the result
	pauses []span
	gaps   []int64 // between samples, without pauses, as far as they meet the window
	stops  stopping

	row                          Thread
	time, inManaged, pause, rest int64
}

func (a *Analysis) weigh() *weighed {
	if a.weighed != nil {
		return a.weighed
	}
	w := &weighed{weights: make([]weight, a.taken.n), result: Result{Schema: Schema, Empty: a.empty, Failed: a.errors, Threads: []Thread{}}}
	res, numbers := &w.result, make([]int32, a.taken.n)
	threads, gaps := a.part(numbers)
	for i, x := range a.inOrder() {
		t, counts := &threads[x.thread()], x.state() != skipped && a.window.Has(x.at)
		round := int(numbers[i])
		if t.counts {
			t.rest += t.of.between(t.round, round)
		}
		t.counts, t.round = counts, round+1
		if counts {
			w.weights[i] = t.of.stand[round].in(x.state())
		}
	}
	w.pauses = a.stopped(threads, numbers, w.weights)
	a.scale(w.weights, w.pauses)
	for i, x := range a.taken.all() {
		if x.state() != skipped && a.window.Has(x.at) {
			threads[x.thread()].count(w.weights[i], x.state())
		}
	}
	for i := range threads {
		if row := threads[i].sums(); row.Samples > 0 {
			res.Threads = append(res.Threads, row)
			res.Samples += row.Samples
			res.Managed += row.Managed
		}
	}
	res.IntervalMS = float64(median(gaps)) / 1e6
	order.Sort(res.Threads, func(x, y Thread) int {
		return cmp.Or(cmp.Compare(y.Samples, x.Samples), cmp.Compare(x.Process, y.Process), cmp.Compare(x.Thread, y.Thread))
	})
	res.add()
	a.weighed = w
	return w
}

// part parts the time of each process between the rounds of the sampler, and sets the number of its
// round for each sample. It returns the threads, and the gaps between the samples of all of them.
func (a *Analysis) part(numbers []int32) (threads []weighing, gaps []int64) {
	threads, gaps = make([]weighing, len(a.threads.list)), make([]int64, 0, len(numbers))
	processes := make(map[int64]*rounds)
	for i := range threads {
		of, from := &a.threads.list[i], len(gaps)
		p := processes[of.process]
		if p == nil {
			p = &rounds{pauses: merged(a.pauses[of.process])}
			processes[of.process] = p
		}
		gaps = gaps[:from+a.met[i]-1]
		threads[i] = weighing{row: Thread{Process: of.process, Thread: of.id}, of: p, pauses: p.pauses, gaps: gaps[from:from]}
	}
	for i, x := range a.inOrder() {
		t := &threads[x.thread()]
		if t.round > 0 {
			var pause int64
			pause, t.pauses = overlap(t.pauses, t.at, x.at)
			if a.window.Meets(t.at, x.at) {
				t.gaps = append(t.gaps, x.at-t.at-pause)
			}
		}
		t.round, t.at = t.of.take(x.at, t.round), x.at
		numbers[i] = int32(t.round - 1)
	}
	for _, p := range processes {
		p.weigh()
	}
	gaps = gaps[:0]
	for i := range threads {
		t := &threads[i]
		t.row.IntervalMS, t.round = float64(median(t.gaps))/1e6, 0
		gaps = append(gaps, t.gaps...)
	}
	return threads, gaps
}

// inOrder iterates over the samples in the order of their times.
func (a *Analysis) inOrder() iter.Seq2[int, *taken] {
	if !a.late {
		return a.taken.all()
	}
	list := make([]int32, a.taken.n)
	for i := range list {
		list[i] = int32(i)
	}
	order.Stable(list, func(x, y int32) int { return cmp.Compare(a.taken.at(int(x)).at, a.taken.at(int(y)).at) })
	return func(yield func(int, *taken) bool) {
		for _, i := range list {
			if !yield(int(i), a.taken.at(int(i))) {
				return
			}
		}
	}
}

// count adds a sample of a state.
func (t *weighing) count(w weight, s state) {
	t.row.Samples++
	t.time += w.time
	t.pause += w.pause
	if s == managed {
		t.row.Managed++
		t.inManaged += w.time
	}
}

// sums returns what is known of the thread.
func (t *weighing) sums() Thread {
	row := t.row
	row.TimeMS, row.ManagedMS = float64(t.time)/1e6, float64(t.inManaged)/1e6
	row.PauseMS, row.UnsampledMS = float64(t.pause)/1e6, float64(t.rest)/1e6
	return row
}

// median returns the median of values, whose order it changes. It parts them by one of them, any
// one, and goes on in the part that has the median.
func median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	from, to, middle := 0, len(values)-1, len(values)/2
	for from < to {
		i, j, by := from, to, values[from+rand.IntN(to-from+1)]
		for i <= j {
			for values[i] < by {
				i++
			}
			for values[j] > by {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case middle <= j:
			to = j
		case middle >= i:
			from = i
		default:
			return values[middle]
		}
	}
	return values[middle]
}

type span struct{ from, to int64 }

// merged returns spans in their order, such that none overlap.
func merged(spans []span) []span {
	list := slices.Clone(spans)
	order.Sort(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// overlap returns how much of the time from one moment to another is in spans, and
// the spans that may concern later times.
func overlap(spans []span, from, to int64) (int64, []span) {
	for len(spans) > 0 && spans[0].to <= from {
		spans = spans[1:]
	}
	sum := int64(0)
	for _, s := range spans {
		if s.from >= to {
			break
		}
		sum += min(s.to, to) - max(s.from, from)
	}
	return sum, spans
}

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
	result  Result
}

// A weight parts the time from one sample to the next.
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
	last   int   // sample, + 1
	at     int64 // its time
	pauses []span
	gaps   []int64 // without pauses
	most   int64   // that a sample can stand for

	row                          Thread
	time, inManaged, pause, rest int64
}

func (a *Analysis) weigh() *weighed {
	if a.weighed != nil {
		return a.weighed
	}
	w := &weighed{weights: make([]weight, a.taken.n), result: Result{Schema: Schema, Empty: a.empty, Failed: a.errors, Threads: []Thread{}}}
	res := &w.result
	threads, gaps := a.part(w.weights)
	for i, x := range a.taken.all() {
		threads[x.thread()].limit(&w.weights[i], x.state(), a.window.Has(x.at))
	}
	for i := range threads {
		if row := threads[i].sums(); row.Samples > 0 {
			res.Threads = append(res.Threads, row)
			res.Samples += row.Samples
			res.Managed += row.Managed
		}
	}
	res.IntervalMS = float64(median(gaps)) / 1e6
	if a.within > 0 {
		a.weighRounds(w.weights)
		a.sumUp(res, w.weights)
	}
	order.Sort(res.Threads, func(x, y Thread) int {
		return cmp.Or(cmp.Compare(y.Samples, x.Samples), cmp.Compare(x.Process, y.Process), cmp.Compare(x.Thread, y.Thread))
	})
	res.add()
	a.weighed = w
	return w
}

// part parts the time of each thread between its samples. The last one stands for nothing. It
// returns the threads, and the gaps between the samples of all of them.
func (a *Analysis) part(weights []weight) (threads []weighing, gaps []int64) {
	threads, gaps = make([]weighing, len(a.threads.list)), make([]int64, 0, len(weights))
	pauses := make(map[int64][]span, len(a.pauses))
	for pid, list := range a.pauses {
		pauses[pid] = merged(list)
	}
	for i := range threads {
		of, from := &a.threads.list[i], len(gaps)
		gaps = gaps[:from+a.met[i].samples-1]
		threads[i] = weighing{row: Thread{Process: of.process, Thread: of.id}, pauses: pauses[of.process], gaps: gaps[from:from]}
	}
	for i, x := range a.inOrder() {
		t := &threads[x.thread()]
		if t.last > 0 {
			var pause int64
			pause, t.pauses = overlap(t.pauses, t.at, x.at)
			gap := x.at - t.at - pause
			weights[t.last-1] = weight{gap, pause}
			t.gaps = append(t.gaps, gap)
		}
		t.last, t.at = i+1, x.at
	}
	for i := range threads {
		t := &threads[i]
		interval := median(t.gaps)
		t.row.IntervalMS, t.most = float64(interval)/1e6, capMedians*interval
	}
	return threads, gaps
}

// inOrder iterates over the samples, those of each thread in the order of their times.
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

// limit leaves of the weight of a sample of a state as much as it can stand for. One outside of the
// window is in no sum, though the samples of all times tell how far apart they are.
func (t *weighing) limit(w *weight, s state, within bool) {
	if s == skipped || !within {
		*w = weight{}
		return
	}
	t.row.Samples++
	if w.time > t.most {
		t.rest += w.time - t.most
		w.time = t.most
	}
	*w = w.in(s)
	t.time += w.time
	if s == managed {
		t.row.Managed++
		t.inManaged += w.time
	}
	t.pause += w.pause
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

package threadpool

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/window"
)

// A queue follows work items by their numbers. Those are hashes: one that is used twice at a time is
// of the later item. In .NET Core 3.1 they are addresses, and collections move items that wait for long:
// such an item goes by another number than it came. Then how many came and when, and how many were
// begun and when, still tell how long all waited together.
type queue struct {
	at      map[int64]int64 // when it came
	entries window.Count    // that came
	begun   window.Count
	waits   []wait
	strange []int64 // when items were begun whose address did not come
	early   []int64 // when items were begun that came before the recording: before any that came in it
}

// A wait is from when an item came until it was begun.
type wait struct{ from, to int64 }

// maxQueue bounds how many work items may wait: if the ends of their waits are not
// recorded, the oldest knowledge is given up.
const maxQueue = 1 << 17

func (q *queue) enter(id, at int64, within bool) {
	q.entries.Add(within)
	if len(q.at) >= maxQueue {
		clear(q.at)
	}
	q.at[id] = at
}

func (q *queue) begin(id, at int64, within bool) {
	q.begun.Add(within)
	from, ok := q.at[id]
	switch {
	case ok:
		q.waits = append(q.waits, wait{from, at})
		delete(q.at, id)
	case isAddress(id) && len(q.strange) < maxQueue:
		q.strange = append(q.strange, at)
	case !isAddress(id) && len(q.waits) == 0 && len(q.early) < maxQueue:
		q.early = append(q.early, at)
	}
}

// isAddress reports whether a number has more bits than a hash.
func isAddress(id int64) bool { return id != int64(int32(id)) }

// moved pairs the items whose numbers changed, in the order in which they came, the last first:
// those that are left over are the first to be begun, which came before the trace, and the first that came,
// which a thread that waited for them ran.
func (q *queue) moved() (pairs []wait) {
	var came []int64
	for id, at := range q.at {
		if isAddress(id) {
			came = append(came, at)
		}
	}
	slices.Sort(came)
	for i, j := len(q.strange)-1, len(came)-1; i >= 0 && j >= 0; j-- {
		if came[j] <= q.strange[i] {
			pairs = append(pairs, wait{came[j], q.strange[i]})
			i--
		}
	}
	return pairs
}

// result returns the work of a window, and for how long the items waited of which a part of their
// wait is in it: for a sign of starvation all of it counts, however short the window is.
func (q *queue) result(rt *runtime, w window.Window) (out *Queue, wholeMS []float64, long []stretch) {
	pairs := q.moved()
	out = &Queue{Enqueued: q.entries.Within, Dequeued: q.begun.Within}
	for _, at := range q.at {
		if w.NotAfter(at) {
			out.Waiting++
		}
	}
	for _, x := range pairs { // they are in q.at, too
		if w.NotAfter(x.from) {
			out.Waiting--
		}
	}
	var parts []float64
	for i, x := range slices.Concat(q.waits, pairs) {
		if w.NotAfter(x.from) && !w.NotAfter(x.to) {
			out.Waiting++
		}
		if !w.Meets(x.from, x.to) {
			continue
		}
		if i >= len(q.waits) {
			out.ByOrder++
		}
		from, to := w.Clip(x.from, x.to)
		parts, wholeMS = append(parts, rt.MS(to-from)), append(wholeMS, rt.MS(x.to-x.from))
		if rt.MS(x.to-x.from) > longQueueMS {
			long = append(long, stretch{first: rt.At(from), last: rt.At(to), gap: apartMS})
		}
	}
	for _, at := range q.early {
		if ms := rt.At(at); ms > longQueueMS && w.Has(at) {
			out.Before++
			out.BeforeMS = max(out.BeforeMS, ms)
			long = append(long, stretch{last: ms, gap: apartMS})
		}
	}
	out.WaitMS = measure.Summarize(parts)
	return out, wholeMS, long
}

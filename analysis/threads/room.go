package threads

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/system"
)

// A trace of any size has so many times off processors that are kept one by one: beyond, the
// shorter half is summed up by thread. The latest keep their places, since stacks are to come for them.
const (
	mostOff = 1 << 20
	latest  = system.MaxWaiting
)

// A folded sums up times off processors of a thread: their number and length, by the state of the
// thread. Those of unknown were waiting or ready.
type folded struct {
	from  int64 // the first
	times [doings]int64
	ns    [doings]int64
}

// SumsOnly has the times off processors be passed on and summed up, and not kept: the [Result] is the
// same, and there are no samples, spans and switches. It is for who asks for none of them: there may be
// millions.
func (a *Analysis) SumsOnly() { a.sumsOnly = true }

// keep keeps a time off processors, and returns its number.
func (a *Analysis) keep(o off) (number int64) {
	number = a.dropped + int64(len(a.off))
	switch {
	case a.sumsOnly && len(a.off) > 0:
		a.off[0] = o
		a.dropped++
		a.moved = number
	case len(a.off) >= a.most:
		a.fold()
		fallthrough
	default:
		a.off = append(a.off, o)
	}
	return number
}

// numberedOff returns the time off of a number, or nil if it is not kept, or no more where it was.
func (a *Analysis) numberedOff(number int64) *off {
	if number < a.moved {
		return nil
	}
	return &a.off[number-a.dropped]
}

// fold makes room.
func (a *Analysis) fold() {
	old := a.off[:max(len(a.off)-latest, len(a.off)/2)]
	lengths := make([]int64, len(old))
	for i := range old {
		lengths[i] = old[i].till - old[i].from
	}
	slices.Sort(lengths)
	limit := lengths[len(lengths)/2]
	a.moved = a.dropped + int64(len(old))
	left := 0
	for i := range a.off {
		o := &a.off[i]
		if i < len(old) && o.till-o.from <= limit {
			o.thread.fold(o)
			continue
		}
		a.off[left] = *o
		left++
	}
	a.dropped += int64(len(a.off) - left)
	a.folded, a.longestFolded = a.folded+len(a.off)-left, max(a.longestFolded, limit)
	clear(a.off[left:])
	a.off = a.off[:left]
}

func (x *thread) fold(o *off) {
	if x.rests == nil {
		x.rests = &folded{from: o.from}
	}
	o.each(nil, func(does doing, _, times, ns int64) {
		x.rests.times[does] += times
		x.rests.ns[does] += ns
	})
}

// each calls do for each part of a time off, with the state of the thread, its begin, how often it
// counts, and its length without what is dark. Times that were waiting or ready are unknown.
func (o *off) each(dark []span, do func(does doing, from, times, ns int64)) {
	part := func(does doing, from, to, times int64) {
		end := to
		if does != waiting || !o.byOther {
			end = until(dark, from, to)
		}
		if n := lit(dark, from, end); n > 0 || from == to { // else nobody knows
			do(does, from, times, n)
		}
	}
	times := int64(1)
	switch {
	case o.blurred:
		do(unknown, o.from, 1, o.till-o.from)
		return
	case o.waited:
		part(waiting, o.from, o.readied, 1)
		times = 0
	}
	if o.till > o.readied || !o.waited {
		part(ready, o.readied, o.till, times)
	}
}

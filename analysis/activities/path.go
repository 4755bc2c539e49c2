package activities

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

func (p *process) layer() Layer {
	switch {
	case p.flow:
		return Flow
	case p.tasks:
		return Tasks
	}
	return None
}

// Layer returns how the trace tells for whom the threads of a process work.
func (a *Analysis) Layer(pid int64) (l Layer) {
	for rt := range a.processes.OfProcess(pid) {
		l = max(l, rt.State.layer())
	}
	return l
}

// causes returns where the time of an activity went that a thread ends now, with the waits that are on.
func (p *process) causes(x *Activity, t *thread, waits []state) *Causes {
	first := sort.Search(len(p.pauses), func(i int) bool { return p.pauses[i].to > x.Begin })
	w := &p.walk
	w.reset(p.pauses[first:], p.soon)
	w.states = append(w.states, waits...)
	cut := false
	w.kin = append(w.kin, x.parts...)
	x.gather(func(c *Activity) {
		cut = cut || c.cut
		if c != x && c.Started {
			w.kin = append(w.kin, c.parts...)
			w.kin = append(w.kin, c.part(x.End))
		}
		w.pieces = append(w.pieces, c.pieces...)
		w.states = append(w.states, c.states...)
		for on := c.worker; on != nil; on = on.next {
			w.pieces = append(w.pieces, on.piece(on.since, x.End, c))
			w.states = append(w.states, p.unseen(on, x.End, p.soon)...)
			if on.rest.since != 0 {
				rests := on.rest.states(on.id, x.End)
				w.states = append(w.states, rests[:]...)
			}
			if s := &on.sampled; s.code != 0 {
				w.states = append(w.states, state{thread: on.id, from: max(s.from, on.since), to: x.End, kind: sampled, code: s.code})
			}
		}
	})
	if cut || len(w.pieces) == 0 {
		return nil
	}
	w.prepare(x.Begin, x.End)
	thread := int64(-1)
	if t != nil {
		thread = t.id
	}
	w.root = x.number
	w.kin.sort()
	w.back(thread, x.End, x.Begin, 0)
	w.nameAwaits(x.parts, x.Name)
	c := &Causes{Path: make([]Part, 0, len(w.parts))}
	for _, part := range w.parts {
		if part.From, part.To = p.window.Clip(part.From, part.To); part.From < part.To {
			c.Path = append(c.Path, part)
		}
	}
	for _, part := range c.Path {
		c.Spent[part.Kind] += part.To - part.From
	}
	for i := range w.pieces {
		c.Worked += w.busy(&w.pieces[i], p.window)
	}
	c.Parallel = c.Worked - c.Spent[Running] - c.Spent[GC] - c.Spent[JIT] - c.Spent[Untold]
	return c
}

// maxLooked bounds how many things that are at a time are looked at.
const maxLooked = 256

// A walk goes back along the path that the end of an activity waited for.
type walk struct {
	pieces  []piece          // by thread and time
	byEnd   []int32          // their indexes
	of      map[int64][2]int // of each thread
	threads []int64
	states  []state // by thread and begin
	pauses  []state // of all threads
	parts   []Part
	flat    map[int64][]state // of each thread, one at a time
	soon    int64             // within which work goes on
	root    uint32            // the number of the activity
	kin     kin               // the activities within it
}

// reset makes w ready for another activity. Its memory is used again.
func (w *walk) reset(pauses []state, soon int64) {
	if w.of == nil || len(w.of) > maxLooked || cap(w.pieces) > maxPieces {
		*w = walk{of: make(map[int64][2]int), flat: make(map[int64][]state)}
	}
	clear(w.of)
	clear(w.flat)
	clear(w.pieces)
	w.kin = w.kin[:0]
	w.pieces, w.byEnd, w.threads, w.states, w.parts = w.pieces[:0], w.byEnd[:0], w.threads[:0], w.states[:0], w.parts[:0]
	w.pauses, w.soon = pauses, soon
}

// inline is within which time the work of a thread counts as going on.
const inline = time.Millisecond

// prepare sorts the pieces between two times.
func (w *walk) prepare(begin, end int64) {
	n := 0
	for _, p := range w.pieces {
		p.from, p.to = max(p.from, begin), min(p.to, end)
		if p.from < p.to {
			w.pieces[n] = p
			n++
		}
	}
	w.pieces = w.pieces[:n]
	order.Sort(w.pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.from, b.from)) })
	order.Sort(w.states, func(a, b state) int { return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.from, b.from)) })
	for i, p := range w.pieces {
		w.byEnd = append(w.byEnd, int32(i))
		if r, ok := w.of[p.thread]; ok {
			w.of[p.thread] = [2]int{r[0], i + 1}
		} else {
			w.of[p.thread] = [2]int{i, i + 1}
			w.threads = append(w.threads, p.thread)
		}
	}
	order.Sort(w.byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(w.pieces[a].to, w.pieces[b].to), cmp.Compare(a, b)) })
}

// at returns the index of the piece in which a thread worked just before t, or -1.
func (w *walk) at(thread, t int64) int {
	r, ok := w.of[thread]
	if !ok {
		return -1
	}
	list := w.pieces[r[0]:r[1]]
	i := sort.Search(len(list), func(i int) bool { return list[i].to >= t })
	if i == len(list) || list[i].from >= t {
		return -1
	}
	return r[0] + i
}

// ended returns the index of the piece that ended last until t, or -1.
func (w *walk) ended(t int64) int {
	i := sort.Search(len(w.byEnd), func(i int) bool { return w.pieces[w.byEnd[i]].to > t })
	if i == 0 {
		return -1
	}
	return int(w.byEnd[i-1])
}

func (w *walk) add(k Kind, thread, from, to int64, name string, code stacks.ID) {
	if from >= to {
		return
	}
	if n := len(w.parts); n > 0 && w.parts[n-1].Kind == k && w.parts[n-1].From == to && w.parts[n-1].Thread == thread && w.parts[n-1].Name == name && w.parts[n-1].Code == code && w.parts[n-1].Wait == 0 {
		w.parts[n-1].From = from
		return
	}
	w.parts = append(w.parts, Part{Kind: k, From: from, To: to, Thread: thread, Name: name, Code: code})
}

// maxHops bounds how deep waits for threads nest that wait for others.
const maxHops = 16

// back adds the parts from t back to floor, beginning on a thread.
func (w *walk) back(thread, t, floor int64, hops int) {
	var after *await   // what goes on at t went on after
	var code stacks.ID // with which it goes on
	of := w.root       // the activity that goes on
	for t > floor {
		i := w.at(thread, t)
		if i < 0 {
			t, thread, of = w.awaited(t, floor, after, code, of)
			after, code = nil, 0
			continue
		}
		p := &w.pieces[i]
		from := max(p.from, floor)
		w.worked(p, from, t, hops)
		if t = from; t <= floor {
			return
		}
		after, code, of = p.await, p.code, p.of
		t, thread = w.cross(i, floor)
	}
}

// awaited adds the time before t in which nothing ran that the continuation waited for, and
// returns where that began: where it was awaited, if the trace has it, else where the work for the same
// activity within it ended that was the last before, or where that activity began, of which others may be
// on beside it; else where there was any.
func (w *walk) awaited(t, floor int64, after *await, code stacks.ID, of uint32) (int64, int64, uint32) {
	name := ""
	if after != nil {
		name, code = after.name, cmp.Or(after.code, code)
		if i := w.at(after.by, after.begin+1); i >= 0 && after.begin < t {
			from := w.pieces[i].to
			if from > t {
				from = after.begin
			}
			from = max(from, floor)
			w.add(Awaiting, 0, from, t, name, code)
			return from, after.by, w.root
		}
	}
	if i := w.endedOf(t, of); i >= 0 && w.pieces[i].to > floor {
		p := &w.pieces[i]
		w.add(Awaiting, 0, p.to, t, cmp.Or(name, w.kin.nameOf(of)), code)
		return p.to, p.thread, w.root
	}
	if c := w.kin.find(of); c != nil && c.from > floor && c.from < t {
		w.add(Awaiting, 0, c.from, t, cmp.Or(name, w.kin.nameOf(of)), code)
		return c.from, -1, c.above
	}
	if i := w.on(t); i >= 0 {
		return t, w.pieces[i].thread, w.root
	}
	w.add(Awaiting, 0, floor, t, name, code)
	return floor, -1, w.root
}

// endedOf returns the index of the piece of an activity, or of one within it, that ended last until t, or -1.
func (w *walk) endedOf(t int64, of uint32) int {
	if w.kin.find(of) == nil {
		return w.ended(t)
	}
	i := sort.Search(len(w.byEnd), func(i int) bool { return w.pieces[w.byEnd[i]].to > t })
	for least := i - maxLooked; i > max(least, 0); {
		i--
		if p := &w.pieces[w.byEnd[i]]; w.kin.isIn(p.of, of) {
			return int(w.byEnd[i])
		}
	}
	return -1
}

// on returns the index of the piece that began last of those that were on at t, or -1.
func (w *walk) on(t int64) int {
	best := -1
	for _, thread := range w.threads[:min(len(w.threads), maxLooked)] {
		if i := w.at(thread, t); i >= 0 && (best < 0 || w.pieces[i].from > w.pieces[best].from) {
			best = i
		}
	}
	return best
}

// cross adds the time between a piece and the event that let it begin, and returns where to go on.
func (w *walk) cross(i int, floor int64) (t, thread int64) {
	p := &w.pieces[i]
	previous := floor
	if i > 0 && w.pieces[i-1].thread == p.thread {
		previous = max(w.pieces[i-1].to, floor)
		if p.from-previous < w.soon && p.item.taken <= previous {
			w.add(Awaiting, 0, previous, p.from, "", p.code)
			return previous, p.thread
		}
		if w.pieces[i-1].completes(p) {
			w.add(Others, p.thread, previous, p.from, "", 0)
			return previous, p.thread
		}
	}
	q := p.item
	if q.taken < previous || q.taken > p.from || q.taken == 0 { // it went on where something else had been done
		return w.released(p.from, p.busy, floor, p.thread), -1
	}
	t = p.from
	if p.from-q.taken >= w.soon {
		t = max(q.taken, floor)
		w.add(Others, p.thread, t, p.from, "", 0)
	}
	if q.queued == 0 || t == floor {
		return t, -1
	}
	e := max(q.queued, floor)
	w.add(Queued, 0, e, t, "", 0)
	if w.at(q.by, e) >= 0 {
		return e, q.by
	}
	return w.releasedBy(&q, e, floor), -1
}

// releasedBy adds the work of the thread that queued an item at a time, of whoever let that
// begin, and so on, as of consumers of queues one after the other.
func (w *walk) releasedBy(q *item, at, floor int64) int64 {
	for {
		at = w.released(at, q.busy, floor, q.by)
		next := q.before
		if next == nil || at != next.taken || at <= floor {
			return at
		}
		from := max(next.queued, floor)
		if i := w.ended(at); i >= 0 {
			from = max(from, w.pieces[i].to)
		}
		w.add(Queued, 0, from, at, "", 0)
		if from != next.queued {
			return from
		}
		q, at = next, from
	}
}

// released adds the work of a thread that let the activity go on at a time, though it did not
// work for that, and returns since when that was.
func (w *walk) released(at, busy, floor, thread int64) int64 {
	if busy == 0 {
		return at
	}
	from := max(busy, floor)
	if i := w.ended(at); i >= 0 {
		from = max(from, w.pieces[i].to)
	}
	if from >= at {
		return at
	}
	w.add(Others, thread, from, at, "", 0)
	return from
}

// worked adds the parts of a piece from one time to another.
func (w *walk) worked(p *piece, from, to int64, hops int) {
	for to > from {
		k, since, code := w.stateBefore(p.thread, from, to)
		if k == Blocked && hops < maxHops {
			if q := w.other(p.thread, since, to); q >= 0 {
				other := &w.pieces[q]
				end := min(other.to, to)
				w.add(Blocked, p.thread, end, to, "", code)
				n := len(w.parts)
				w.back(other.thread, end, since, hops+1)
				hold(w.parts[n:], p.thread, code)
				to = since
				continue
			}
		}
		w.add(k, p.thread, since, to, "", code)
		if k == Lock {
			w.parts[len(w.parts)-1].Owner = w.owner(p.thread, to)
		}
		to = since
	}
}

// hold has those parts be of a blocked thread in which all that it waited for was awaited.
func hold(parts []Part, thread int64, wait stacks.ID) {
	for i := range parts {
		if p := &parts[i]; p.Kind == Awaiting {
			p.Kind, p.Thread, p.Wait = Blocked, thread, wait
		}
	}
}

// other returns the piece of another thread that ended last, or just after, a wait, or -1.
func (w *walk) other(thread, from, to int64) int {
	i := sort.Search(len(w.byEnd), func(i int) bool { return w.pieces[w.byEnd[i]].to > to+w.soon })
	for least := i - maxLooked; i > max(least, 0); {
		i--
		p := &w.pieces[w.byEnd[i]]
		if p.to <= from {
			return -1
		}
		if p.thread != thread && p.from < to {
			return int(w.byEnd[i])
		}
	}
	return -1
}

// stateBefore returns how a thread spent the time just before t, and since when, at the
// earliest from.
func (w *walk) stateBefore(thread, from, t int64) (Kind, int64, stacks.ID) {
	list := w.statesOf(thread)
	i := sort.Search(len(list), func(i int) bool { return list[i].from >= t }) - 1
	switch {
	case i < 0 || list[i].to <= from:
		return Running, from, 0
	case list[i].to < t:
		return Running, list[i].to, 0
	}
	return list[i].kind, max(from, list[i].from), list[i].code
}

// statesOf returns the states of a thread and of all, one at a time.
func (w *walk) statesOf(thread int64) []state {
	list, ok := w.flat[thread]
	if !ok {
		i := sort.Search(len(w.states), func(i int) bool { return w.states[i].thread >= thread })
		j := sort.Search(len(w.states), func(i int) bool { return w.states[i].thread > thread })
		list = flatten(thread, slices.Concat(w.states[i:j], w.pauses))
		w.flat[thread] = list
	}
	return list
}

// owner returns the thread that held the lock for which a thread waited just before t.
func (w *walk) owner(thread, t int64) int64 {
	i := sort.Search(len(w.states), func(i int) bool {
		s := &w.states[i]
		return s.thread > thread || s.thread == thread && s.from >= t
	})
	for i--; i >= 0 && w.states[i].thread == thread; i-- {
		if w.states[i].kind == Lock {
			return w.states[i].by
		}
	}
	return 0
}

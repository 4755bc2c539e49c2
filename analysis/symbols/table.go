package symbols

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/etwgen/etwgen/internal/order"
)

// A Table names addresses. It is made once all is known that can be, and may be
// used by several goroutines.
type Table struct {
	lives map[int64][]*life
	last  atomic.Pointer[life] // that was asked for
}

// A life is the code of a process, sorted so that addresses are found.
type life struct {
	*process
	index        int // among all lives
	began, ended int64
	places       []place // by their start
	areas        areas
}

// A place is where a method is, with all that lookups need. It is half of what a
// processor loads at once.
type place struct {
	from, to int64 // its life, as far as others bound it
	size     uint32
	method   int32
	offset   uint32 // of its start in its area
	back     uint16 // how many places before it may reach beyond its start
}

// maxBack bounds how many methods that are before an address are looked at. Code
// overlaps only where its memory is used again.
const maxBack = 512

// Table returns the code known so far.
func (a *Analysis) Table() *Table {
	t := &Table{lives: make(map[int64][]*life)}
	n := 0
	for pid, list := range a.processes {
		for i, p := range list {
			l := newLife(p)
			if i == 0 {
				l.began = always // of what was before nothing is known
			}
			if i+1 < len(list) {
				l.ended = list[i+1].began
			}
			l.index = n
			n++
			t.lives[pid] = append(t.lives[pid], l)
		}
	}
	return t
}

func newLife(p *process) *life {
	n := p.methods.n
	l := &life{process: p, began: p.began, ended: never, places: make([]place, n)}
	type key struct {
		start  uint64
		anchor int64
		method int32
	}
	keys := make([]key, n)
	for i := range keys {
		m := p.methods.at(int32(i))
		keys[i] = key{m.start, m.anchor(), int32(i)}
	}
	order.Sort(keys, func(x, y key) int {
		if x.start != y.start {
			return cmp.Compare(x.start, y.start)
		}
		return cmp.Or(cmp.Compare(x.anchor, y.anchor), cmp.Compare(x.method, y.method))
	})
	for i, k := range keys {
		m := p.methods.at(k.method)
		l.places[i] = place{from: m.from, to: m.to, size: m.size, method: k.method}
		l.places[i].offset = l.areas.add(i, k.start, l.places[max(i-1, 0)].offset)
	}
	l.areas.finish(l.places)
	l.setBack()
	l.bound()
	return l
}

// anchor is a time of the life of m by which lives of the same memory are ordered.
func (m *method) anchor() int64 {
	if m.from != always {
		return m.from
	}
	return m.seen
}

// last returns the last address of a place.
func (x *place) last(start uint64) uint64 {
	if e := start + uint64(x.size) - 1; e >= start {
		return e
	}
	return ^uint64(0)
}

// far returns how far a time is from the life of a method.
func (x *place) far(at int64) uint64 {
	switch {
	case at < x.from:
		return distance(at, x.from)
	case at >= x.to:
		return distance(at, x.to) + 1
	}
	return 0
}

// at returns the method at a place.
func (l *life) at(i int) *method { return l.methods.at(l.places[i].method) }

// setBack finds, for each method, the first one before it that may still cover addresses
// after its own start.
func (l *life) setBack() {
	first, reach := 0, uint64(0)
	lasts := make([]uint64, len(l.places)) // the largest last address up to each
	for i := range l.places {
		start := l.at(i).start
		reach = max(reach, l.places[i].last(start))
		lasts[i] = reach
		for lasts[first] < start && first < i {
			first++
		}
		l.places[i].back = uint16(min(i-first, maxBack))
	}
}

// maxNeighbours is with how many methods in the same memory each is compared.
const maxNeighbours = 16

// bound completes lives by those of others in the same memory: two methods cannot be
// in one place at one time.
func (l *life) bound() {
	for i := range l.places {
		for j := i - 1; j >= max(i-int(l.places[i].back), i-maxNeighbours); j-- {
			a, b := l.at(j), l.at(i)
			if l.places[j].last(a.start) < b.start {
				continue
			}
			if a.anchor() <= b.anchor() {
				l.boundPair(j, i)
			} else {
				l.boundPair(i, j)
			}
		}
	}
}

// boundPair bounds the lives of two methods, of which the first was there first.
func (l *life) boundPair(first, second int) {
	a, b := l.at(first), l.at(second)
	if a.to == never && a.seen < b.anchor() && b.from != always {
		l.places[first].to = min(l.places[first].to, b.from) // its end was lost
	}
	if b.from == always && b.origin != ByLookup && a.to <= b.seen {
		l.places[second].from = max(l.places[second].from, a.to)
	}
}

// HasRundown reports whether the trace has a rundown at the end of the methods of a
// process. Without one precompiled code has no names.
func (t *Table) HasRundown(pid int64) bool {
	return slices.ContainsFunc(t.lives[pid], func(l *life) bool { return l.rundown > 0 })
}

// life returns the process that has an id at a time.
func (t *Table) life(pid, at int64) *life {
	if l := t.last.Load(); l != nil && l.pid == pid && l.began <= at && at < l.ended {
		return l
	}
	list := t.lives[pid]
	if len(list) == 0 {
		return nil
	}
	i := len(list) - 1
	for i > 0 && list[i].began > at {
		i--
	}
	t.last.Store(list[i])
	return list[i]
}

// only returns the method at an address and a time if no other code was ever there, or
// nil.
func (l *life) only(address uint64, at int64) (int, *place) {
	i, start := l.areas.last(l.places, address)
	if i < 0 {
		return -1, nil
	}
	x := &l.places[i]
	if x.back != 0 || address-start >= uint64(x.size) || at < x.from || at >= x.to {
		return -1, nil
	}
	return i, x
}

// A find is the result of look-ups so far.
type find struct {
	index int
	exact bool
	far   uint64 // from its life
	many  bool   // several methods were there at different times
}

// find returns the method at an address and a time: the one that lived then, or
// else that whose life is nearest.
func (l *life) find(address uint64, at int64) (f find) {
	f.index = -1
	i, start := l.areas.last(l.places, address)
	if i < 0 {
		return f
	}
	for low := i - int(l.places[i].back); ; {
		first := i // of those with the same start
		if first > low && l.at(first-1).start == start {
			first = low + sort.Search(i-low, func(k int) bool { return l.at(low+k).start >= start })
		}
		l.findIn(&f, first, i, address-start, at)
		if i = first - 1; i < low {
			return f
		}
		start = l.at(i).start
	}
}

// maxAround is how many methods with one start are looked at that were there before,
// and after.
const maxAround = 8

// findIn looks at the methods from first to last, which have the same start, for the code at
// an offset in them.
func (l *life) findIn(f *find, first, last int, offset uint64, at int64) {
	if last > first {
		f.many = true
		// The last that was there at the time or before it, and its neighbours.
		k := first + sort.Search(last-first+1, func(i int) bool { return l.at(first+i).anchor() > at }) - 1
		first, last = max(first, k-maxAround), min(last, k+maxAround)
	}
	for k := last; k >= first; k-- {
		x := &l.places[k]
		if offset >= uint64(x.size) {
			continue
		}
		f.many = f.many || f.index >= 0
		switch far := x.far(at); {
		case far == 0 && (!f.exact || x.from > l.places[f.index].from):
			f.index, f.exact, f.far = k, true, 0
		case !f.exact && (f.index < 0 || far < f.far):
			f.index, f.far = k, far
		}
	}
}

// Facts sum up the code of a process.
type Facts struct {
	PID     int64
	Methods int // compiled, each time
	Modules int
	Rundown int // methods that a rundown at the end listed
}

// Facts returns those of each process that has methods, by its id.
func (t *Table) Facts() []Facts {
	var list []Facts
	for pid, lives := range t.lives {
		f := Facts{PID: pid}
		for _, l := range lives {
			f.Methods += l.methods.n
			f.Modules += len(l.modules)
			f.Rundown += l.rundown
		}
		if f.Methods > 0 {
			list = append(list, f)
		}
	}
	order.Sort(list, func(a, b Facts) int { return cmp.Compare(a.PID, b.PID) })
	return list
}

package rewrite

import "github.com/etwgen/etwgen/runtime/etw"

// A moment is the time of an event: a call stack that comes on its own names it.
type moment struct {
	file string
	time int64
}

// moments are the latest that were added. Most traces have no stacks that come on their own,
// and nobody asks: so a set of them is made when somebody does.
type moments struct {
	ring   []moment
	oldest int
	set    map[moment]bool // nil until it is asked for
}

// maxMoments limits their memory: stacks come soon after their events.
const maxMoments = 1 << 18

func (m *moments) add(at moment) {
	switch n := len(m.ring); {
	case m.set != nil:
		if m.set[at] {
			return
		}
		m.set[at] = true
	case n > 0 && m.ring[(m.oldest+n-1)%n] == at:
		return
	}
	if len(m.ring) < maxMoments {
		m.ring = append(m.ring, at)
		return
	}
	delete(m.set, m.ring[m.oldest])
	m.ring[m.oldest] = at
	m.oldest = (m.oldest + 1) % maxMoments
}

func (m *moments) has(at moment) bool {
	if m.set == nil {
		m.set = make(map[moment]bool, len(m.ring))
		from := append(m.ring[m.oldest:len(m.ring):len(m.ring)], m.ring[:m.oldest]...)
		m.ring, m.oldest = make([]moment, 0, len(from)), 0
		for _, at := range from {
			m.add(at)
		}
	}
	return m.set[at]
}

// An emitter is a thread that logs events of a provider.
type emitter struct {
	provider etw.GUID
	thread   int64
}

// emitters is a set of them, which remembers what was set last: most events follow one of
// the same thread.
type emitters struct {
	all  map[emitter]bool
	last emitter
	is   bool // that last is in it
}

func (e *emitters) has(x emitter) bool { return e.all[x] }

func (e *emitters) set(x emitter, is bool) {
	if e.all != nil && e.last == x && e.is == is {
		return
	}
	if e.all == nil {
		e.all = make(map[emitter]bool)
	}
	e.last, e.is = x, is
	if is {
		e.all[x] = true
	} else {
		delete(e.all, x)
	}
}

package code

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// A stay is the place of a thread in samples, as long as it is one.
type stay struct {
	at          stacks.ID
	first, last int64
	moved       bool
}

func (s *stay) see(at stacks.ID, when int64) {
	if s.first == 0 {
		s.at, s.first = at, when
	}
	s.first, s.last, s.moved = min(s.first, when), max(s.last, when), s.moved || s.at != at
}

// besides is how far the first and the last sample of a thread are from those of all, at most: a round of
// the sampler takes a millisecond, and on a crowded machine some tens.
const besides = 200 * time.Millisecond

// stuck says which threads of a process waited in one place in all of their samples, from the first round
// of these to the last: for a lock, or as workers of the thread pool. If they began before the recording,
// no event tells of it.
func stuck(p *stacks.Profile) []findings.Finding {
	var all stay
	threads := make(map[int64]*stay)
	for s := range p.Samples() {
		if _, frame := p.Split(s.Stack); s.Stack == 0 || p.Frames[frame].Pseudo && !p.Frames[frame].Waiting {
			continue
		}
		if threads[s.Thread] == nil {
			threads[s.Thread] = new(stay)
		}
		threads[s.Thread].see(s.Stack, s.Time)
		all.see(s.Stack, s.Time)
	}
	var list []findings.Stay
	for id, t := range threads {
		if t.moved || !p.IsWaiting(t.at) || t.first-all.first > int64(besides) || all.last-t.last > int64(besides) {
			continue
		}
		x := findings.Stay{Thread: id, MS: float64(t.last-t.first) / 1e6}
		if x.Method, x.Lock, x.Pool = placeOf(p, t.at); x.Lock || x.Pool {
			list = append(list, x)
		}
	}
	order.Sort(list, func(a, b findings.Stay) int { return cmp.Compare(a.Thread, b.Thread) })
	return findings.Stuck(list)
}

// placeOf returns the method that called those of the runtime in which a thread waits, whether it waits
// for a lock, and whether it is a worker of the thread pool.
func placeOf(p *stacks.Profile, at stacks.ID) (method string, lock, pool bool) {
	for f := range p.Stack(at) {
		name := p.Frames[f].Name
		switch {
		case p.Frames[f].Waiting:
		case method == "" && strings.HasPrefix(name, "System.Threading."):
			lock = lock || slices.ContainsFunc(entering, func(begin string) bool { return strings.HasPrefix(name, begin) })
		default:
			method = cmp.Or(method, name)
			pool = pool || name == "System.Threading.ThreadPoolWorkQueue.Dispatch"
		}
	}
	return method, lock, pool
}

// entering is the code that waits for locks.
var entering = []string{"System.Threading.Monitor.Enter", "System.Threading.Monitor.TryEnter", "System.Threading.Monitor.ReliableEnter", "System.Threading.Lock."}

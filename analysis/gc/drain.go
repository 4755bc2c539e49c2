package gc

import "slices"

// Drain calls f for each collection that was completed since the last call, with its
// process, and forgets the rest: an analysis that is drained as records come works for days
// in little memory. Result then has the collections that are still there, and sums of these
// alone.
func (a *Analysis) Drain(f func(pid int64, g *GC)) {
	for _, rt := range a.runtimes.All() {
		a.view(rt).drain(f)
	}
}

// drain hands the collections over that are complete. The last of all stays, since the
// next one is measured from it.
func (rt *view) drain(f func(pid int64, g *GC)) {
	s := &rt.State
	var prev *collection
	kept := s.gcs[:0]
	for i, c := range s.gcs {
		if c.complete() && !c.drained {
			c.drained = true
			g := new(GC)
			rt.columns(g, c, prev)
			f(rt.PID, g)
		}
		if prev = c; !c.drained || i == len(s.gcs)-1 {
			kept = append(kept, c)
		}
	}
	if over := len(kept) - maxOpen; over > 0 { // of which something was lost
		kept = slices.Delete(kept, 0, over)
	}
	clear(s.gcs[len(kept):])
	s.gcs = kept
}

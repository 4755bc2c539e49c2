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

// drain hands the collections over that are complete. The last of all stays, since the next
// one is measured from it, and so do those after one that goes on: once it has ended it
// tells of its part of the allocations, which are not known until then.
func (rt *view) drain(f func(pid int64, g *GC)) {
	s := &rt.State
	var prev *collection
	first := len(s.gcs) - 1 // that stays
	for i, c := range s.gcs {
		if !c.drained { // the sizes of a background one come after its end
			first = min(first, i)
		}
		if c.complete() && !c.drained {
			c.drained = true
			g := new(GC)
			rt.columns(g, c, prev)
			f(rt.PID, g)
		} else {
			rt.allocated.since(c)
		}
		prev, rt.goesOn = c, rt.goesOn || !c.drained
	}
	first = max(first, len(s.gcs)-maxOpen, 0) // of more something was lost
	for _, c := range s.gcs[:first] {
		s.before.since(c)
	}
	s.gcs = slices.Delete(s.gcs, 0, first)
}

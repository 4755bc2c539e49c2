package requests

import "github.com/etwgen/etwgen/runtime/etw"

// Choose has those activities alone count that match is true for, and those within them. The
// analysis is to have the records of all: by these it knows where time went.
func (a *Analysis) Choose(match func(provider, task string, act *Activity) bool) { a.choose = match }

// chooses notes whether an activity counts, which is within a parent or none. Its name and its
// endpoint may not be known before its end.
func (a *Analysis) chooses(r *etw.Record, c, parent *activity) {
	switch {
	case c.chosen:
	case a.choose == nil, parent != nil && parent.chosen:
		c.chosen = true
	default:
		c.identify(r.ProcessID)
		c.Endpoint = c.place()
		c.chosen = a.choose(c.task.provider, c.task.name, &c.Activity)
	}
}

// of returns how much an event of an activity counts: of an unknown one nothing, where some are
// chosen.
func (a *Analysis) of(c *activity) int {
	if a.choose != nil && (c == nil || !c.chosen) {
		return 0
	}
	return a.in
}

// slowest is how many activities of each task a Result has if nobody asks for more.
const slowest = 20

// Keep has results have the n activities of each task that took longest.
func (a *Analysis) Keep(n int) { a.most = n }

// began counts an activity that is on, once it has its name.
func (a *Analysis) began(r *etw.Record, c *activity) {
	a.chooses(r, c, c.parent)
	if !c.chosen {
		return
	}
	rt, t := a.processes.At(r, 0), c.task
	rt.State.started += a.in
	c.live = true
	t.live++
	a.level(t)
	if a.in == 1 {
		t.saw(rt.Now)
	}
}

package requests

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/spots"
	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// NameBy has results say in which code threads slept and awaited, where call stacks tell:
// of gives these names, once all is read. Without names, a thread that no event tells of counts as running.
func (a *Analysis) NameBy(of func(*stacks.Samples) *stacks.Profile) {
	a.flow.KeepCode()
	a.named = of
}

// NamedBy has activities say where threads slept as they end, by all, which has read the same records.
func (a *Analysis) NamedBy(all *Analysis) {
	a.flow.ShareCode(all.flow)
	a.known = all.spots()
}

// Hold has OnEnd called by [Analysis.Release], with names. Of more activities than most none is kept.
func (a *Analysis) Hold(most int) { a.holds = most }

// over gives an activity that is over to OnEnd, at once or later.
func (a *Analysis) over(rt *process, c *activity) {
	end := func() {
		if a.tells {
			c.tell(rt, a.known)
		}
		a.ended(rt.PID, c.task.provider, c.task.name, c.Activity)
	}
	if a.holds == 0 {
		end()
	} else if a.held = append(a.held, end); len(a.held) > a.holds {
		a.holds, a.held = -1, nil
	}
}

// Release calls OnEnd for all held, or returns false if there were too many: see [Analysis.NamedBy].
func (a *Analysis) Release() bool {
	a.known = a.spots()
	for _, end := range a.held {
		end()
	}
	return a.holds >= 0
}

// spotsOf are the readings of call stacks, by their numbers.
type spotsOf map[stacks.ID]spots.Spot

func (a *Analysis) spots() spotsOf {
	s := a.flow.Stacks()
	if a.known != nil || a.named == nil || s == nil {
		return a.known
	}
	s.SetReading(cpu.Reading)
	p := a.named(s)
	rules, list := kinds.Default(), make(spotsOf)
	kind, classes := rules.OfFrames(), rules.Classify(p)
	eachStack(p, func(number int64, s stacks.Sample) {
		x := spots.Of(p, s.Stack, kind)
		x.Untold = a.flags[s.Process].Tell() && classes.Unseen(s)
		list[stacks.ID(number)] = x
	})
	return list
}

// places returns the names of the methods that places in code are in, or the places.
func (a *Analysis) places(rt *process, places []uint64) []string {
	names := make([]string, len(places))
	for i, at := range places {
		if names[i] = fmt.Sprintf("%#x", at); at == 0 {
			names[i] = "(not told)"
		}
	}
	if a.named == nil {
		return names
	}
	s := stacks.NewSamples("async methods", stacks.ValueType{Name: "places", Unit: "count"}, stacks.ValueType{Name: "place", Unit: "number"})
	for i, at := range places {
		if at != 0 {
			s.AddStack(rt.When(rt.Now), rt.PID, 0, s.InternAddresses(rt.PID, []uint64{at}), 0, 1, int64(i))
		}
	}
	p := a.named(s)
	eachStack(p, func(number int64, s stacks.Sample) {
		if _, i := p.Split(s.Stack); p.Frames[i].Kind != symbols.Unknown {
			names[number] = p.Frames[i].Name
		}
	})
	return names
}

// eachStack has do called for each stack of a profile, and the number that it is of.
func eachStack(p *stacks.Profile, do func(number int64, s stacks.Sample)) {
	for x := range p.Samples() {
		do(x.Values[len(x.Values)-1], x)
	}
}

// of returns a cause by call stacks: a thread of which samples say that it waits did not run,
// and an await is told by the method that did, behind the name that the trace has for it; one
// of libraries tells no more than that. A thread that was blocked until something was over that
// was awaited is told by both.
func (p spotsOf) of(c cause) cause {
	x, ok := p[c.code]
	wait, held := p[c.wait]
	c.code, c.wait = 0, 0
	switch {
	case held:
		what := c.name
		if ok && x.In != "" && (what == "" || !x.OfLib) {
			what = x.Name(what)
		}
		c.name, c.onTask = wait.Name(wait.What), wait.Task
		if what != "" {
			c.name += " for " + what
		}
	case !ok:
	case c.kind == activities.Running && x.Waits, c.kind == activities.Ready && x.Asleep(), c.kind == activities.Blocked:
		c.kind, c.name, c.onTask = activities.Blocked, x.Name(x.What), x.Task
	case c.kind == activities.Running && x.Untold:
		c.kind, c.name = activities.Untold, x.Name(x.What)
	case c.kind == activities.Awaiting && x.In != "" && (c.name == "" || !x.OfLib):
		c.name = x.Name(c.name)
	}
	return c
}

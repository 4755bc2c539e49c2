package activities

import (
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// A Caller is code that waits for the work of a thread.
type Caller struct {
	Code stacks.ID // its call stack, which [Analysis.Stacks] has
	// Awaits is a method that is awaited itself, so that the next caller is its own. Others
	// were called as their stack says, up to where that went on after an await.
	Awaits bool
}

// OnCallers has do called whenever a thread that works for an activity begins something, or
// goes on after an await: with those that wait for it, the next one first. That are the
// methods which await the one that runs, or else the code that scheduled the task.
func (a *Analysis) OnCallers(do func(pid, thread int64, at time.Duration, callers []Caller)) {
	a.KeepCode()
	a.callers = do
}

// maxCallers bounds how many of them are followed.
const maxCallers = 64

// called finds who waits for the work that a thread begins, after an await or none.
func (a *Analysis) called(rt *runtime, t *thread, after *await) {
	if a.callers == nil {
		return
	}
	var list, more []Caller
	switch {
	case after != nil:
		more = after.callers
		for next := after.then; next != 0 && len(list) < maxCallers; {
			w, ok := rt.State.waits[next]
			if !ok {
				break
			}
			list = append(list, Caller{w.code, true})
			next, more = w.then, w.callers
		}
		if len(list) > 0 {
			list[len(list)-1].Awaits = false
		}
	case t.began.code != 0 && rt.Now-t.began.began < rt.Ticks(inline):
		list, more = append(list, Caller{Code: t.began.code}), t.began.callers
	}
	list = append(list, more...)
	a.goBack(rt, t, list[:min(len(list), maxCallers)])
}

// goBack puts a thread back to work that others wait for.
func (a *Analysis) goBack(rt *runtime, t *thread, callers []Caller) {
	if a.callers != nil && !slices.Equal(t.callers, callers) {
		t.callers = callers
		a.callers(rt.PID, t.id, rt.Elapsed(rt.Now), callers)
	}
}

package activities

import (
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// maxPauses bounds how many pauses are remembered.
const maxPauses = 1 << 14

func (a *Analysis) followStates(mux *etw.Mux) {
	on(a, mux, a.followSample)
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *clr.AnyMethodJittingStarted) {
		if len(t.compiling) == maxSaved {
			t.compiling = t.compiling[1:]
		}
		t.compiling = append(t.compiling, compiling{e.MethodID, rt.Now})
	})
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *clr.AnyMethodLoadVerbose) {
		i := slices.IndexFunc(t.compiling, func(c compiling) bool { return c.method == e.MethodID })
		if i >= 0 {
			t.spent(state{from: t.compiling[i].since, to: rt.Now, kind: JIT})
			t.compiling = t.compiling[:i]
		}
	})
}

// followWaits registers handlers of events that tell when threads waited, and went on with what they do.
func (a *Analysis) followWaits(mux *etw.Mux) {
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *clr.AnyContentionStart) {
		t.waiting[Lock] = wait{since: rt.Now, owner: int64(e.LockOwnerThreadID)}
	})
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, _ *clr.AnyContentionStop) { t.goesOn(Lock, rt.Now) })
	on(a, mux, func(rt *runtime, t *thread, r *etw.Record, _ *clr.AnyWaitHandleWaitStart) {
		w := wait{since: rt.Now}
		rt.State.waited = true
		if t.cur != nil {
			w.code = a.code(r, true)
		}
		t.waiting[Blocked] = w
	})
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, _ *clr.AnyWaitHandleWaitStop) { t.goesOn(Blocked, rt.Now) })
}

// resume ends a stop for a collection.
func (p *process) resume(now int64) {
	if p.paused != 0 {
		if len(p.pauses) == maxPauses {
			p.pauses = slices.Delete(p.pauses, 0, maxPauses/2)
		}
		p.pauses = append(p.pauses, state{from: p.paused, to: now, kind: GC})
	}
	p.paused = 0
}

// gap forgets the waits and the pause that a thread told of, since events of it were lost, of which
// there are so many now: their ends may be among these.
func (p *process) gap(t *thread, lost uint32) {
	t.lost, t.waiting = lost, [len(t.waiting)]wait{}
	if p.pauser == t {
		p.paused = 0
	}
}

// goesOn ends a wait of a thread.
func (t *thread) goesOn(k Kind, now int64) {
	if w := t.waiting[k]; w.since != 0 {
		t.spent(state{from: w.since, to: now, kind: k, by: w.owner, code: w.code})
	}
	t.waiting[k], t.resumed = wait{}, now
}

// spent notes how a thread spent a time.
func (t *thread) spent(s state) {
	if x := t.cur.on(); x != nil && s.from < s.to {
		s.thread = t.id
		x.keep(nil, []state{s})
	}
}

// Sampled returns how many samples of threads of a process there were while they worked for activities, and of
// how many of them the runtime says that they were outside managed code.
func (a *Analysis) Sampled(pid int64) (all, outside int) {
	for rt := range a.processes.OfProcess(pid) {
		all, outside = all+rt.State.sampled, outside+rt.State.outside
	}
	return all, outside
}

// SeesSwitches reports whether a kernel told when a thread of a process had no processor.
func (a *Analysis) SeesSwitches(pid int64) bool {
	for rt := range a.processes.OfProcess(pid) {
		for _, t := range rt.State.threads {
			if t.switched != 0 {
				return true
			}
		}
	}
	return false
}

// SeesWaits reports whether the trace tells when threads of a process wait: else they seem to run.
func (a *Analysis) SeesWaits(pid int64) bool {
	for rt := range a.processes.OfProcess(pid) {
		if rt.State.waited {
			return true
		}
	}
	return false
}

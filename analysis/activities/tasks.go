package activities

import (
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// followTasks takes an event of tasks. They name awaited tasks; and where the runtime does
// not say for whom threads work, they do.
func (a *Analysis) followTasks(rt *runtime, t *thread, r *etw.Record, e *taskEvent) {
	p, task := &rt.State, e.task(r.ID)
	switch r.ID {
	case setActivityID:
		p.flow = true
		t.settle()
		x := p.meet(e.guid(), t)
		unsure := t.unsure
		t.unsure = nil
		a.work(rt, t, x)
		t.unsure = unsure
		if x != nil {
			t.code = a.code(r, false)
		}
	case taskScheduled:
		p.tasks = true
		if x := p.seen(r, t); x != nil {
			m := made{of: x}
			if a.callers != nil {
				m.code, m.callers = a.code(r, false), t.callers
			}
			put(&p.made, task, m)
		}
	case taskStarted:
		t.began = p.made[task]
		t.began.began = rt.Now
		delete(p.made, task)
		if !p.flow {
			t.save(task)
			a.work(rt, t, t.began.of)
		}
	case taskCompleted:
		if !p.flow {
			a.restore(rt, t, task)
		}
	case taskWaitBegin:
		p.tasks = true
		w := await{then: e.int32(16), begin: rt.Now, by: t.id, name: operation(p.names[task]), of: p.seen(r, t), block: e.blocks()}
		if w.of != nil {
			w.code, w.callers = a.code(r, w.block), t.callers
		}
		put(&p.waits, task, w)
	case taskWaitEnd:
		a.awaited(rt, t, task)
	case taskWaitHandled:
		a.restore(rt, t, task)
	case traceOperationBegin:
		put(&p.names, task, e.text(4))
	case traceOperationEnd:
		delete(p.names, task)
	}
}

// put adds to a map, of which a damaged trace can make no more than there is room for.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil || len(*m) >= maxOpen {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}

// awaited takes the end of a wait for a task. It comes before the context of the
// continuation, so its own activity is that of whoever completed the task.
func (a *Analysis) awaited(rt *runtime, t *thread, task int32) {
	p := &rt.State
	w, ok := p.waits[task]
	delete(p.waits, task)
	if ok && w.block {
		t.spent(state{from: w.begin, to: rt.Now, kind: Blocked, code: w.code})
		return
	}
	if ok {
		t.goOn(&w, rt.Now, rt.Ticks(inline))
	}
	t.save(task)
	switch {
	case !p.flow:
		a.work(rt, t, w.of)
	case ok && t.cur != nil:
		a.called(rt, t, &w)
	}
}

// goOn notes the wait after which a thread goes on. Of several that end at once the first one
// that the trace names is the innermost. A wait for something else than a task ends before
// there is such an event: then the thread works already, and the first wait for a task tells
// of it.
func (t *thread) goOn(w *await, now, soon int64) {
	switch {
	case t.cur != nil && t.after == nil && now-t.since < soon && w.begin < t.since && w.of.isIn(t.cur):
		t.after = w
	case t.await == nil || now-t.ended >= soon:
		t.await, t.ended, t.hint = w, now, w.of
	}
}

// seen returns the activity that a thread works for, by the id of a record if need be.
func (p *process) seen(r *etw.Record, t *thread) *Activity {
	if x := p.live[r.ActivityID]; x != nil && !p.flow {
		return x
	}
	return t.cur
}

// save notes for whom a thread worked when a task or continuation began on it.
func (t *thread) save(task int32) {
	if len(t.saved) == maxSaved {
		t.saved = slices.Delete(t.saved, 0, 1)
	}
	t.saved = append(t.saved, saved{task, t.cur, t.callers})
}

// restore has a thread work for whom it did before a task or continuation began on it.
// Runtimes before 6 leave the last activity of that on the thread.
func (a *Analysis) restore(rt *runtime, t *thread, task int32) {
	for i := len(t.saved) - 1; i >= 0; i-- {
		if t.saved[i].task == task {
			s := t.saved[i]
			t.saved = t.saved[:i]
			a.work(rt, t, s.of)
			a.goBack(rt, t, s.callers)
			return
		}
	}
}

// operation returns the name of a method from that of an operation, such as Async:
// <GetAsync>d__5.
func operation(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Async: "), "Task: ")
	if i, j := strings.LastIndexByte(name, '<'), strings.IndexByte(name, '>'); i >= 0 && i < j {
		return name[i+1 : j]
	}
	return name
}

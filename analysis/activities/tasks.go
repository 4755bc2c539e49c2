package activities

import (
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/dotnet/tasks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// followTasks registers the handlers of the events of tasks. They name what is awaited; and
// where the runtime does not say for whom threads work, they do.
func (a *Analysis) followTasks(mux *etw.Mux) {
	on(a, mux, func(rt *runtime, t *thread, r *etw.Record, e *taskScheduled) {
		p := &rt.State
		p.tasks = true
		if p.made == nil || len(p.made) >= maxOpen {
			p.made = make(map[int32]*Activity)
		}
		if x := p.seen(r, t); x != nil {
			p.made[e.TaskID] = x
		}
	})
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *tasks.AnyTaskStarted) {
		x := rt.State.made[e.TaskID]
		delete(rt.State.made, e.TaskID)
		if !rt.State.flow {
			t.save(e.TaskID)
			a.work(rt, t, x)
		}
	})
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *tasks.AnyTaskCompleted) {
		if !rt.State.flow {
			a.restore(rt, t, e.TaskID)
		}
	})
	on(a, mux, func(rt *runtime, t *thread, r *etw.Record, e *taskWaitBegin) {
		p := &rt.State
		p.tasks = true
		if p.waits == nil || len(p.waits) >= maxOpen {
			p.waits = make(map[int32]await)
		}
		p.waits[e.TaskID] = await{begin: rt.Now, by: t.id, name: operation(p.names[e.TaskID]), of: p.seen(r, t), block: e.Behavior == tasks.TaskWaitBehaviorSynchronous}
	})
	on(a, mux, a.awaited)
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *tasks.AnyTaskWaitContinuationComplete) {
		a.restore(rt, t, e.TaskID)
	})
	on(a, mux, func(rt *runtime, _ *thread, _ *etw.Record, e *tasks.AnyTraceOperationBegin) {
		p := &rt.State
		if p.names == nil || len(p.names) >= maxOpen {
			p.names = make(map[int32]string)
		}
		p.names[e.TaskID] = e.OperationName.String()
	})
	on(a, mux, func(rt *runtime, _ *thread, _ *etw.Record, e *tasks.AnyTraceOperationEnd) {
		delete(rt.State.names, e.TaskID)
	})
}

// awaited takes the end of a wait for a task. It comes before the context of what goes on,
// so its own activity is that of whoever completed the task.
func (a *Analysis) awaited(rt *runtime, t *thread, _ *etw.Record, e *tasks.AnyTaskWaitEnd) {
	p := &rt.State
	w, ok := p.waits[e.TaskID]
	delete(p.waits, e.TaskID)
	if ok && w.block {
		t.spent(Blocked, w.begin, rt.Now)
		return
	}
	if ok {
		t.goOn(&w, rt.Now, rt.Ticks(inline))
	}
	t.save(e.TaskID)
	if !p.flow {
		a.work(rt, t, w.of)
	}
}

// goOn notes the wait after which a thread goes on. Of several that end at once the first one
// that the trace names is the innermost. What is no task ends before there is such an event:
// then the thread works already, and the first wait for a task tells of it.
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
	t.saved = append(t.saved, saved{task, t.cur})
}

// restore has a thread work for whom it did before a task or continuation began on it.
// Runtimes before 6 leave the last activity of that on the thread.
func (a *Analysis) restore(rt *runtime, t *thread, task int32) {
	for i := len(t.saved) - 1; i >= 0; i-- {
		if t.saved[i].task == task {
			x := t.saved[i].of
			t.saved = t.saved[:i]
			a.work(rt, t, x)
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

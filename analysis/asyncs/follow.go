package asyncs

import "github.com/etwgen/etwgen/runtime/etw"

// A thread tells of itself from its first reset on: events before that are of an earlier
// recording.
type thread struct {
	id    int64
	tells bool
	runs  []run // that are on, the innermost last
	now   int64 // times of a thread do not go back, even if its buffers do
	trace [16]byte
}

// A run is a time in which a thread goes on with a task. Times are ticks.
type run struct {
	task        uint64
	from, since int64 // since when the present method runs
	told        bool  // its frames
	frames      []uint64
	over        []int64 // of frames, when the first ones were
}

// A method is a place in one that ran and awaited.
type method struct{ ran, awaited times }

// times are some, in ticks.
type times struct {
	n              int
	total, longest int64
}

func (x *times) add(ticks int64) {
	x.n, x.total, x.longest = x.n+1, x.total+ticks, max(x.longest, ticks)
}

// A task suspends and goes on, maybe on threads whose buffers come in any order.
type task struct{ marks []mark }

// A mark is when a task suspended, or with which method it went on.
type mark struct {
	at    int64
	goes  bool
	frame uint64
}

// The bounds of the state of a process.
const (
	maxThreads = 1 << 16
	maxNested  = 256
	maxFrames  = 1 << 10
	maxMethods = 1 << 16
	maxTasks   = 1 << 17
	maxMarks   = 1 << 10
	maxTraces  = 1 << 16
)

// follow takes an event in a buffer.
func (a *Analysis) follow(rt *runtime, r *etw.Record, t *thread, e *event) {
	p := &rt.State
	e.at = max(e.at, t.now)
	t.now = e.at
	switch e.op {
	case metadata:
		p.clock = e.clock
		return
	case syncClock:
		p.clock.Origin, p.clock.Start = e.clock.Origin, e.clock.Start
		return
	case traceID:
		t.trace = e.trace
		if len(p.traces) < maxTraces && e.trace != [16]byte{} {
			p.traces[e.trace] = struct{}{}
		}
		return
	case reset:
		for len(t.runs) > 0 {
			a.end(rt, r, t, e.at)
		}
		t.tells = true
		return
	}
	switch {
	case t.tells:
		a.step(rt, r, t, e)
	case e.op != 0:
		p.Untold++
	}
}

// step takes an event of a task.
func (a *Analysis) step(rt *runtime, r *etw.Record, t *thread, e *event) {
	p, x := &rt.State, t.on()
	switch e.op {
	case create:
		p.mark(e.task, mark{at: e.at})
	case resume:
		a.begin(rt, r, t, e)
	case resumeStack:
		if x == nil || x.told || x.task != e.task || x.from != e.at {
			a.begin(rt, r, t, e)
		}
		t.on().tell(e.frames)
		p.mark(e.task, mark{e.at, true, t.on().method()})
	case appendStack:
		if x != nil && x.task == e.task {
			x.tell(e.frames)
		}
	case suspend, complete:
		if x == nil {
			p.Untold++
			return
		}
		id := x.task
		a.end(rt, r, t, e.at)
		if e.op == suspend {
			p.mark(id, mark{at: e.at})
		} else {
			p.over = append(p.over, id)
		}
	case endMethod:
		x.finish(p, 1, e.at)
	case unwind:
		x.finish(p, e.unwound, e.at)
	}
}

// finish ends the first n methods of those of a run that go on.
func (x *run) finish(p *process, n uint64, now int64) {
	if x == nil {
		return
	}
	p.charge(x, now)
	for ; n > 0 && len(x.over) < len(x.frames); n-- {
		x.over = append(x.over, now)
	}
}

// on returns the innermost run, or nil.
func (t *thread) on() *run {
	if len(t.runs) == 0 {
		return nil
	}
	return &t.runs[len(t.runs)-1]
}

// begin begins a run.
func (a *Analysis) begin(rt *runtime, r *etw.Record, t *thread, e *event) {
	for len(t.runs) >= maxNested { // ends were lost
		a.end(rt, r, t, e.at)
	}
	if x := t.on(); x != nil {
		rt.State.charge(x, e.at)
	}
	t.runs = append(t.runs, run{task: e.task, from: e.at, since: e.at})
}

// tell gives a run methods that await those that it has.
func (x *run) tell(frames []uint64) {
	x.told = true
	x.frames = append(x.frames, frames[:min(len(frames), maxFrames-len(x.frames))]...)
}

// method returns the place in the method that runs, or 0.
func (x *run) method() uint64 {
	if len(x.over) < len(x.frames) {
		return x.frames[len(x.over)]
	}
	return 0
}

// charge counts the time since the method of a run began.
func (p *process) charge(x *run, now int64) {
	if m := p.method(x.method()); m != nil && now > x.since {
		m.ran.add(now - x.since)
	}
	x.since = now
}

func (p *process) method(at uint64) *method {
	m := p.methods[at]
	if m == nil && len(p.methods) < maxMethods {
		m = new(method)
		p.methods[at] = m
	}
	return m
}

// end ends the innermost run of a thread.
func (a *Analysis) end(rt *runtime, r *etw.Record, t *thread, now int64) {
	p, x := &rt.State, t.on()
	p.charge(x, now)
	p.Runs++
	depth := len(t.runs) - 1
	if depth == 0 {
		p.ran += now - x.from
	}
	if a.ran != nil {
		out := Run{Thread: t.id, From: p.elapsed(r, x.from), To: p.elapsed(r, now), Task: x.task, Depth: depth, Frames: x.frames, Trace: t.trace}
		for _, at := range x.over {
			out.Over = append(out.Over, p.elapsed(r, at))
		}
		a.ran(rt.PID, out)
	}
	t.runs[depth] = run{}
	if t.runs = t.runs[:depth]; depth > 0 {
		t.runs[depth-1].since = now
	}
}

// mark notes when a task suspended, or went on. Its awaits are settled when there is no room for
// others and it is long over, or at last: whichever buffers of it come, others may be on the way.
func (p *process) mark(id uint64, m mark) {
	x := p.tasks[id]
	if x == nil {
		if len(p.tasks) >= maxTasks && !p.settleOldest() {
			p.Untold++
			return
		}
		x = new(task)
		p.tasks[id] = x
	}
	if len(x.marks) >= maxMarks {
		p.settle(x, p.methods)
		x.marks = x.marks[:0]
	}
	x.marks = append(x.marks, m)
}

// settleOldest settles the awaits of the task that was over first, if any is.
func (p *process) settleOldest() bool {
	if len(p.over) == 0 {
		return false
	}
	if x := p.tasks[p.over[0]]; x != nil {
		p.settle(x, p.methods)
	}
	delete(p.tasks, p.over[0])
	p.over = p.over[1:]
	return true
}

// sort sorts the marks, which mostly are.
func (x *task) sort() {
	for i := range x.marks {
		for ; i > 0 && x.marks[i].at < x.marks[i-1].at; i-- {
			x.marks[i], x.marks[i-1] = x.marks[i-1], x.marks[i]
		}
	}
}

// settle counts the awaits of a task, as far as they are told.
func (p *process) settle(x *task, methods map[uint64]*method) {
	x.sort()
	for i, m := range x.marks {
		if !m.goes {
			continue
		}
		if of := methods[m.frame]; of != nil && i > 0 && !x.marks[i-1].goes {
			of.awaited.add(m.at - x.marks[i-1].at)
		}
	}
}

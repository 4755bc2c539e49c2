package activities

import (
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A process is the state of one. Times are ticks.
type process struct {
	threads          map[int64]*thread
	live             map[etw.GUID]*Activity // those that are on, or were met, by their ids
	queued           map[int64]item         // in the queue of the thread pool, by what they are
	waits            map[int32]await        // for tasks
	names            map[int32]string       // of tasks
	made             map[int32]made         // tasks that were scheduled
	pauses           []state                // for collections
	paused           int64                  // since when, 0 if it is not
	pauser           *thread                // that told it
	flow             bool                   // the runtime says for whom threads work
	tasks            bool                   // there are events of tasks
	looked           bool                   // there are samples
	sampled, outside int                    // samples of threads at work, and of them outside managed code
	begun            map[variety]bool       // of which there were starts
	waited           bool                   // there are events or samples of threads that wait
	soon             int64                  // within which work goes on
	activities       uint32                 // that there were
	window           window.Window          // in ticks: the parts within count
	walk             walk                   // of the activity that ended last
}

// A thread works for one activity at a time.
type thread struct {
	id             int64
	cur            *Activity // that it works for
	since          int64
	next, previous *thread   // that work for the same
	before         *Activity // that it worked for just before
	busy           int64     // since when it did that, or what had no activity
	resumed        int64     // when it last stopped waiting
	item           item      // that it took last
	await          *await    // that ended last
	ended          int64     // when that was
	after          *await    // that it goes on after, or nil
	unsure         *Activity // one of those on under an id, of which it works for some
	hint           *Activity // for whom goes on what it took, or what was awaited
	saved          []saved   // for whom it worked when continuations began
	began          made      // the task that it began last
	callers        []Caller
	waiting        [Blocked + 1]wait
	lost           uint32 // events so far: see [etw.Record]
	sampled        sampling
	rest           rest
	switched       int64     // when a kernel last told whether it has a processor
	code           stacks.ID // with which it began to work
	compiling      []compiling
}

type saved struct {
	task    int32
	of      *Activity
	callers []Caller
}

// A made is a task: for whom it was scheduled, by which code, and when it began.
type made struct {
	of      *Activity
	code    stacks.ID
	callers []Caller // of that
	began   int64
}

// An item was queued by a thread, and taken by another one. No time is 0.
type item struct {
	queued, taken int64
	moved         bool // it was queued under another number than it was taken by
	address       bool // that its number is, as those of .NET Core 3.1 are
	by            int64
	busy          int64     // since when by did what it did
	of            *Activity // that by worked for
	// before is what by took itself before it did that, if it worked for no activity.
	before *item
}

// maxBefore bounds how far back it is kept what let a thread go on that works for nobody.
const maxBefore = 4

// last returns the item that a thread works on that works for nobody, with those before it.
func (t *thread) last() *item {
	if t.cur != nil || t.item.queued == 0 || t.item.taken != t.working() {
		return nil
	}
	first := t.item
	for at, n := &first, 1; at.before != nil; n++ {
		if n == maxBefore {
			at.before = nil
			break
		}
		next := *at.before
		at.before, at = &next, &next
	}
	return &first
}

// An await is the time in which an activity had nothing to run.
type await struct {
	begin   int64
	by      int64  // the thread that awaited
	name    string // of the operation, where the trace has it
	of      *Activity
	block   bool      // a thread waited in it
	code    stacks.ID // that awaited
	then    int32     // the task of the method that did
	callers []Caller  // of that
}

// maxThreads bounds how many threads of a process are followed, and maxOpen how many
// waits, items and tasks are.
const (
	maxThreads = 1 << 16
	maxOpen    = 1 << 16
	maxSaved   = 64
)

// justNow is how long before its event a start or stop can change for whom a thread works.
const justNow = 200 * time.Microsecond

func (p *process) thread(id int64) *thread {
	t := p.threads[id]
	if t != nil || len(p.threads) >= maxThreads {
		return t
	}
	if p.threads == nil {
		p.threads = make(map[int64]*thread)
	}
	t = &thread{id: id}
	p.threads[id] = t
	return t
}

// work has a thread work for an activity, or for none.
func (a *Analysis) work(rt *runtime, t *thread, to *Activity) {
	if to == t.cur {
		return
	}
	t.settle()
	t.back(rt.Now)
	for _, s := range rt.State.unseen(t, rt.Now, rt.Ticks(inline)) {
		t.spent(s)
	}
	t.endSample(rt.Now)
	old, from := t.cur, t.since
	t.leave()
	if old != nil {
		a.close(rt, t, old, from)
	}
	t.before, t.busy = old, t.working()
	t.join(to)
	t.since, t.after, t.code = rt.Now, nil, 0
	if to != nil && t.item.moved {
		t.find(&rt.State, to)
	}
	if to != nil && t.await != nil && rt.Now-t.ended < rt.Ticks(inline) && t.await.of.isIn(to) {
		t.after, t.await = t.await, nil
	}
	if to != nil {
		a.called(rt, t, t.after)
	}
}

// settle notes, at the end of work for one of several activities, that the trace does not
// tell for which.
func (t *thread) settle() {
	t.unsure.unsettle()
	t.unsure = nil
}

// anew has a thread begin with something, for nobody yet. With own it is no part of the item that the
// thread took last.
func (a *Analysis) anew(rt *runtime, t *thread, own bool) {
	a.work(rt, t, nil)
	t.resumed = rt.Now
	if own {
		t.item = item{}
	}
}

// working returns since when a thread does its present work, as far as that is known.
func (t *thread) working() int64 { return max(t.since, t.item.taken, t.resumed) }

// close ends a span.
func (a *Analysis) close(rt *runtime, t *thread, of *Activity, from int64) {
	for x := of; x != nil; x = x.Parent {
		if x.Over {
			from, to := rt.State.window.Clip(max(from, x.End), rt.Now)
			late := to - from
			x.Late += late
			for _, sum := range x.AllLate {
				*sum += late
			}
		}
	}
	if x := of.on(); x != nil && from < rt.Now {
		x.keep([]piece{t.piece(from, rt.Now, of)}, nil)
	}
	a.span(rt, t, of, from, rt.Now)
}

// prolong has the last span of a thread last until now.
func (a *Analysis) prolong(rt *runtime, t *thread) {
	if x := t.before.on(); x != nil {
		for i := len(x.pieces) - 1; i >= max(0, len(x.pieces)-8); i-- {
			if p := &x.pieces[i]; p.thread == t.id && p.to == t.since {
				p.to = rt.Now
				break
			}
		}
	}
	a.span(rt, t, t.before, t.since, rt.Now)
	t.since = rt.Now
}

// piece returns the time in which the thread has worked for an activity.
func (t *thread) piece(from, to int64, of *Activity) piece {
	return piece{thread: t.id, from: from, to: to, item: t.item, busy: t.busy, await: t.after, code: t.code, of: of.number}
}

// enqueue notes an item that a thread has put into the queue.
func (p *process) enqueue(now int64, t *thread, id int64) {
	put(&p.queued, id, item{queued: now, by: t.id, busy: t.working(), of: t.cur, before: t.last(), address: isAddress(id)})
}

// dequeue notes the item that a thread has taken. The same one may be queued again.
func (p *process) dequeue(now int64, t *thread, id int64) {
	i, ok := p.queued[id]
	if !ok {
		i = item{by: t.id, moved: isAddress(id), address: isAddress(id)}
	}
	delete(p.queued, id)
	i.taken = now
	t.item, t.hint, t.await = i, i.of, nil
}

// isAddress reports whether the number of an item has more bits than a hash. Those of .NET Core 3.1 are
// addresses, and a collection moves items that wait for long.
func isAddress(id int64) bool { return id != int64(int32(id)) }

// mostSearched bounds among how many items those are looked for that were moved.
const mostSearched = 1 << 12

// find has the item that a thread took, which was moved, be the first that was queued for the activity
// for which the thread works by it.
func (t *thread) find(p *process, of *Activity) {
	t.item.moved = false
	if len(p.queued) > mostSearched {
		return
	}
	first := int64(0)
	for id, i := range p.queued {
		if i.of == of && isAddress(id) && i.queued < t.item.taken && (first == 0 || i.queued < p.queued[first].queued) {
			first = id
		}
	}
	if first == 0 {
		return
	}
	i, taken := p.queued[first], t.item.taken
	delete(p.queued, first)
	i.taken = taken
	t.item = i
}

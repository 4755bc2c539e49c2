// Package threads answers when the threads of a machine run, when they are ready to but do
// not, and their waits, by call stack. Use it for the time that samples of processors do not
// show: that of threads which wait.
//
// The kernel of Windows tells of each change of the thread that runs on a processor
// (flags CSWITCH and, for who ends a wait, DISPATCHER), with the stack of the thread
// that comes: it is where it had stopped.
//
// # The states of a thread
//
// From the first event about a thread on, each moment of its life is one of these: running,
// ready (it could run, but no processor does it), waiting, or unknown. The last is the time
// between two events that contradict each other: of a trace that a tool filtered, or that
// lost events. A thread runs only as long as the next switch on its processor says that it
// was the one that ran there. Where a trace does not have all that was recorded, each time in which
// events of a processor are missing is unknown of all threads that are not seen to run.
//
// Recorders of Linux tell when a thread goes off its processor, and for how long: their
// account of it begins where it first went, or a sample was taken of it, and ends where it
// last came back, or the last sample was taken. The scheduler of Linux, if its events
// sched_switch and sched_wakeup were recorded, tells the same as Windows.
//
// A wait ends when another thread makes it ready (ReadyThread). Where these events
// are missing, it lasts until the thread runs.
//
// The last state of a thread lasts to the last switch or sample of any, as that of a processor does
// for [system.Usage]. Later events do not tell that switches were still recorded: a session lists
// all there is when it stops, and others that were merged with it may last longer.
package threads

import (
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/switches"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the threads in the records that a [etw.Mux] dispatches.
type Analysis struct {
	machine    *system.Machine
	window     *window.Window
	bound      *system.Stacks[int64]
	threads    map[*system.Thread]*thread
	order      []*thread
	processors []processor
	off        []off
	most       int   // how many are kept
	dropped    int64 // those that are kept no more
	moved      int64 // the number of the first that is where it was
	folded     int   // those that were summed up
	sumsOnly   bool
	now        int64 // times do not go back
	origin     int64 // of the session

	longestFolded int64

	gone   []span // when processors have no events
	rested []rest // the latest mostOff

	begun     bool
	switches  window.Count
	readies   window.Count
	gaps      window.Count
	strays    window.Count
	blurred   bool              // there are events that do not tell waiting from being ready
	scheduler bool              // there are those of the scheduler of Linux
	partial   bool              // it does not tell of all that come to processors
	kernels   map[int64]*thread // by the numbers that the kernel of Linux gives
	onRun     func(t *system.Thread, from, to int64)
	onOff     func(t *system.Thread, from, readied, till int64, by Waker)
}

// A doing is the state of a thread.
type doing uint8

const (
	unknown doing = iota
	running
	ready
	waiting
	doings
)

// A thread is the state of one.
type thread struct {
	*system.Thread
	does      doing
	since     int64
	processor int              // on which it runs, or anywhere
	last      int64            // the number of its last time off, if it runs since that ended; else -1
	begins    bool             // it has not run yet
	unseen    bool             // it waits since a time that no event tells
	why       string           // it waits
	stack     system.CallStack // of where it stopped, on Linux
	// On Linux: its last in off, where those are told whole, or -1, and its first and last sample.
	rest         int64
	met, sampled int64
	back         int64 // when it comes back, if a recorder tells that ahead of the scheduler
	left         bool  // the scheduler told that it went
	samples      int64 // of it, in intervals
	// readied is when a wait ended, readier who ended it, if byOther.
	readied int64
	readier Waker
	byOther bool

	first int64
	seen  bool // first is known
	// ranFrom and ranTo are when it ran last, 0 if that is not known.
	ranFrom, ranTo int64
	over           bool
	sums, dark     [doings]int64 // dark are those of sums that are unknown: see dark.go
	switches       int
	waits          int
	forced         int // off a processor though ready
	longest        int64
	longestLit     int64
	rests          *folded // times off that are not kept; nil without any
}

// A Waker is who made a thread ready.
type Waker struct {
	thread    *system.Thread
	interrupt bool  // work that a device or a timer had the kernel do
	stay      *stay // in which the thread did, if the event did not tell it
}

// A stay is the time of a thread on a processor.
type stay struct{ doubtful bool } // another thread left it: who ran in between is in no event

// Thread returns the thread, or nil if it is not known. It is to be called when all records have
// been: the next switch on the processor tells whether it was the one that ran there.
func (w *Waker) Thread() *system.Thread {
	if w.stay != nil && w.stay.doubtful {
		return nil
	}
	return w.thread
}

// An off is a time between two in which a thread ran: it waited, then was ready.
type off struct {
	thread              *thread
	from, readied, till int64
	ranFrom             int64 // since when it ran before, 0 if that is not known
	waited, byOther     bool
	begins              bool   // the thread has not run before
	unseen              bool   // it waited since a time that no event tells
	blurred             bool   // it may have been ready
	open                bool   // the wait is not over
	why                 string // it waited
	readier             Waker
	stack               system.CallStack
	processor           int32 // that it came to, or -1
	ran                 int64 // from till on, or -1 if that is not known
}

// A processor runs one thread at a time.
type processor struct {
	thread *thread
	stay   *stay // of thread, if it made any ready
	since  int64
	first  int64
	begun  bool
	busy   int64
	idle   int64
}

// Needs are context switches, with their call stacks.
var Needs = []need.Need{{What: "context switches", Recorder: "wpr -start GeneralProfile, or xperf -on PROC_THREAD+LOADER+CSWITCH+DISPATCHER -stackwalk CSwitch+ReadyThread" + need.OnLinux, Kernel: need.Switches.Kernel}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{machine: system.Of(mux), window: window.Of(mux), threads: make(map[*system.Thread]*thread), most: mostOff}
	a.bound = system.BindStacks(mux, func(number int64, c system.CallStack) {
		if o := a.numberedOff(number); o != nil {
			o.stack = c
		}
	})
	switches.Watch(mux, &switches.Listener{Switch: a.switched, Wakes: a.wakes, Rests: a.recordRest})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyThreadStart) error {
		a.started(r, int64(e.TThreadID))
		return nil
	})
	hear.On(mux, func(r *etw.Record, _ *kernel.AnyPerfInfoSample) { a.at(r) })
	mux.HandleRest(a.record)
	return a
}

// OnRun has do called for each time that a thread ran, when it is over, in nanoseconds since
// 1970: RunningMS of a [Thread] is their sum, but for those that run at the end, which
// [Analysis.Running] has.
func (a *Analysis) OnRun(do func(t *system.Thread, from, to int64)) { a.onRun = do }

// OnOff has do called for each time that a thread did not run, when it is over: from when on,
// when it could run again, when it did, and who saw to that, if a thread did. Times are
// nanoseconds since 1970.
func (a *Analysis) OnOff(do func(t *system.Thread, from, readied, till int64, by Waker)) {
	a.onOff = do
}

// rests takes that a thread did not run, and returns the number of that time.
func (a *Analysis) rests(o off) (number int64) {
	o.ran, o.processor = -1, -1
	if a.onOff != nil {
		a.onOff(o.thread.Thread, o.from, o.readied, o.till, o.readier)
	}
	return a.keep(o)
}

// spends takes what a thread did for a time, of which the part in the window counts: it
// returns that.
func (a *Analysis) spends(x *thread, does doing, from, to int64) (partFrom, partTo int64) {
	partFrom, partTo = a.window.Clip(from, to)
	x.sums[does] += partTo - partFrom
	if does != running && does != unknown && partTo > partFrom && !a.blurred {
		if len(a.rested) == mostOff {
			a.rested = append(a.rested[:0], a.rested[mostOff/2:]...)
		}
		a.rested = append(a.rested, rest{x, does, does == waiting && x.byOther, span{from, to}})
	}
	return partFrom, partTo
}

// ran takes that a thread ran.
func (a *Analysis) ran(x *thread, from, to int64) {
	from, to = a.spends(x, running, from, to)
	if a.onRun != nil && (to > from || !a.window.Chosen()) {
		a.onRun(x.Thread, from, to)
	}
}

// waited counts a wait, or that a thread was ready, as one of n if a part is in the window.
func (a *Analysis) waited(n *int, from, to int64) {
	if a.window.Meets(from, to) {
		*n++
	}
}

// at returns the time of a record.
func (a *Analysis) at(r *etw.Record) int64 {
	if t := when.Of(r); (t > a.now || !a.begun) && a.machine.Can(r) {
		if !a.begun {
			a.origin = t - int64(r.Elapsed())
		}
		a.now, a.begun = t, true
	}
	return a.now
}

// of returns the state of a thread.
func (a *Analysis) of(t *system.Thread) (x *thread, met bool) {
	x, met = a.threads[t]
	if !met {
		x = &thread{Thread: t, last: -1, rest: -1}
		a.threads[t] = x
		a.order = append(a.order, x)
	}
	return x, met
}

// started takes the start of a thread, which is ready from then on.
func (a *Analysis) started(r *etw.Record, tid int64) {
	t := a.machine.Thread(tid)
	if t == nil {
		return
	}
	at := a.at(r)
	if before := a.threads[a.machine.ThreadAt(tid, r.Timestamp-1)]; before != nil && before.Thread != t && before.seen && !before.over { // its end was lost
		a.spends(before, unknown, before.since, at)
		before.does, before.since, before.over = unknown, at, true
	}
	if x, met := a.of(t); !met {
		x.first, x.seen, x.since, x.does, x.begins = at, true, at, ready, true
	}
}

// wakes takes that a thread can run again, which another one saw to or an interrupt.
func (a *Analysis) wakes(r *etw.Record, number int64, linux, interrupt bool) {
	a.readies.Add(a.window.HasRecord(r))
	x := a.kernels[number]
	if !linux {
		x, _ = a.of(a.machine.HasThread(number, -1))
	}
	if x == nil || number == 0 {
		return
	}
	at := a.at(r)
	a.returns(x, at)
	if !x.seen {
		x.since, x.does, x.unseen = at, waiting, true
	}
	if x.begins { // suspended, until now
		x.does, x.why, x.begins = waiting, created, false
	}
	if x.does != waiting || x.byOther {
		return // it has not gone yet, or was ready before
	}
	x.readied, x.byOther = at, true
	x.readier = Waker{interrupt: interrupt}
	switch {
	case x.readier.interrupt:
	case r.ThreadID > 0:
		x.readier.thread = a.machine.HasThread(r.ThreadID, r.ProcessID)
	default:
		if p := a.processor(r); p != nil && p.thread != nil && p.thread.TID != 0 {
			if p.stay == nil {
				p.stay = new(stay)
			}
			x.readier.thread, x.readier.stay = p.thread.Thread, p.stay
		}
	}
}

// maxProcessors is more than any machine has.
const maxProcessors = 1 << 16

// processor returns the processor of a record, or nil.
func (a *Analysis) processor(r *etw.Record) *processor {
	if r.Processor < 0 || int(r.Processor) >= maxProcessors {
		return nil
	}
	for int(r.Processor) >= len(a.processors) {
		a.processors = append(a.processors, processor{})
	}
	return &a.processors[r.Processor]
}

// switched takes a context switch.
func (a *Analysis) switched(r *etw.Record, s *switches.Switch) {
	at := a.at(r)
	within := a.window.Has(at)
	a.switches.Add(within)
	p := a.processor(r)
	if p == nil {
		a.gaps.Add(within)
		return
	}
	var before, after *thread
	if a.scheduler = s.Linux; s.Linux {
		a.blurred = false
		before, after = a.numbered(s.From, s.FromName), a.numbered(s.To, s.ToName)
		a.returns(before, at)
		a.returns(after, at)
	} else {
		before, _ = a.of(a.machine.Named(r, s.From))
		after, _ = a.of(a.machine.Named(r, s.To))
	}
	a.count(p, before, int(r.Processor), at)
	if before.TID != 0 {
		a.leaves(before, p, int(r.Processor), at)
		before.goes(s)
		if s.Linux {
			before.stack = system.CallStack{User: a.bound.Intern(r.Stack)}
		}
	}
	if after.TID != 0 && a.comes(after, at) {
		o := &a.off[len(a.off)-1]
		if o.processor = r.Processor; s.Linux {
			o.stack = after.stack
		} else if !a.sumsOnly {
			a.bound.Await(r, after.TID, after.last)
		}
	}
	after.runsOn(int(r.Processor), p, at)
}

// runsOn takes that a thread has come to a processor.
func (x *thread) runsOn(number int, p *processor, at int64) {
	x.processor = number
	p.thread, p.stay, p.since = x, nil, at
}

// count adds up the time of a processor until it left a thread.
func (a *Analysis) count(p *processor, before *thread, number int, at int64) {
	from, to := a.window.Clip(p.since, at)
	switch {
	case !p.begun:
		p.begun, p.first = true, at
	case p.thread != before:
		if !before.isOn(p, number) && (before.left || !a.partial) { // else it goes for the first time
			a.gaps.Add(a.window.Has(at))
			a.gap(p.since, at)
		}
		if p.stay != nil {
			p.stay.doubtful = true
		}
		if t := p.thread; t.TID != 0 && t.does == running && t.processor == number {
			t.does = unknown // since when it does not run is in no event
		}
	case before.TID == 0:
		p.idle += to - from
	case before.isOn(p, number):
		p.busy += to - from
	}
}

// isOn reports whether a thread runs on a processor, as far as all switches tell.
func (x *thread) isOn(p *processor, number int) bool {
	return x.does == running && (x.processor == anywhere || x.processor == number && p.thread == x)
}

// leaves takes that a thread leaves a processor.
func (a *Analysis) leaves(x *thread, p *processor, number int, at int64) {
	x.ranFrom, x.ranTo = 0, 0
	switch {
	case !x.seen:
		x.first, x.seen = at, true
	case x.isOn(p, number):
		a.ran(x, x.since, at)
		x.ranFrom, x.ranTo = x.since, at
		if x.last >= 0 {
			if o := a.numberedOff(x.last); o != nil {
				o.ran = at - x.since
			}
		}
	default:
		a.spends(x, unknown, x.since, at)
	}
	x.since, x.byOther, x.begins, x.unseen, x.readier = at, false, false, false, Waker{}
	x.back, x.left = 0, true
}

// goes takes the state in which a thread goes.
func (x *thread) goes(s *switches.Switch) {
	switch s.State {
	case switches.Ready:
		x.does = ready
	case switches.Waits:
		x.does, x.why = waiting, s.Why
	default:
		x.does, x.over = unknown, true
	}
}

// comes takes that a thread comes to a processor, and reports whether its state is known
// since it had left one: that is the last of those in off, then.
func (a *Analysis) comes(x *thread, at int64) bool {
	if a.window.Has(at) {
		x.switches++
	}
	x.last, x.back = -1, 0
	if x.unseen {
		x.first, x.seen = x.since, true
	}
	known := x.seen && a.back(x, at)
	if !x.seen {
		x.first, x.seen = at, true
	}
	x.does, x.since, x.over, x.begins, x.unseen = running, at, false, false, false
	return known
}

// back adds up the time of a thread until it runs again, and reports whether that is known.
func (a *Analysis) back(x *thread, at int64) bool {
	o := off{thread: x, from: x.since, ranFrom: x.ranFrom, readied: x.since, till: at, waited: x.does == waiting, byOther: x.byOther, begins: x.begins, unseen: x.unseen, why: x.why, readier: x.readier}
	switch {
	case x.over: // it had ended, and its number is another's whose start is missing
		a.spends(x, unknown, x.since, at)
		return false
	case x.begins:
	case x.unseen:
		o.waited = false
	case x.does == ready:
		a.waited(&x.forced, o.from, at)
	case x.does == waiting:
		o.readied = at
		if x.byOther {
			o.readied = x.readied
		}
		a.waited(&x.waits, o.from, o.readied)
	default:
		a.spends(x, unknown, x.since, at)
		return false
	}
	from, to := a.spends(x, waiting, o.from, o.readied)
	x.longest = max(x.longest, to-from)
	a.spends(x, ready, o.readied, at)
	x.last = a.rests(o)
	return true
}

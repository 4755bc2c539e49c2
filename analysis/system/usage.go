package system

import (
	"encoding/binary"
	"math"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/pace"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Usage adds up the processor time of the threads of a [Machine], in the two ways
// in which the kernel tells it: by samples, of which each stands for the interval
// between two, and by context switches, which say exactly which thread runs from
// when on. Of Linux they are the events sched_switch of the scheduler; a recorder says for how
// long a thread was off its processor, which tells when one came back where the scheduler does
// not. Of a trace that has only those, it is how often threads were switched to, and not for how
// long they ran. Of a [window.Window] it is
// the part: threads that ran before count with the time within.
type Usage struct {
	machine  *Machine
	window   *window.Window
	pace     *pace.Pace
	every    uint64 // how long samples of Linux are apart, in 100 ns
	linux    bool   // samples are those of Linux
	threads  []ThreadUsage
	cpus     []cpu
	last     int64 // the time of the last event
	samples  window.Count
	switches window.Count
	gaps     window.Count

	rested     bool                      // switches are those of a recorder
	scheduler  bool                      // switches are those of the scheduler of Linux
	partial    bool                      // it does not tell of all that come to processors
	places     map[int64]int             // the name of the processor that a thread of Linux runs on, by its number
	unknown    map[int64]uint64          // switches to threads of Linux that nothing else has told of yet
	threadless map[*Process]*ThreadUsage // samples of Linux that tell the process and no thread
}

// ThreadUsage is the processor time of a thread.
type ThreadUsage struct {
	Samples  uint64
	Switches uint64 // to the thread

	sampled uint64 // in 100 ns, without those that are early
	early   uint64 // before any event tells the interval
	ran     int64  // in ticks
	on      int    // the name of the processor that it runs on, 0 if that is not known

	restedTill int64 // in ns, of the last rest that a recorder of Linux told
	back       int64 // in ticks, when it came back, if a recorder told that beside the scheduler
	left       bool  // the scheduler told that it went
}

// A cpu is a processor, and the thread that runs on it since a time.
type cpu struct {
	thread *Thread
	number int64 // of the thread, on Linux, where that may be all that is known
	since  int64
	name   int // its number and one
}

// NewUsage returns a usage whose handlers are registered at mux.
func NewUsage(mux *etw.Mux) *Usage {
	m := Of(mux)
	u := &Usage{machine: m, window: window.Of(mux), pace: pace.Of(mux), every: pace.Default / 100}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyPerfInfoSample) {
		u.last = max(u.last, m.at(r))
		t := u.of(m.Named(r, int64(e.ThreadID)))
		told := uint64(u.pace.Told() / 100)
		if u.sample(t, r, told) && told == 0 {
			t.early++
		}
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadCSwitch) { u.switched(r, e) })
	mux.HandleRest(u.record)
	return u
}

func (u *Usage) of(t *Thread) *ThreadUsage {
	for t.index >= len(u.threads) {
		u.threads = append(u.threads, ThreadUsage{})
	}
	return &u.threads[t.index]
}

// sample takes a sample of a thread, which stands for a time in 100 ns. That of nobody only counts.
// It reports whether it is in the window.
func (u *Usage) sample(t *ThreadUsage, r *etw.Record, length uint64) (within bool) {
	within = u.window.HasRecord(r)
	if u.samples.Add(within); within && t != nil {
		t.Samples++
		t.sampled += length
	}
	return within
}

// switched takes a context switch: the old thread has run since the last one. Where that
// was to another thread, or the thread has been on another processor since, events are
// missing, and the time is nobody's.
func (u *Usage) switched(r *etw.Record, e *kernel.AnyThreadCSwitch) {
	at, within := u.machine.at(r), u.window.HasRecord(r)
	u.switches.Add(within)
	u.last = max(u.last, at)
	c := u.cpu(r)
	if c == nil {
		return
	}
	before := u.machine.Named(r, int64(e.OldThreadID))
	switch {
	case c.thread == before:
		u.ran(c, at)
	case c.thread != nil:
		u.gaps.Add(within)
		if lost := u.of(c.thread); lost.on == c.name {
			lost.on = 0
		}
	}
	u.of(before).on = 0
	c.thread, c.since = u.machine.Named(r, int64(e.NewThreadID)), at
	t := u.of(c.thread)
	t.on = c.name
	if within {
		t.Switches++
	}
}

// cpu returns the processor that a record is of, or nil if it does not say.
func (u *Usage) cpu(r *etw.Record) *cpu {
	if r.Processor < 0 || r.Processor > math.MaxUint16 {
		return nil
	}
	for int(r.Processor) >= len(u.cpus) {
		u.cpus = append(u.cpus, cpu{number: -1, name: len(u.cpus) + 1})
	}
	return &u.cpus[r.Processor]
}

// ran takes that the thread of a processor ran there, if it has not been on another since.
// The idle threads of all processors are one.
func (u *Usage) ran(c *cpu, until int64) {
	t, w := u.of(c.thread), u.window.Ticks(u.machine.clock)
	from, to := w.Clip(c.since, until)
	if d := to - from; d > 0 && (t.on == c.name || c.thread.TID == 0) {
		t.ran += d
	}
}

// SetInterval says how many nanoseconds are between two samples, where the head of a
// trace tells it, as that of a recorder of Linux does, or of a part of another trace.
func (u *Usage) SetInterval(ns int64) {
	u.pace.Suppose(ns)
	if ns > 0 {
		u.every = uint64(ns) / 100
	}
}

// record takes a record that no handler does: samples and switches that recorders of
// Linux tell.
func (u *Usage) record(r *etw.Record) error {
	switch {
	case r.Schema == nil:
	case r.ProviderName == "sched" && r.Schema.Name == "sched_switch":
		u.scheduled(r)
	case r.ProviderName == linuxEvents && r.Schema.Name == "cswitch":
		u.rests(r)
	case r.ProviderName == linuxEvents && r.Schema.Name == "cpu":
		u.sampled(r)
	}
	return nil
}

// rests takes that a thread goes off its processor, and for how long. A rest that begins
// where the last one ended is a part of it.
func (u *Usage) rests(r *etw.Record) {
	if r.ThreadID <= 0 || r.ProcessID < 0 {
		return
	}
	rested, _ := binary.Uvarint(r.Payload)
	t := u.of(u.machine.HasThread(r.ThreadID, r.ProcessID))
	if u.scheduler {
		t.back = u.machine.at(r) + int64(float64(rested)*u.machine.frequency()/1e9)
		return
	}
	u.rested = true
	at := when.Of(r)
	if within := u.window.Has(at); at != t.restedTill {
		if u.switches.Add(within); within {
			t.Switches++
		}
	}
	t.restedTill = at + int64(rested)
}

// scheduled takes that a processor goes from one thread of Linux to another, which the
// machine may come to know only later.
func (u *Usage) scheduled(r *etw.Record) {
	known := tracepoints.Of(r)
	if known == nil || !u.machine.fields.ReadAs(known.Events[0], r) {
		return
	}
	at, within := u.machine.at(r), u.window.HasRecord(r)
	u.scheduler, u.rested = true, false
	u.switches.Add(within)
	u.last = max(u.last, at)
	before, after := u.machine.fields.Value("prev_pid").Int(), u.machine.fields.Value("next_pid").Int()
	c := u.cpu(r)
	if c == nil {
		return
	}
	if u.unknown == nil {
		u.unknown, u.places = make(map[int64]uint64), make(map[int64]int)
	}
	switch t := u.machine.ThreadOf(before); {
	case c.number != before:
		u.came(c, t, at, within)
	case t != nil && before != 0:
		c.thread = t
		u.of(t).on = u.places[before]
		u.ran(c, at)
	}
	if t := u.machine.ThreadOf(before); t != nil {
		u.of(t).back, u.of(t).left = 0, true
	}
	delete(u.places, before)
	c.thread, c.number, c.since = nil, after, at
	if after == 0 {
		return // the processor is idle
	}
	u.places[after] = c.name
	if within {
		u.unknown[after]++
	}
	if c.thread = u.machine.ThreadOf(after); c.thread != nil {
		u.meet(c.thread, after)
	}
}

// came takes that a thread leaves a processor to which the scheduler did not tell that it came.
func (u *Usage) came(c *cpu, t *Thread, at int64, within bool) {
	if u.places[c.number] == c.name {
		delete(u.places, c.number)
	}
	switch {
	case t != nil && u.of(t).back > 0:
		if !u.partial { // and so nothing is missing so far
			u.partial, u.gaps = true, window.Count{}
		}
		c.thread, c.since, u.of(t).on = t, u.of(t).back, c.name
		if u.ran(c, at); within {
			u.of(t).Switches++
		}
	case c.number < 0 || u.partial && (t == nil || !u.of(t).left): // the first event of the processor, or the thread
	default:
		u.gaps.Add(within)
	}
}

// meet gives a thread the switches that were counted by its number.
func (u *Usage) meet(t *Thread, number int64) {
	u.of(t).Switches += u.unknown[number]
	delete(u.unknown, number)
}

// sampled takes a sample of a recorder of Linux.
func (u *Usage) sampled(r *etw.Record) {
	value, n := binary.Uvarint(r.Payload)
	if n <= 0 || value > math.MaxInt32 {
		return
	}
	var t *ThreadUsage
	switch {
	case r.ProcessID < 0:
	case r.ThreadID > 0:
		t = u.of(u.machine.HasThread(r.ThreadID, r.ProcessID))
	default: // of another container
		p := u.machine.processOf(r.ProcessID)
		if t = u.threadless[p]; t == nil {
			if u.threadless == nil {
				u.threadless = make(map[*Process]*ThreadUsage)
			}
			t = new(ThreadUsage)
			u.threadless[p] = t
		}
	}
	u.linux = true
	u.sample(t, r, value*u.every)
}

// Settle adds the time that threads ran up to the last event. It is to be called
// when all records have been. Where switches are missing, or the end of the trace is, a processor that
// had none for long may well have been idle, and nothing is added.
func (u *Usage) Settle() {
	for number := range u.unknown {
		if t := u.machine.ThreadOf(number); t != nil {
			u.meet(t, number)
		}
	}
	if u.gaps.All > 0 || u.partial || u.window.Lacking().End {
		return
	}
	for i := range u.cpus {
		if c := &u.cpus[i]; c.thread != nil {
			if c.number >= 0 {
				u.of(c.thread).on = u.places[c.number]
			}
			u.ran(c, u.last)
			c.since = max(c.since, u.last)
		}
	}
}

// Samples and Switches return how many events of each kind there were.
func (u *Usage) Samples() uint64  { return uint64(u.samples.Within) }
func (u *Usage) Switches() uint64 { return uint64(u.switches.Within) }

// Gaps returns how often a processor ran another thread than the last switch says,
// so that events are missing.
func (u *Usage) Gaps() uint64 { return uint64(u.gaps.Within) }

// intervalMS returns the time between samples.
func (u *Usage) intervalMS() float64 {
	if u.linux {
		return float64(u.every) / 1e4
	}
	return float64(u.pace.Now()) / 1e6
}

// Of returns the use by a thread so far.
func (u *Usage) Of(t *Thread) ThreadUsage {
	if t.index < len(u.threads) {
		use := u.threads[t.index]
		use.sampled, use.early = use.sampled+use.early*uint64(u.pace.Before()/100), 0
		return use
	}
	return ThreadUsage{}
}

// OfProcess returns the use by the threads of a process so far.
func (u *Usage) OfProcess(p *Process) ThreadUsage {
	var sum ThreadUsage
	for _, t := range p.Threads {
		sum.add(u.Of(t))
	}
	if t := u.threadless[p]; t != nil {
		sum.add(*t)
	}
	return sum
}

func (t *ThreadUsage) add(more ThreadUsage) {
	t.Samples += more.Samples
	t.Switches += more.Switches
	t.sampled += more.sampled
	t.ran += more.ran
}

// SampledMS returns the time that the samples of t stand for.
func (t ThreadUsage) SampledMS() float64 { return float64(t.sampled) / 1e4 }

// RanMS returns the time that t ran, by context switches.
func (u *Usage) RanMS(t ThreadUsage) float64 { return u.machine.ms(float64(t.ran)) }

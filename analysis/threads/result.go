package threads

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/order"
)

// A Result holds the time of threads, as far as the trace tells.
type Result struct {
	Schema   int `json:"schema"`
	Switches int `json:"switches"`
	// Readies are the events that tell who ended a wait. Without any, being ready is
	// part of waiting.
	Readies int `json:"readies"`
	// Gaps counts switches from another thread than the one that was switched to
	// before, and rests of a thread that begin in another one: events are missing.
	Gaps int `json:"gaps"`
	// Strays are switches of threads that the recorder did not know; they are in no
	// other figure.
	Strays int `json:"strays,omitempty"`
	// DarkMS is the time in which events of a processor are missing, as the trace does not have all
	// that was recorded: threads that are not seen to run then are in UnknownMS.
	DarkMS float64 `json:"darkMs,omitempty"`
	// Folded are times off processors that are not kept one by one, the longest of FoldedMS: there
	// is no room for so many. Sums are right all the same.
	Folded   int     `json:"folded,omitempty"`
	FoldedMS float64 `json:"foldedMs,omitempty"`
	// Samples are those of threads of Linux, in intervals of sampling: for so long they
	// ran. Where it is much less than RunningMS, the recorder did not tell all rests.
	Samples int64 `json:"samples,omitempty"`
	// Sums over all threads but those that are idle.
	Times
	Threads    []Thread    `json:"threads"`
	Processors []Processor `json:"processors"`
}

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// Times part the life of a thread, or of several.
type Times struct {
	RunningMS float64 `json:"runningMs"`
	ReadyMS   float64 `json:"readyMs"`
	WaitingMS float64 `json:"waitingMs"`
	// UnknownMS is between events that contradict each other.
	UnknownMS float64 `json:"unknownMs"`
}

// A Thread is the time of one thread, from the first event about it to its end, or to the
// last event of any. Of a [window.Window] times are the parts within, and waits those that have one.
type Thread struct {
	PID int64 `json:"pid"`
	// Process is its name, if the trace tells it: a number may be that of several in turn.
	Process string  `json:"process,omitempty"`
	TID     int64   `json:"tid"`
	Name    string  `json:"name,omitempty"`
	LifeMS  float64 `json:"lifeMs"`
	Times
	// OpenMS is the part of WaitingMS that lasts to the end: nobody knows who would end it.
	OpenMS    float64 `json:"openMs"`
	Switches  int     `json:"switches"` // to the thread
	Waits     int     `json:"waits"`
	Preempted int     `json:"preempted"` // how often it went though it could have run on
	LongestMS float64 `json:"longestMs"` // wait
	Samples   int64   `json:"samples,omitempty"`
	// Owner is Process or, where that is not known and others had the number, that it is not.
	Owner string `json:"-"`
}

// A Processor is the time of one processor from its first switch to the last event of any, or
// where switches are missing to its own last.
type Processor struct {
	Number    int     `json:"number"`
	SpanMS    float64 `json:"spanMs"`
	BusyMS    float64 `json:"busyMs"`
	IdleMS    float64 `json:"idleMs"`
	UnknownMS float64 `json:"unknownMs"`
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// Result returns the findings so far, the threads that ran longest first.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Switches: a.switches.Within, Readies: a.readies.Within, Gaps: a.gaps.Within, Strays: a.strays.Within,
		Folded: a.folded, FoldedMS: ms(a.longestFolded), Threads: []Thread{}, Processors: []Processor{}}
	var sums [doings]int64
	a.settle()
	dark := a.darkness()
	res.DarkMS = ms(a.dim(dark))
	for _, x := range a.order {
		if x.TID == 0 || !x.seen {
			continue
		}
		t, own := a.result(x, dark)
		if a.window.Chosen() && t.LifeMS == 0 && t.Switches == 0 {
			continue
		}
		res.Threads = append(res.Threads, t)
		res.Samples += t.Samples
		for i := range sums {
			sums[i] += own[i]
		}
	}
	res.Times = timesOf(sums)
	order.Stable(res.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.RunningMS, a.RunningMS), cmp.Compare(b.WaitingMS, a.WaitingMS), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
	for i := range a.processors {
		if p := a.processors[i]; p.begun && !a.partial { // else nothing tells when it is idle
			res.Processors = append(res.Processors, a.time(&p, i))
		}
	}
	return res
}

// Any reports whether there are switches, of whatever time, and whether events tell who ended waits.
func (a *Analysis) Any() (switches, readies bool) { return a.switches.All > 0, a.readies.All > 0 }

// time returns the time of a processor, which is not changed by it where others have it.
func (a *Analysis) time(p *processor, number int) Processor {
	end := p.since
	if a.gaps.All == 0 && !a.window.Lacking().End {
		end = a.now
	}
	from, to := a.window.Clip(p.since, end)
	switch x := p.thread; {
	case x.TID == 0:
		p.idle += to - from
	case x.does == running && x.processor == number:
		p.busy += to - from
	}
	from, to = a.window.Clip(p.first, end)
	return Processor{number, ms(to - from), ms(p.busy), ms(p.idle), ms(to - from - p.busy - p.idle)}
}

// Keep leaves the threads that has reports, and the sums over these. Gaps, strays and
// processors are of all.
func (r *Result) Keep(has func(*Thread) bool) {
	r.Threads = order.Delete(r.Threads, func(t Thread) bool { return !has(&t) })
	r.Switches, r.Samples, r.Times = 0, 0, Times{}
	for i := range r.Threads {
		t := &r.Threads[i]
		r.Switches += t.Switches
		r.Samples += t.Samples
		r.RunningMS += t.RunningMS
		r.ReadyMS += t.ReadyMS
		r.WaitingMS += t.WaitingMS
		r.UnknownMS += t.UnknownMS
	}
}

func timesOf(sums [doings]int64) Times {
	return Times{ms(sums[running]), ms(sums[ready]), ms(sums[waiting]), ms(sums[unknown])}
}

// result returns the time of a thread until now, with its present state.
func (a *Analysis) result(x *thread, dark []span) (Thread, [doings]int64) {
	sums, end, open := x.sums, a.end(x), int64(0)
	for does, ns := range x.dark {
		sums[does] -= ns
		sums[unknown] += ns
	}
	tail := func(does doing, from, to int64) int64 {
		n := a.known(dark, from, to, does == waiting && x.byOther) // or no event tells its end
		from, to = a.window.Clip(from, to)
		sums[does] += n
		sums[unknown] += to - from - n
		return n
	}
	waits, forced, longest := x.waits, x.forced, x.longestLit
	last, isOff := a.last(x)
	switch {
	case x.over:
		end = x.since
	case isOff:
		n := tail(waiting, last.from, last.readied)
		tail(ready, last.readied, end)
		if longest = max(longest, n); last.open {
			open = n
		}
		switch {
		case last.waited:
			a.waited(&waits, last.from, last.readied)
		case !last.begins:
			a.waited(&forced, last.from, end)
		}
	case x.does == running && a.blurred:
		end = a.runsUntil(x)
		tail(running, x.since, end)
	case a.gaps.All > 0 || a.partial && x.does == running: // of the last time of a thread nothing tells the end
		tail(unknown, x.since, end) // the switch to another may be missing
	default:
		tail(x.does, x.since, end)
	}
	from, to := a.window.Clip(x.first, end)
	return Thread{PID: pidOf(x.Thread), Process: x.Program(), Owner: x.Process.Called(), TID: x.TID, Name: x.Name, LifeMS: ms(to - from), Times: timesOf(sums), OpenMS: ms(open),
		Switches: x.switches, Waits: waits, Preempted: forced, LongestMS: ms(longest), Samples: x.samples}, sums
}

// end returns when nothing more is told of a thread.
func (a *Analysis) end(x *thread) int64 {
	if p := x.Process; p != nil && p.Ended { // the end of the thread may be lost
		return max(x.since, min(a.now, a.origin+int64(a.machine.MS(p.End)*1e6)))
	}
	return a.now
}

// last returns the time off processors of a thread that lasts to the end, if it is in one: it waits, was
// made ready and has not run since, is ready, or was created and not made ready.
func (a *Analysis) last(x *thread) (o off, is bool) {
	end := a.end(x)
	o = off{thread: x, from: x.since, readied: end, till: end, processor: -1, ran: -1, ranFrom: x.ranFrom, begins: x.begins, why: x.why,
		readier: x.readier, stack: x.stack, byOther: x.byOther}
	switch {
	case x.TID == 0 || !x.seen || x.over || end == x.since:
		return o, false
	case x.does == waiting && x.byOther:
		o.waited, o.readied = true, x.readied
	case x.does == waiting:
		o.waited, o.open = true, true
	case x.begins && a.readies.All > 0:
		o.waited, o.open, o.why = true, true, created
	default:
		o.readied = x.since
		return o, x.does == ready && a.gaps.All == 0 // else the switch to it may be missing
	}
	return o, true
}

// runsUntil returns until when a thread is known to run that does.
func (a *Analysis) runsUntil(x *thread) int64 {
	switch {
	case a.blurred: // recorders tell of a rest when it is over
		return max(x.since, x.sampled)
	case a.gaps.All > 0 || a.partial || a.window.Lacking().End:
		return x.since
	}
	return a.now
}

// pidOf returns the process of a thread, or -1.
func pidOf(t *system.Thread) int64 {
	if t.Process == nil {
		return -1
	}
	return t.Process.PID
}

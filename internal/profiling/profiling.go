package profiling

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/analysis/spans"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// The kinds of profiles.
const (
	CPU        = "cpu"
	Allocs     = "allocs"
	Exceptions = "exceptions"
	Contention = "contention"
)

// Kinds returns the kinds of profiles.
func Kinds() []string { return []string{CPU, Allocs, Exceptions, Contention} }

// DefaultShare is how many percent more a process may take for its profiles unless somebody
// says otherwise.
const DefaultShare = 4

// maxSamples bounds the samples of one profile.
const maxSamples = 1 << 20

// Options choose the samples of processes, and their price.
type Options struct {
	Kinds    []string
	Interval time.Duration // from one profile of a process to its next
	Window   time.Duration // for which threads are sampled in each
	// Budget is the share of one processor, in percent, that sampling threads may take of all
	// processes together; 0 is as much as it takes.
	Budget float64
	// Share is how many percent more of the processors a process may take for its profiles
	// than without: half of it for the samples of threads, and half for events. 0 is no limit.
	Share float64
	// Idle is how many percent of a processor a process must take to be sampled.
	Idle float64
	// MaxEvents is how many allocations, exceptions or waits a second are followed, on average.
	// A kind of which there are more is followed for a part of each interval; 0 is no limit but
	// Share and that of one profile.
	MaxEvents int
	// MaxSamples bounds the samples of one profile; 0 is a million.
	MaxSamples int
	// Spans has samples of windows be of the spans that threads work for then, in .NET 6 and
	// later. Another session that has activities passed on loses them by it.
	Spans bool
	// Kernel has samples of processors, instead of those of threads, if it is not nil.
	Kernel *Kernel
	// List has the list of all methods asked for, once, where too many frames have no name.
	List     bool
	BufferMB int
	// Patience is how long the end of a run may take, 0 for ten seconds.
	Patience time.Duration
}

func (o *Options) maxSamples() int {
	if o.MaxSamples <= 0 {
		return maxSamples
	}
	return min(o.MaxSamples, maxSamples)
}

// A Machine has the processes of one machine take turns.
type Machine struct {
	o       Options
	turn    chan struct{} // of the process that is sampled
	budget  *budget
	running atomic.Int64
}

// New returns a machine on which no process is profiled yet.
func New(o Options) *Machine {
	return &Machine{o: o, turn: make(chan struct{}, 1), budget: newBudget(o.Budget/100, o.Interval, time.Now())}
}

// A Process is one that is profiled.
type Process struct {
	Client *eventpipe.Client
	Name   string
	PID    int64 // as we see it
	Own    int64 // as it sees itself, 0 if that is the same
	// Unseen says that PID is the number which it has for itself, since we know no other.
	Unseen  bool
	Version int // of its runtime: the first number
}

// A Profile is samples of one kind, and the time between two of them in nanoseconds, or 0.
type Profile struct {
	*stacks.Profile
	Of     string // the kind
	Period int64
}

// An Interval is the samples of a process since the last one.
type Interval struct {
	Profiles []Profile
	Lost     int64  // events that the process could not keep
	Dropped  int64  // events and samples for which there was no memory
	Partly   []Part // kinds of events that were not followed all the time
	// Open are waits for locks that go on from one interval to the next, which are in neither.
	Open  int64
	Bytes int64 // that came of the process, WindowBytes of them by the window
	// Window is for how long threads were sampled, 0 if they were not: Skipped says why.
	Window      time.Duration
	WindowBytes int64
	Skipped     string
	Sampled     int // samples that the kernel took of the processors while they ran the process
	// Cost is the estimated cost of the window, in seconds of a processor. Measured says
	// whether that is known of this machine's processes, and not only assumed.
	Cost     float64
	Measured bool
	Named    float64 // percent of the frames of all profiles

	spans *spans.Analysis // that threads worked for in the window, or nil
}

// A Part says that a kind of events was followed for the first part of an interval alone.
type Part struct {
	Kind string
	For  time.Duration
}

// Why threads were not sampled.
const (
	SkippedIdle   = "idle"
	SkippedBudget = "budget"
	SkippedUnseen = "unseen" // by the kernel, which knows it by another number
)

// A run profiles one process.
type run struct {
	m     *Machine
	p     *Process
	names *names
	code  code
	asked bool // the runtime for a map of its code
	kinds []*follower
	price price
	load  load
	idle  load // as load, but from one window to the next
	whole load // as load, but from one interval to the next
}

// Run gives a process's intervals away until it ends, which is no error, or ctx is done. The
// samples up to then are given, too.
func (m *Machine) Run(ctx context.Context, p *Process, give func(*Interval)) error {
	others := m.running.Add(1) - 1
	defer m.running.Add(-1)
	r := m.newRun(p)
	if m.kernel() != nil {
		m.o.Kernel.follow(p)
		defer m.o.Kernel.leave(p)
	}
	kinds, full := newFollowers(&m.o)
	r.kinds = kinds
	var err error
	if r.names, err = newNames(ctx, p, m.o.BufferMB); err != nil {
		return err
	}
	defer func() {
		last, cancel := m.o.patience(ctx)
		defer cancel()
		r.names.flow.end(last)
	}()
	if err := r.follow(ctx); err != nil {
		return err
	}
	next := time.Now().Add(m.o.Interval - min(m.o.Window, m.o.Interval))
	if others > 0 { // so that they are not all at once
		next = next.Add(rand.N(m.o.Interval) - m.o.Interval/2)
	}
	for {
		t := time.NewTimer(time.Until(next))
		select {
		case <-t.C:
			x, err := r.interval(ctx, m.kernel() == nil && slices.Contains(m.o.Kinds, CPU))
			give(x)
			if err != nil {
				return err
			}
			next = later(next, m.o.Interval)
			continue
		case <-full:
			t.Stop()
			if err := r.pause(ctx); err != nil {
				return err
			}
			continue
		case <-r.names.flow.done:
		case <-ctx.Done():
		}
		t.Stop()
		last, cancel := m.o.patience(ctx)
		defer cancel()
		var err error
		for _, f := range r.kinds {
			err = cmp.Or(err, f.flow.end(last))
		}
		x, _ := r.interval(last, false)
		give(x)
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// kernel returns the source of samples of processors, nil if there is none.
func (m *Machine) kernel() *Kernel {
	if !slices.Contains(m.o.Kinds, CPU) {
		return nil
	}
	return m.o.Kernel
}

func (m *Machine) newRun(p *Process) *run {
	of := load{pid: p.number()}
	of.since(time.Now())
	return &run{m: m, p: p, load: of, idle: of, whole: of, code: code{p: p, kernel: m.kernel()}, price: price{rate: assumedRate}}
}

// follow follows all kinds, those that pause anew.
func (r *run) follow(ctx context.Context) error {
	for _, f := range r.kinds {
		if err := f.follow(ctx, r.p); err != nil {
			return err
		}
	}
	return nil
}

// pause has those kinds pause of which there were enough.
func (r *run) pause(ctx context.Context) (err error) {
	for _, f := range r.kinds {
		if f.isOver() {
			err = cmp.Or(err, f.end(ctx))
		}
	}
	return err
}

// patience returns a context for work that ends when another one is done.
func (o *Options) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(o.Patience, eventpipe.DefaultTimeout))
}

// later returns when an interval is next over: not at once for each that was missed.
func later(last time.Time, interval time.Duration) time.Time {
	next := last.Add(interval)
	if now := time.Now(); next.Before(now) {
		next = now.Add(interval)
	}
	return next
}

// taken is samples without names.
type taken struct {
	kind    string
	samples []*stacks.Samples
	period  int64
}

// enoughNames is how many percent of the frames have names where the list of methods is not
// worth its price.
const enoughNames = 98

// interval ends an interval: it has a window first, if threads are to be sampled.
func (r *run) interval(ctx context.Context, sampled bool) (*Interval, error) {
	x := new(Interval)
	var list []taken
	var err error
	if sampled {
		var w *window
		if w, err = r.window(ctx, x); w != nil {
			list = append(list, taken{CPU, w.samples, w.period})
		}
	} else if k := r.m.kernel(); k != nil {
		var samples []*stacks.Samples
		samples, err = k.swap(x, r.p)
		list = append(list, taken{CPU, samples, k.every})
	}
	busy, known := r.whole.since(time.Now())
	if !known {
		busy = assumedBusy
	}
	for _, f := range r.kinds {
		if samples := f.swap(x, r.m.o.limit(busy)); len(samples) > 0 {
			list = append(list, taken{f.kind, samples, 0})
		}
	}
	enough := r.name(x, list)
	if !enough && !r.asked && ctx.Err() == nil {
		r.asked = true
		_ = r.code.ask(ctx) // where there is no such map, there is still the list
		enough = r.name(x, list)
	}
	if !enough && r.m.o.List && !r.names.list && err == nil && ctx.Err() == nil {
		var bytes int64
		bytes, err = r.names.all(ctx, r.p.Client, r.m.o.BufferMB)
		r.load.since(time.Now()) // whose cost is not of the process itself
		x.Bytes += bytes
		r.name(x, list)
	}
	lost, bytes := r.names.flow.news()
	x.Lost += lost
	x.Bytes += bytes
	if err == nil && ctx.Err() == nil && r.names.flow.goesOn() {
		err = r.follow(ctx)
	}
	return x, err
}

// name makes profiles of samples, and reports whether so many frames of methods have names that
// the list is not worth its price.
func (r *run) name(x *Interval, list []taken) (enough bool) {
	x.Profiles = nil
	var n stacks.Naming
	table := r.names.table()
	byFile, end := r.code.naming()
	defer end()
	for _, t := range list {
		p := stacks.NewProfile(table, stacks.Options{Names: stacks.QualifiedNames, Native: byFile}, t.samples...)
		if p.Len() == 0 {
			continue
		}
		x.Profiles = append(x.Profiles, Profile{p, t.kind, t.period})
		n.Frames += p.Naming.Frames
		n.Named += p.Naming.Named
		n.Native += p.Naming.Native
	}
	x.Named = n.Percent()
	n.Named += n.Native // of which no list of methods tells
	return n.Percent() >= enoughNames
}

// window has a window of the process, when it is its turn, it is busy, and there is budget.
func (r *run) window(ctx context.Context, x *Interval) (*window, error) {
	select {
	case r.m.turn <- struct{}{}:
		defer func() { <-r.m.turn }()
	case <-ctx.Done():
		return nil, nil
	}
	busy, known := r.idle.since(time.Now())
	before, knownBefore := r.load.since(time.Now())
	if known && busy*100 < r.m.o.Idle {
		x.Skipped = SkippedIdle
		return nil, nil
	}
	long := r.m.budget.window(r.own(busy, known), r.price.rate, time.Now())
	if long == 0 {
		x.Skipped = SkippedBudget
		return nil, nil
	}
	w, err := r.sample(ctx, long, before, knownBefore)
	if w == nil {
		return nil, err
	}
	r.idle.since(time.Now())
	if w.known {
		r.price.saw(w.long, w.more)
	}
	x.Window, x.Cost, x.Measured = w.long, r.price.of(w.long), r.price.measured
	r.m.budget.spend(x.Cost)
	x.Lost += w.lost
	x.Dropped += w.dropped
	x.Bytes += w.bytes
	x.WindowBytes = w.bytes
	x.spans = w.spans
	return w, err
}

// own returns how long a window may be at most, so that it costs no more than its part of
// the time of the process.
func (r *run) own(busy float64, known bool) time.Duration {
	o := &r.m.o
	if !known || o.Share <= 0 {
		return o.Window
	}
	seconds := busy * o.Interval.Seconds() * o.Share / 100 / 2
	return min(o.Window, max(leastWindow, time.Duration(seconds/max(r.price.rate, leastRate)*float64(time.Second))))
}

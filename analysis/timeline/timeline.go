package timeline

import (
	"iter"
	"slices"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// Parts are the sources of lanes.
type Parts struct {
	// Analyses are those whose findings have lanes, as far as they have any.
	Analyses []any
	// Samples returns the samples of processors, or of threads.
	Samples func() []*stacks.Samples
	// Named gives call stacks names, once all is read. Without it, threads that sleep though
	// no event says so run, as far as lanes of causes know.
	Named func(*stacks.Samples) *stacks.Profile
	// Within returns, of samples, those that are to count, as all do if it is nil. Then
	// there are lanes only of events that have call stacks.
	Within func(*stacks.Samples) *stacks.Profile
}

// An Analysis follows the times that the results of its parts do not tell. It keeps some
// bytes of each.
type Analysis struct {
	parts Parts
	kept  map[key]*track
	lives lives
	ran   []ran
	late  []func(*builder) // what adds lanes at the end
	kinds func() func(kind string, code stacks.ID) string
	// doubts are of the events that allocations are told by, or nil.
	doubts func() []string
}

// A ran is a time in which a thread ran for ns. Which process it is of, the trace may tell later.
type ran struct {
	thread   *system.Thread
	from, to int64 // in nanoseconds since 1970
	ns       int64
}

// An entry is something that was kept. Times are nanoseconds since the session began.
type entry struct {
	from, to int64
	value    float64
}

// New returns an analysis of the findings of parts, which no records have been given to yet.
func New(p Parts) *Analysis {
	a := &Analysis{parts: p, kept: make(map[key]*track)}
	for _, x := range p.Analyses {
		if x, ok := x.(*system.Machine); ok {
			a.lives.Machine = x
		}
		if p.Within == nil {
			a.follow(x)
		} else {
			a.weigh(x)
		}
	}
	return a
}

// keep keeps something that was at a time, and lasted for one.
func (a *Analysis) keep(k key, fromMS, lastMS, value float64) {
	k.life = a.lives.at(k.pid, fromMS)
	from := nanoseconds(fromMS)
	t := a.kept[k]
	if t == nil {
		t = new(track)
		a.kept[k] = t
	}
	t.keep(entry{from, clamp(from + nanoseconds(lastMS)), value}, k.how)
}

// Result returns the findings so far.
func (a *Analysis) Result(o Options) *Result {
	c, n := newChart(&o)
	b := &builder{chart: c, n: n, o: &o, parts: &a.parts, lives: a.lives}
	var kind func(string, stacks.ID) string
	if a.kinds != nil {
		kind = a.kinds()
	}
	for k, t := range a.kept {
		if k.cause != "" {
			k.of += ": " + kind(k.cause, k.code)
			k.cause, k.code = "", 0
		}
		if k.kind == Allocated {
			if !a.estimates(k) {
				continue
			}
			k.of = ""
		}
		t.add(c, c.row(k, n))
	}
	if a.parts.Samples != nil {
		for _, s := range a.parts.Samples() {
			b.processors(s)
		}
	}
	for _, add := range a.late {
		add(b)
	}
	res := c.result(n)
	for _, l := range res.Lanes {
		a.lives.name(l)
	}
	if a.doubts != nil && slices.ContainsFunc(res.Lanes, func(l *Lane) bool { return l.Kind == Allocated }) {
		res.doubts = a.doubts()
	}
	return res
}

// estimates reports whether a lane has the best estimate of the allocations of a process:
// each is one of the same, and none is to be added to another.
func (a *Analysis) estimates(k key) bool {
	for _, by := range alloc.Estimates {
		better := k
		better.of = string(by)
		if a.kept[better] != nil {
			return better == k
		}
	}
	return false
}

// A builder adds the findings of the parts to a chart.
type builder struct {
	*chart
	n     int
	o     *Options
	parts *Parts
	lives lives
}

// within returns the samples that count.
func (b *builder) within(s *stacks.Samples) iter.Seq[stacks.Sample] {
	if b.parts.Within != nil {
		return b.parts.Within(s).Samples()
	}
	return s.All()
}

// weights adds samples by weight, from when they began.
func (b *builder) weights(kind Kind, list []*stacks.Samples) {
	for _, s := range list {
		last := len(s.Types) - 1
		for x := range b.within(s) {
			at := x.Time - b.o.Origin
			k := key{kind: kind, pid: x.Process, life: b.lives.at(x.Process, float64(at)/1e6), how: Sum}
			switch s.Types[last].Unit {
			case "nanoseconds":
				k.unit = "ms"
				b.spread(b.row(k, b.n), at, at+x.Values[last], float64(x.Values[last])/1e6)
			case "bytes":
				k.unit = "MB"
				b.add(b.row(k, b.n), at, float64(x.Values[last])/1e6)
			default:
				k.unit = "count"
				b.add(b.row(k, b.n), at, float64(x.Values[last]))
			}
		}
	}
}

// A turn is the last time that a sampler looked at the threads of a process, and the one before.
type turn struct{ before, begun, last int64 }

// begins returns when a sample begins that stands for so long: half of the time since the turn before
// is before it. If that is more than all of it, the thread was not met then.
func (t *turn) begins(at, value int64) int64 {
	if t.begun == 0 {
		t.before, t.begun = at, at
	} else if at-t.last > cpu.MaxRound {
		t.before, t.begun = t.begun, at
	}
	t.last = at
	if half := (t.begun - t.before) / 2; half <= value {
		return at - half
	}
	return at - value/2
}

// processors adds samples of processors, or of threads, which stand for times around them.
func (b *builder) processors(s *stacks.Samples) {
	last, named := len(s.Types)-1, b.named(s)
	var all iter.Seq[stacks.Sample]
	if named != nil {
		all = named.Samples()
	} else {
		all = b.within(s)
	}
	turns := make(map[int64]*turn)
	for x := range all {
		at, value := x.Time-b.o.Origin, x.Values[last]
		k := key{kind: CPU, pid: x.Process, life: b.lives.at(x.Process, float64(at)/1e6), unit: "ms", how: Sum}
		if b.o.Threads {
			k.tid = x.Thread
		}
		if s.Kind != cpu.ThreadTime {
			b.add(b.row(k, b.n), at, float64(value)/1e6)
			continue
		}
		if turns[x.Process] == nil {
			turns[x.Process] = new(turn)
		}
		at = turns[x.Process].begins(at, value)
		state := ""
		for _, l := range x.Labels {
			if l.Key == "state" {
				state = l.Value
			}
		}
		if state == "gc" { // has a lane of its own
			continue
		}
		k.kind = ThreadTime
		b.spread(b.row(k, b.n), at, at+value, float64(value)/1e6)
		switch {
		case state == "managed":
			k.kind = Managed
		case named != nil && state == cpu.Untold && cpu.MayRun(named, x):
			k.kind = Awake
		default:
			continue
		}
		b.spread(b.row(k, b.n), at, at+value, float64(value)/1e6)
	}
}

// named returns the samples of threads that count with the names of their stacks, which tell
// threads that wait, if they can have names. Of others it returns nil.
func (b *builder) named(s *stacks.Samples) *stacks.Profile {
	switch {
	case s.Kind != cpu.ThreadTime:
	case b.parts.Within != nil:
		return b.parts.Within(s)
	case b.parts.Named != nil:
		return b.parts.Named(s)
	}
	return nil
}

// heaps adds how large heaps were before and after collections.
func (b *builder) heaps(res *gc.Result) {
	for _, rt := range res.Runtimes {
		r := (*row)(nil)
		set := func(ms float64, size float64, known bool) {
			if !known {
				return
			}
			if r == nil {
				r = b.row(key{kind: Heap, pid: rt.PID, life: b.lives.at(rt.PID, ms), unit: "MB", how: Highest}, b.n)
			}
			b.set(r, nanoseconds(ms), size)
		}
		for _, g := range rt.GCs {
			if !g.Complete() {
				continue
			}
			begin := g.BeginMS.Or(g.StartMS)
			before, known := g.BeforeMB.Get()
			set(begin, before, known)
			after, known := g.AfterMB.Get()
			set(begin+g.DurationMS.Or(0), after, known)
		}
	}
}

// running adds when threads ran, by context switches.
func (b *builder) running(list []ran, threads *threads.Analysis) {
	add := func(pid, tid, from, to, ns int64) {
		k := key{kind: Running, pid: pid, life: b.lives.at(pid, float64(from-b.o.Origin)/1e6), unit: "ms", how: Sum}
		if b.o.Threads {
			k.tid = tid
		}
		b.spread(b.row(k, b.n), from-b.o.Origin, to-b.o.Origin, float64(ns)/1e6)
	}
	for _, x := range list {
		pid, tid := x.thread.IDs()
		add(pid, tid, x.from, x.to, x.ns)
	}
	for x := range threads.Running() {
		add(x.PID, x.TID, x.From, x.To, x.To-x.From)
	}
}

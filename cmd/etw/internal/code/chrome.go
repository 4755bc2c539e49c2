package code

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/chrometrace"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A chronicle collects events over time.
type chronicle struct {
	mux        etw.Mux
	gc         *gc.Analysis
	jit        *jit.Analysis
	exceptions *exceptions.Analysis
	contention *contention.Analysis
	waits      *waits.Analysis
	alloc      *alloc.Analysis
	requests   *requests.Analysis
	counters   *counters.Analysis
	threads    *threads.Analysis
}

// manyRequests is how many activities of each task an export has.
const manyRequests = 1 << 16

func newChronicle() *chronicle {
	l := new(chronicle)
	l.gc, l.jit, l.exceptions, l.contention = gc.New(&l.mux), jit.New(&l.mux), exceptions.New(&l.mux), contention.New(&l.mux)
	l.waits, l.alloc, l.threads = waits.New(&l.mux), alloc.New(&l.mux), threads.New(&l.mux)
	l.counters, l.requests = counters.New(&l.mux), requests.New(&l.mux)
	l.requests.Keep(manyRequests)
	return l
}

// trace returns the collected events. origin is when the session began, in nanoseconds since
// 1970.
func (l *chronicle) trace(cmd *cobra.Command, who *pick.Names, origin int64) *chrometrace.Trace {
	t := l.uncaused(cmd)
	for _, list := range []struct {
		label   string
		samples []*stacks.Samples
	}{{"", l.contention.Samples()}, {"source", l.waits.Samples()}, {"type", l.exceptions.Samples()}, {"type", l.alloc.Samples()}} {
		for _, s := range list.samples {
			t.AddSamples(s, list.label, origin)
		}
	}
	nameTracks(t, who)
	t.AddThreads(l.threads, origin, who.OfProcess)
	return t
}

// uncaused returns the collected events without call stacks, and says which are left out.
func (l *chronicle) uncaused(cmd *cobra.Command) *chrometrace.Trace {
	t, served := new(chrometrace.Trace), l.requests.Result()
	for _, p := range served.Processes {
		for i := range p.Tasks {
			if x := &p.Tasks[i]; x.Count > len(x.Slowest) {
				cli.Report(cmd, fmt.Errorf("of %d activities %s of %s the longest %d are in it", x.Count, x.Task, x.Provider, len(x.Slowest)))
			}
		}
	}
	t.AddGC(l.gc.Result())
	t.AddJIT(l.jit.Result())
	t.AddRequests(served)
	t.AddCounters(l.counters.Result())
	return t
}

// nameTracks names the processes and threads of which there is something.
func nameTracks(t *chrometrace.Trace, who *pick.Names) {
	type track struct{ pid, tid int64 }
	tracks := make(map[track]bool)
	for i := range t.Spans {
		tracks[track{t.Spans[i].Process, t.Spans[i].Thread}] = true
	}
	for i := range t.Marks {
		tracks[track{t.Marks[i].Process, t.Marks[i].Thread}] = true
	}
	processes := make(map[int64]bool)
	for i := range t.Counters {
		processes[t.Counters[i].Process] = true
	}
	keys := slices.Collect(maps.Keys(tracks))
	order.Sort(keys, func(a, b track) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid)) })
	for _, k := range keys {
		processes[k.pid] = true
		if k.tid > 0 {
			t.Threads = append(t.Threads, chrometrace.Thread{Process: k.pid, ID: k.tid, Name: who.OfThread(k.tid)})
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(processes)) {
		t.Processes = append(t.Processes, chrometrace.Process{ID: pid, Name: who.OfProcess(pid)})
	}
}

// onlyThreads leaves events of the threads that were asked for, and those of no thread, such
// as collections and counters. It reports whether there is anything of them.
func onlyThreads(t *chrometrace.Trace, has func(thread int64) bool) bool {
	found := false
	keeps := func(thread int64) bool {
		chosen := thread > 0 && has(thread)
		found = found || chosen
		return chosen || thread <= 0
	}
	t.Spans = order.Delete(t.Spans, func(s chrometrace.Span) bool { return !keeps(s.Thread) })
	t.Marks = order.Delete(t.Marks, func(m chrometrace.Mark) bool { return !keeps(m.Thread) })
	t.Calls = order.Delete(t.Calls, func(x chrometrace.Calls) bool { return !keeps(x.Thread) })
	t.Threads = order.Delete(t.Threads, func(x chrometrace.Thread) bool { return !keeps(x.ID) })
	return found
}

// A chronicled is traces that were read for the course of events, and their code.
type chronicled struct {
	*Profiled
	l    *chronicle
	kind *samples.Kind
	name func(...*stacks.Samples) *stacks.Profile
}

// chronicle reads traces.
func (o *Profiling) chronicle(cmd *cobra.Command, args []string) (*chronicled, error) {
	if err := o.threads.check(); err != nil {
		return nil, err
	}
	h, err := o.header(cmd, args)
	if err != nil {
		return nil, err
	}
	t, trouble, err := o.In.Open(cmd, args, false)
	if err != nil {
		return nil, err
	}
	c := &chronicled{Profiled: &Profiled{T: t, Names: pick.NewNames(), trouble: trouble}, l: newChronicle()}
	if len(t.Profiles()) > 0 {
		c.Profiled, err = o.given(cmd, t, trouble)
		return c, err
	}
	if err := o.readChronicle(cmd, c, h); err != nil {
		t.Close()
		return nil, err
	}
	return c, nil
}

// readChronicle reads the traces that are open.
func (o *Profiling) readChronicle(cmd *cobra.Command, c *chronicled, h *filter.Header) error {
	if err := pick.OneSession(c.T); err != nil {
		return err
	}
	if err := o.CheckKind(); err != nil {
		return err
	}
	files, err := o.Symbols.Open(cmd)
	if err != nil {
		return err
	}
	learnt := o.codeMap(files)
	c.kind = samples.Find(o.Of)
	finish, skip := Start(c.kind, &c.l.mux, c.T, h)
	i := &pick.Inquiry{Cmd: cmd, Mux: &c.l.mux, Names: c.Names, Also: &learnt.Mux, Skip: skip}
	c.l.requests.NameBy(func(s *stacks.Samples) *stacks.Profile { return learnt.Below("", s) })
	if err := i.Read(c.T, h); err != nil {
		c.trouble = cmp.Or(c.trouble, err)
	}
	if cmd.Context().Err() != nil {
		return nil
	}
	options := o.Options()
	options.Native = learnt.Native
	g := finish()
	c.name = func(list ...*stacks.Samples) *stacks.Profile {
		return stacks.NewProfile(learnt.Code.Table(), options, list...)
	}
	c.Profile, c.Period = c.name(g.Samples...), g.Period
	frames.ReportFaults(cmd, files)
	return nil
}

// WriteChrome reads traces and writes the events over time, on the threads that are asked
// for if any are.
func WriteChrome(cmd *cobra.Command, in *pick.Input, sel *pick.Selection, args []string, path string) error {
	o := &Profiling{Of: samples.Kinds[0].Name, Ordered: samples.Names(), naming: "type"}
	o.Within(*in, sel)
	c, err := o.chronicle(cmd, args)
	if err != nil {
		return err
	}
	t, trouble := c.T, c.trouble
	defer t.Close()
	if cmd.Context().Err() != nil {
		return trouble
	}
	origin := t.Start().UnixNano()
	doc := c.l.trace(cmd, c.Names, origin)
	doc.AddProfile(c.Profile, origin, c.Names.OfProcess, c.Names.OfThread)
	if o.threads.given() && !doc.IsEmpty() {
		has, err := o.threads.chosen(c.Names)
		if err == nil && !onlyThreads(doc, has) {
			err = errNoThread
		}
		if err != nil {
			return cmp.Or(trouble, err)
		}
	}
	if doc.IsEmpty() {
		show.ReportNeeds(cmd, needsOf(c.kind, t), t)
		return cmp.Or(trouble, errNothing)
	}
	err = show.WritePage(cmd, path, args, doc.Write)
	return show.Written(cmd, t, err, trouble)
}

// Kinds that there are none of.
var (
	errNoThread = errors.New("nothing happened on a thread that --tid asks for")
	errNothing  = errors.New("there is nothing to write: the trace has nothing that happened at a time, as far as its events are known")
)

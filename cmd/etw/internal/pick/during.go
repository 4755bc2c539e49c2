package pick

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A sought is activities that are to be looked for.
type sought struct {
	names  []filter.Glob
	caused bool // the times are those in which threads worked for them
}

func (x *sought) String() string {
	if x.caused {
		return "--activity " + string(x.names[0])
	}
	return "--during " + string(x.names[0])
}

// seek returns the activities that are asked for, or nil.
func (s *Selection) seek() (*sought, error) {
	x := &sought{caused: len(s.caused) > 0}
	if x.caused && len(s.during) > 0 {
		return nil, cli.Usagef("--activity and --during: give one of them")
	}
	for _, name := range slices.Concat(s.caused, s.during) {
		x.names = append(x.names, filter.Glob(name))
	}
	if len(x.names) == 0 {
		return nil, nil
	}
	return x, nil
}

// findActivities looks for the times of the activities whose names were given. That takes a
// pass of its own over the traces.
func (s *Selector) findActivities(cmd *cobra.Command, in *Input, paths []string) error {
	if s.sought == nil {
		return nil
	}
	if slices.Contains(paths, trace.Stdin) {
		return cli.Usagef("%s: to find when it was on takes a pass of its own over the trace, and the standard input has only one", s.sought)
	}
	t, _, err := in.Open(cmd, paths, false)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := OneSession(t); err != nil {
		return err
	}
	f := &finding{sought: s.sought, during: filter.During{}, tasks: make(map[string]bool), matched: make(map[*activities.Activity]bool)}
	var mux etw.Mux
	f.follow(&mux)
	if err := Once(cmd, t, mux.Dispatch); err != nil {
		return err
	}
	if s.Header.During, err = f.found(); err != nil {
		return err
	}
	if s.Header.Narrow(t.Start()); f.caused {
		f.callers.stacks, f.callers.table = f.flow.Stacks(), f.code.Table()
		s.Header.Taken, s.Header.Caused = f.callers.extend, f.names
	}
	return nil
}

// A finding looks for activities.
type finding struct {
	*sought
	flow    *activities.Analysis
	during  filter.During
	tasks   map[string]bool // all that ended
	matched map[*activities.Activity]bool
	spans   []worked
	count   int              // of the activities
	untold  int              // of them, those for which no thread is known to have worked
	layer   activities.Layer // the least of their processes
	callers callers
	code    *symbols.Analysis
	region  *time.Duration // when the mark was set that has the name, of the region that is on
}

// mark takes a mark that was set in the trace of a machine. From one mark up to the next is a
// region, in which all processes are.
func (f *finding) mark(at time.Duration, text string) {
	f.tasks[text] = true
	switch {
	case slices.ContainsFunc(f.names, func(g filter.Glob) bool { return g.Match(text) }):
		f.count++
		f.region = cmp.Or(f.region, &at)
	case f.region != nil:
		f.during.Add(filter.Everyone, filter.Span{From: *f.region, To: max(at-1, *f.region)})
		f.region = nil
	}
}

type worked struct {
	pid int64
	activities.Span
}

func (f *finding) follow(mux *etw.Mux) {
	a := requests.New(mux)
	f.flow, f.layer = activities.Of(mux), activities.Flow
	if !f.caused {
		etw.Handle(mux, func(r *etw.Record, e *kernel.AnyPerfInfoMark) error {
			f.mark(r.Elapsed(), e.Message.String())
			return nil
		})
	}
	if f.caused {
		f.flow.OnSpan(func(pid int64, s activities.Span) { f.spans = append(f.spans, worked{pid, s}) })
		f.callers = callers{of: make(map[filter.Worker][]calledBy), runs: make(map[filter.Worker][]asyncs.Run), known: make(map[uint64]code)}
		f.flow.OnCallers(f.callers.add)
		asyncs.Of(mux).OnRun(f.callers.addRun)
		f.code = symbols.New(mux)
	}
	a.OnEnd(func(pid int64, provider, task string, act requests.Activity) {
		f.tasks[task] = true
		if act.Endpoint != "" {
			f.tasks[act.Endpoint] = true
		}
		if !isOneOf(f.names, provider, task, &act) {
			return
		}
		f.count++
		if !f.caused {
			f.during.Add(filter.Worker{Process: pid, Thread: filter.AnyThread},
				filter.Span{From: sinceStart(act.StartMS, math.Floor), To: sinceStart(act.StartMS+act.DurationMS, math.Ceil)})
			return
		}
		f.layer = min(f.layer, f.flow.Layer(pid))
		if act.Flow == nil || f.flow.Layer(pid) == activities.None {
			f.untold++
			return
		}
		f.matched[act.Flow] = true
	})
}

// isOneOf reports whether an activity has one of the names of --activity or --during: its task, with
// its provider or without, its endpoint, name or id.
func isOneOf(names []filter.Glob, provider, task string, act *requests.Activity) bool {
	texts := []string{task, provider + "/" + task, act.Endpoint, act.Name, act.ID, act.SpanID}
	return slices.ContainsFunc(names, func(g filter.Glob) bool { return slices.ContainsFunc(texts, g.Match) })
}

// Named returns what tells those activities from others.
func Named(names []filter.Glob) func(provider, task string, act *requests.Activity) bool {
	return func(provider, task string, act *requests.Activity) bool { return isOneOf(names, provider, task, act) }
}

// found returns the times of the activities.
func (f *finding) found() (filter.During, error) {
	switch {
	case f.count == 0:
		return nil, NoActivity(f.sought.String(), string(f.names[0]), slices.Collect(maps.Keys(f.tasks)))
	case f.untold > 0:
		return nil, cli.Usagef("%s: the trace does not tell which threads worked for %d of %d such activities: record it by etw collect --profile cause, or take all that was on meanwhile by --during %s",
			f.sought, f.untold, f.count, f.names[0])
	}
	if f.region != nil { // up to the end
		f.during.Add(filter.Everyone, filter.Span{From: *f.region, To: math.MaxInt64})
	}
	f.flow.Finish()
	for _, s := range f.spans {
		if s.Of.Within(func(x *activities.Activity) bool { return f.matched[x] }) {
			f.during.Add(filter.Worker{Process: s.pid, Thread: s.Thread}, filter.Span{From: s.Since, To: s.Until})
		}
	}
	f.during.Sort()
	return f.during, nil
}

// sinceStart converts a time in milliseconds. Ends are rounded such that the events of an
// activity itself are in its time, whose clock is coarser than a nanosecond.
func sinceStart(ms float64, round func(float64) float64) time.Duration {
	const most = math.MaxInt64 / 1e9
	return time.Duration(round(min(max(ms*1e4, -most), most))) * 100
}

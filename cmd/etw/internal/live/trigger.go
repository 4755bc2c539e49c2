package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A trigger sees when something happens for which a recording is to stop.
type trigger struct {
	sel   *pick.Selector // of an event
	event string         // as it was named
	what  string         // happened

	limit  time.Duration // of a pause
	pauses *pauses

	counter *counterLimit
}

// parseTrigger reads
//
//	EVENT [where CONDITION [and CONDITION]...]
//	pause > DURATION
//	counter SOURCE/NAME > NUMBER
//	metric METER/NAME > NUMBER
//
// The trigger for nothing is nil.
func parseTrigger(cmd *cobra.Command, text string) (*trigger, error) {
	if text == "" {
		return nil, nil
	}
	if limit, ok := strings.CutPrefix(strings.Join(strings.Fields(text), ""), "pause>"); ok {
		d, err := time.ParseDuration(limit)
		if err != nil || d <= 0 {
			return nil, cli.Usagef("--stop-when: %q is not a time such as 200ms", limit)
		}
		return &trigger{limit: d, pauses: newPauses()}, nil
	}
	if c, err := parseCounterLimit(cmd, text); c != nil || err != nil {
		return &trigger{counter: c}, err
	}
	event, rest, _ := strings.Cut(text, " ")
	sel := &pick.Selection{Events: []string{event}, Zone: "UTC"}
	if rest = strings.TrimSpace(rest); rest != "" {
		conditions, ok := strings.CutPrefix(rest, "where ")
		if !ok {
			return nil, cli.Usagef("--stop-when %q: after the name of an event comes where, and a condition such as 'ExceptionType ~ Timeout'", text)
		}
		sel.Wheres = strings.Split(conditions, " and ")
	}
	if i := strings.IndexAny(event, ":=<>"); i > 0 {
		return nil, cli.Usagef("--stop-when %q is neither the name of an event nor a limit, such as 'pause > 200ms' or 'counter System.Runtime/cpu-usage > 80'", text)
	}
	var err error
	t := &trigger{event: event}
	if t.sel, err = sel.Selector(nil); err != nil {
		return nil, fmt.Errorf("--stop-when: %w", err)
	}
	if descs := t.sel.Candidates(nil, false); len(descs) > 0 {
		if err := t.sel.CheckFields(descs, true); err != nil {
			return nil, fmt.Errorf("--stop-when: %w", err)
		}
	}
	t.sel.Decoding = false
	return t, nil
}

// check reports an event that none of the providers has that are recorded. Of some nobody
// knows their events before they come.
func (t *trigger) check(recorded []eventpipe.Provider) error {
	if t == nil || t.sel == nil || len(t.sel.Candidates(nil, false)) > 0 {
		return nil
	}
	known := map[string]bool{strings.ToLower(cpu.Needs[0].Provider): true} // the sampler, whose event has no name
	var names []string
	for _, p := range append(pick.BuiltinProviders(), t.sel.Known...) {
		known[strings.ToLower(p.Desc.Name)] = true
		for _, d := range p.Events {
			if d.Kind == etw.KindManifest {
				names = append(names, d.Name)
			}
		}
	}
	for _, p := range recorded {
		if !known[strings.ToLower(p.Name)] {
			return nil
		}
	}
	return cli.Usagef("--stop-when %s: no provider that is recorded has such an event%s; etw events lists those that are known, and --providers records others", t.event, cli.DidYouMean(t.event, names))
}

// never says why it cannot happen any more, if that is known.
func (t *trigger) never() string {
	if t.counter == nil {
		return ""
	}
	return t.counter.never
}

// needs returns the events that the trigger has to see.
func (t *trigger) needs() []eventpipe.Provider {
	switch {
	case t == nil:
		return nil
	case t.counter != nil:
		list, _ := t.counter.mode.providers() // its flags are right
		return list
	case t.pauses != nil:
		gcs, _ := eventpipe.FindProfile("gc-collect")
		return gcs.Providers
	}
	return windows.ForEvents(t.sel)
}

// hit reports whether it happened with a record, which come in the order of time.
func (t *trigger) hit(rec *etw.Record) bool {
	if t.counter != nil {
		t.what = t.counter.hit(rec)
		return t.what != ""
	}
	if t.pauses == nil {
		s, _ := t.sel.Take(rec, rec.Elapsed())
		if s != nil {
			t.what = s.Event.Name + " happened"
		}
		return s != nil
	}
	hit := false
	t.pauses.take(rec, func(_ int64, g *gc.GC) {
		if pause := time.Duration(g.PauseMS.Or(0) * float64(time.Millisecond)); pause > t.limit {
			t.what, hit = fmt.Sprintf("collection %d (%s) paused the program for %v", g.Number, g.Name, pause.Round(time.Microsecond)), true
		}
	})
	return hit
}

// pauses tells of collections as they end.
type pauses struct {
	mux      etw.Mux
	analysis *gc.Analysis
	due      bool // a collection may have ended
}

func newPauses() *pauses {
	p := new(pauses)
	p.analysis = gc.New(&p.mux)
	// The event that completes a collection, after the analysis has seen it.
	etw.Handle(&p.mux, func(*etw.Record, *clr.AnyGCRestartEEEnd) error { p.due = true; return nil })
	etw.Handle(&p.mux, func(*etw.Record, *clr.AnyGCHeapStats) error { p.due = true; return nil })
	return p
}

// take takes a record and calls f for the collections that ended with it.
func (p *pauses) take(rec *etw.Record, f func(pid int64, g *gc.GC)) {
	_ = p.mux.Dispatch(rec) // no handler has an error
	if p.due {
		p.due = false
		p.analysis.Drain(f)
	}
}

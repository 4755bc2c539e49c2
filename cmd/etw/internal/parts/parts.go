package parts

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Of returns which part of another trace the traces say they are, or nil, which of it is chosen of
// events, and when their session began. Threads are chosen of events for an answer that is ofThreads, and later else. The standard input is not looked at before it is read.
func Of(cmd *cobra.Command, paths []string, ofThreads, later bool, opts ...trace.Option) (p, events *trace.Part, start time.Time, err error) {
	if slices.Contains(paths, trace.Stdin) {
		return nil, nil, time.Time{}, nil
	}
	p, start, differ := trace.PartOf(paths, opts...)
	if differ {
		ReportApart(cmd)
	}
	if p == nil || p.Threads == "" || ofThreads {
		return p, p, start, nil
	}
	if !later {
		return p, nil, start, cli.Usagef("the trace is only a part of another, %s, and this answer is of all threads: only the whole has it", p)
	}
	all := *p
	if all.Threads = ""; all.IsAll() {
		return p, nil, start, nil
	}
	return p, &all, start, nil
}

// ReportApart says that traces are not of one part.
func ReportApart(cmd *cobra.Command) {
	cli.Report(cmd, errors.New("some of the traces are parts, of times that do not adjoin or of other processes, threads or activities: numbers are of the whole session; flags can say which part is meant"))
}

// A Choice has the values of flags.
type Choice struct {
	Processes, Threads, Activities, During *[]string
	From, To                               *string
}

// Take has the flags that are not given be those of a part, if there is one.
func (c Choice) Take(p *trace.Part) {
	if p == nil {
		return
	}
	for _, x := range []struct {
		flag *[]string
		part string
	}{{c.Processes, p.Processes}, {c.Threads, p.Threads}} {
		if len(*x.flag) == 0 && x.part != "" {
			*x.flag = []string{x.part}
		}
	}
	if len(*c.Activities)+len(*c.During) == 0 {
		*c.Activities, *c.During = p.Activities, p.During
	}
}

// Narrow leaves of the header that the flags make that which is in a part of a session that began at
// start.
func (c Choice) Narrow(h *filter.Header, p *trace.Part, start time.Time) error {
	within, err := Within(h, p, start)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		at   *time.Duration
		text *string
		into **filter.Moment
	}{{within.From, c.From, &h.From}, {within.To, c.To, &h.To}} {
		if x.at == nil {
			continue
		}
		*x.into = &filter.Moment{Elapsed: *x.at}
		if *x.text == "" {
			*x.text = fmt.Sprintf("%.3f", float64(*x.at)/1e6)
		}
	}
	h.Partial, h.Lives = p.Processes+p.Threads != "", livesOf(within.Lives, start)
	for _, x := range []struct {
		text string
		into *filter.Numbers
	}{{within.Processes, &h.Processes}, {within.Threads, &h.Threads}} {
		if x.text == "" {
			continue
		}
		if *x.into, err = filter.ParseNumbers(x.text, math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// Within returns which part a header chooses of a trace that is a part itself, or nil for all of
// another, the session of which began at start.
func Within(h *filter.Header, of *trace.Part, start time.Time) (*trace.Part, error) {
	p := new(trace.Part)
	if of != nil {
		*p = *of
	}
	since := func(m *filter.Moment) *time.Duration {
		m.Resolve(start)
		at := m.Since(etw.FileTimeOf(start))
		return &at
	}
	if h.From != nil {
		if at := since(h.From); p.From == nil || *at > *p.From {
			p.From = at
		}
	}
	if h.To != nil {
		if at := since(h.To); p.To == nil || *at < *p.To {
			p.To = at
		}
	}
	if p.From != nil && p.To != nil && *p.From >= *p.To {
		return nil, cli.Usagef("--from and --to: the trace is only a part of another, %s", of)
	}
	for _, x := range []struct {
		flag  string
		given filter.Numbers
		into  *string
	}{{"process", h.Processes, &p.Processes}, {"tid", h.Threads, &p.Threads}} {
		var all filter.Numbers
		if *x.into != "" {
			all, _ = filter.ParseNumbers(*x.into, math.MaxInt64)
		}
		both, any := all.And(x.given)
		if !any {
			return nil, cli.Usagef("--%s %s: the trace is only a part of another, %s", x.flag, x.given, of)
		}
		*x.into = both.String()
	}
	p.Lives = append(slices.Clone(p.Lives), markedLives(h.Lives, p.Lives, start)...)
	return p, nil
}

// markedLives returns the lives of a header, in the time of a session that began at start, but for
// those of numbers that others are of.
func markedLives(of map[int64][]filter.Life, others []trace.Life, start time.Time) (list []trace.Life) {
	at := func(ns int64) *time.Duration {
		if ns == math.MinInt64 || ns == math.MaxInt64 {
			return nil
		}
		d := time.Duration(ns - start.UnixNano())
		return &d
	}
	for _, pid := range slices.Sorted(maps.Keys(of)) {
		if slices.ContainsFunc(others, func(l trace.Life) bool { return l.PID == pid }) {
			continue
		}
		for _, l := range of[pid] {
			list = append(list, trace.Life{PID: pid, Name: l.Name, From: at(l.From), To: at(l.To)})
		}
	}
	return list
}

// livesOf returns lives as a header has them.
func livesOf(list []trace.Life, start time.Time) map[int64][]filter.Life {
	if list == nil {
		return nil
	}
	at := func(d *time.Duration, none int64) int64 {
		if d == nil {
			return none
		}
		return start.UnixNano() + int64(*d)
	}
	of := make(map[int64][]filter.Life)
	for _, l := range list {
		of[l.PID] = append(of[l.PID], filter.Life{Name: l.Name, From: at(l.From, math.MinInt64), To: at(l.To, math.MaxInt64)})
	}
	return of
}

package pick

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// findActivities looks for the times in which the activities were on whose names were
// given. That takes a pass of its own over the traces.
func (s *Selector) findActivities(cmd *cobra.Command, in *Input, paths []string) error {
	if len(s.during) == 0 {
		return nil
	}
	if slices.Contains(paths, trace.Stdin) {
		return cli.Usagef("--activity %s: to find when it was on takes a pass of its own over the trace, and the standard input has only one", s.during[0])
	}
	t, _, err := in.Open(cmd, paths, false)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := OneSession(t); err != nil {
		return err
	}
	found, names := filter.During{}, make(map[string]bool)
	var mux etw.Mux
	a := requests.New(&mux)
	a.OnEnd(func(pid int64, provider, task string, act requests.Activity) {
		names[task] = true
		if slices.ContainsFunc(s.during, func(g filter.Glob) bool { return g.Match(task) || g.Match(act.Name) || g.Match(provider+"/"+task) }) {
			found.Add(pid, filter.Span{From: sinceStart(act.StartMS, math.Floor), To: sinceStart(act.StartMS+act.DurationMS, math.Ceil)})
		}
	})
	r := &Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress, Quiet: true}
	if err := r.Each(t, mux.Dispatch); err != nil && !errors.Is(err, cli.ErrReported) {
		return err
	}
	if len(found) == 0 {
		known := make([]string, 0, len(names))
		for name := range names {
			known = append(known, name)
		}
		slices.Sort(known)
		return cli.Usagef("--activity: no activity that ended is called %s%s; the tasks in the trace are %s", s.during[0], cli.DidYouMean(string(s.during[0]), known), Listed(known))
	}
	found.Sort()
	s.Header.During = found
	return nil
}

// sinceStart converts a time in milliseconds. Ends are rounded such that the events of an
// activity itself are in its time, whose clock is coarser than a nanosecond.
func sinceStart(ms float64, round func(float64) float64) time.Duration {
	const most = math.MaxInt64 / 1e9
	return time.Duration(round(min(max(ms*1e4, -most), most))) * 100
}

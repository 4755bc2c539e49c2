package ask

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// whyNotHere says that the trace has an answer outside of the scope, if it does, which
// another pass tells.
func (q *Question) whyNotHere(i *pick.Inquiry, args []string) string {
	if (i.Cut || i.Parted || q.scope.Parted()) && !slices.Contains(args, trace.Stdin) && q.answersAll(i, args) {
		if q.scope.Threads() != nil {
			return "the trace has an answer, but not for the threads, the time and the processes that were asked for"
		}
		return "the trace has an answer, but not for the time and the processes that were asked for"
	}
	return ""
}

// reportNone says why there is no answer: that is known, or the trace lacks something. It
// returns cli.ErrNone unless the trace has an answer, or events of which the answer is that
// there is nothing.
func (q *Question) reportNone(cmd *cobra.Command, a *answered) error {
	there := slices.IndexFunc(q.Needs, func(n need.Need) bool { return a.seen.Recorded(&n) })
	switch {
	case a.why != "":
		cli.Report(cmd, errors.New(a.why))
		return nil
	case q.missing != "":
		cli.Report(cmd, errors.New(show.OnSystem(q.missing, a.t)))
	case there >= 0 && !cli.IsLive(cmd):
		cli.Report(cmd, fmt.Errorf("the trace has no events of %s, though others of their keyword: they were recorded, and there were none", q.Needs[there].What))
	default:
		show.ReportNeeds(cmd, q.Needs, a.t)
	}
	if cli.IsLive(cmd) || there >= 0 || q.missing != "" && a.has(q.Needs) {
		return nil
	}
	return cli.ErrNone
}

// has reports whether the trace has any events of the needs.
func (a *answered) has(needs []need.Need) bool {
	return slices.ContainsFunc(needs, func(n need.Need) bool { return a.seen.Has(&n, false) == need.Present })
}

// answersAll reports whether the traces have an answer for any time and process.
func (q *Question) answersAll(i *pick.Inquiry, args []string) bool {
	t, _, err := q.in.Open(i.Cmd, args, false)
	if err != nil {
		return false
	}
	defer t.Close()
	var mux etw.Mux
	again := q.ask(&mux)
	r := &pick.Reading{Cmd: i.Cmd, Progress: show.NewProgress(i.Cmd.ErrOrStderr(), nil), Share: t.Progress, Quiet: true}
	if err := r.Each(t, mux.Dispatch); err != nil && !errors.Is(err, cli.ErrReported) {
		return false
	}
	return again.take()
}

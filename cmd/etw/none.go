package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// whyNotHere says that the trace has an answer outside of what was asked for, if it does,
// which another pass tells.
func (q *question) whyNotHere(i *inquiry, args []string) string {
	if (i.cut || i.parted || len(i.asked) > 0) && !slices.Contains(args, trace.Stdin) && q.answersAll(i, args) {
		return "the trace has an answer, but not for the time and the processes that were asked for"
	}
	return ""
}

// reportNone says why there is no answer: that is known, or the trace lacks something.
func (q *question) reportNone(cmd *cobra.Command, why string) {
	switch {
	case why != "":
		report(cmd, errors.New(why))
	case q.missing != "":
		report(cmd, errors.New(q.missing))
	default:
		reportNeeds(cmd, q.needs)
	}
}

// answersAll reports whether the traces have an answer for any time and process.
func (q *question) answersAll(i *inquiry, args []string) bool {
	t, _, err := q.in.open(i.cmd, args, false)
	if err != nil {
		return false
	}
	defer t.Close()
	var mux etw.Mux
	again := q.ask(&mux)
	r := &reading{cmd: i.cmd, progress: newProgress(i.cmd.ErrOrStderr(), nil), share: t.Progress, quiet: true}
	if err := r.each(t, mux.Dispatch); err != nil && !errors.Is(err, errReported) {
		return false
	}
	return again.take()
}

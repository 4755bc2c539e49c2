package ask

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// soFarAfter is how long a reading goes on before the answer so far is told, and between two.
const soFarAfter = 400 * time.Millisecond

// tellSoFar has a server that wants to know told of an answer that grows, the lanes of a timeline,
// whenever it is told how far the reading came, so rarely that it takes a tenth of the time at most.
// Lanes of --root are told at the end alone: Windows tells call stacks after their events, and
// events that are counted before would stay without them.
func tellSoFar(cmd *cobra.Command, a answer, where func() placement) {
	ctx := cmd.Context()
	lanes, grows := a.(*timelineAnswer)
	tell, ok := ctx.Value(cli.SoFarKey{}).(func(any))
	progress, shown := ctx.Value(cli.ProgressKey{}).(func(events int64, share float64))
	if !grows || !ok || !shown || lanes.q.root != "" {
		return
	}
	due := time.Now().Add(soFarAfter)
	cmd.SetContext(context.WithValue(ctx, cli.ProgressKey{}, func(events int64, share float64) {
		progress(events, share)
		begun := time.Now()
		if begun.Before(due) {
			return
		}
		tell(lanes.soFar(where()))
		due = time.Now().Add(max(soFarAfter, 9*time.Since(begun)))
	}))
}

// soFar returns the lanes of the records that were read, and leaves those of all as they will be.
func (a *timelineAnswer) soFar(where placement) any {
	a.place(where)
	a.take()
	if a.q.named != nil {
		a.q.named.Forget() // names often come at the end of a trace
	}
	return a.res
}

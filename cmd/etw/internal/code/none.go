package code

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
)

// sayNone says why there is no sample. It is an error if nobody can have what was asked for.
func (o *Profiling) sayNone(cmd *cobra.Command, args []string, asked *filter.Header, p *Profiled) error {
	if cmd.Context().Err() != nil {
		return nil
	}
	if err := pick.CheckMet(cmd, &o.In, args, asked); err != nil {
		return err
	}
	if p.none != "" {
		cli.Report(cmd, errors.New(p.none))
	}
	show.ReportNeeds(cmd, p.lacks, p.T)
	if o.Of == "cpu" && p.none == "" && p.seen.Has(&need.Switches, false) == need.Present {
		cli.Report(cmd, errors.New("the trace has context switches: etw threads tells how long threads ran, and etw top --of blocked where they waited"))
	}
	return nil
}

// whyNone says why there is nothing, if the trace has events of the kind, or none in the
// time. It is an answer if more would be there without filters.
func (o *Profiling) whyNone(i *pick.Inquiry, needs []need.Need, seen *need.Seen) string {
	at := slices.IndexFunc(needs, func(n need.Need) bool { return seen.Has(&n, false) == need.Present })
	switch why := i.Span.WhyNone(&o.scope); {
	case why != "":
		return why
	case at >= 0 && (i.Cut || i.Parted || o.scope.Parted()):
		return noneInPart
	case at < 0 || o.scope.Part != nil:
		return show.WhyPart(o.scope.Part)
	}
	return "the trace has events of " + needs[at].What + ", but none that weigh code: samples of idle processors do not, nor do events of Microsoft-Windows-Kernel-File and -Disk, of which etw files tells"
}

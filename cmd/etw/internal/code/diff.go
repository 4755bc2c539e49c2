package code

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// diffFlag defines the flag that names a trace to compare with.
func (o *Profiling) diffFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.before, "diff", "", "compare with this `FILE`, a trace of before")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"diff": pick.CompleteTraces})
}

// compare reads traces, and the one that they are compared with.
func (o *Profiling) compare(cmd *cobra.Command, args []string) (*Profiled, error) {
	old, err := o.ReadOne(cmd, []string{o.before})
	if err != nil {
		return nil, fmt.Errorf("--diff: %w", err)
	}
	defer old.T.Close()
	p, err := o.ReadOne(cmd, args)
	if err != nil {
		return nil, err
	}
	if show.ReportLosses(cmd, old.T) {
		p.trouble = cmp.Or(p.trouble, cli.ErrReported)
	}
	if b, a := old.kindOf(), p.kindOf(); b != "" && a != "" && b != a && !old.isAlike(p) {
		p.T.Close()
		return nil, cli.Usagef("--diff: %s has %s, which cannot be compared with %s", o.before, b, a)
	}
	p.Profile = stacks.Diff(old.Profile, p.Profile)
	p.across = &recordings{old.Names, p.Names}
	p.compared, p.before, p.seenBefore, p.trouble = true, old.T, old.seen, cmp.Or(p.trouble, old.trouble)
	p.Facts = append(Prefixed("before: ", old.Facts), Prefixed("after: ", p.Facts)...)
	p.warnings = append(Prefixed("before: ", old.warnings), Prefixed("after: ", p.warnings)...)
	return p, nil
}

// kindOf is the kind of the samples, and in which unit, or "" if there are none.
func (p *Profiled) kindOf() string {
	if p.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%s in %s", p.Kind, p.Types[len(p.Types)-1].Unit)
}

// isAlike reports whether two profiles can be compared, whatever their samples are called:
// other tools have other words for time on a processor.
func (p *Profiled) isAlike(q *Profiled) bool {
	return (p.given || q.given) && lastType(p.Profile).Unit == lastType(q.Profile).Unit
}

// sums returns the sums of all samples, which are 0 if there are none.
func (p *Profiled) sums() []int64 {
	if len(p.Types) == 0 {
		return []int64{0}
	}
	return p.Totals()
}

// weight decides whether a part is shown: its weight, or its weight before if that is more.
func (p *Profiled) weight(values []int64) int64 {
	if p.compared {
		return slices.Max(values)
	}
	return lastOf(values)
}

// change is how much more something weighs than before.
func change(values []int64) int64 { return values[1] - values[0] }

// compareChanges puts the largest change first, up or down.
func compareChanges(a, b []int64) int {
	size := func(v []int64) float64 { return math.Abs(float64(change(v))) }
	return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(slices.Max(b), slices.Max(a)))
}

// top returns the frames, those that weigh most themselves first, or that have changed
// most; threads that wait are last.
func (p *Profiled) top() []stacks.Top {
	list := p.View().Top()
	if p.compared {
		work := list
		if n := slices.IndexFunc(list, func(t stacks.Top) bool { return p.Frames[t.Frame].Waiting }); n >= 0 {
			work = list[:n]
		}
		order.Stable(work, func(a, b stacks.Top) int {
			return cmp.Or(compareChanges(a.Self, b.Self), compareChanges(a.Total, b.Total))
		})
	}
	return list
}

// headOfDiff prints the text before a table for people.
func (p *Profiled) headOfDiff(out *show.Printer) {
	u, totals := p.unit(), p.Totals()
	title := fmt.Sprintf("%s: %s before, %s after", p.Kind, u.text(totals[0]), u.text(totals[1]))
	if totals[0] > 0 {
		title += fmt.Sprintf(", %+.1f %%", 100*float64(change(totals))/float64(totals[0]))
	}
	fmt.Fprintln(out, string(out.Paint(nil, show.ColorBold, cli.Clean(title))))
	p.printFacts(out)
}

// changes are the columns of how much more rows weigh than before.
func changes[T any](p *Profiled, of func(T) []int64) []views.Column[T] {
	return []views.Column[T]{
		weight(p, "change", func(row T) int64 { return change(of(row)) }),
		weight(p, "before", func(row T) int64 { return of(row)[0] }),
		weight(p, "after", func(row T) int64 { return of(row)[1] }),
	}
}

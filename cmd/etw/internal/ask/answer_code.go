package ask

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// The views that show which code it is.
const (
	byMethod = "method"
	byStack  = "stack"
)

// A stacked is an answer whose events have call stacks. Where these end within the runtime's
// own code that throws, locks or waits, machinery are the begins of the names of its methods.
type stacked interface {
	code() (samples []*stacks.Samples, machinery []string)
}

// isOfCode reports whether the rows are those of call stacks.
func (q *Question) isOfCode() bool {
	return slices.Contains(q.views, byStack) && (q.by == byMethod || q.by == byStack)
}

// needsCode reports whether names of code are needed.
func (q *Question) needsCode() bool { return q.isOfCode() || q.root != "" }

// checkRoot reads --root. Where only some rows are of code, these are meant.
func (q *Question) checkRoot(cmd *cobra.Command) error {
	if q.root == "" {
		return nil
	}
	if _, err := stacks.Match(q.root); err != nil {
		return cli.Usagef("--root: %w", err)
	}
	switch {
	case q.rooted || q.isOfCode():
	case !cmd.Flags().Changed("by"):
		q.by = byMethod
	default:
		return cli.Usagef("--root %s: it goes with --by %s or --by %s", q.root, byMethod, byStack)
	}
	return nil
}

// rowsOfCode returns the rows of a view of call stacks.
func rowsOfCode(m *frames.CodeMap, a answer, view, root string) *show.Table {
	samples, machinery := a.(stacked).code()
	p := &code.Profiled{Profile: m.Below(root, samples...)}
	if len(machinery) > 0 && view == byMethod {
		p.LeaveMachinery(machinery)
	}
	if view == byMethod {
		return (&code.Top{By: code.Tops[0]}).Table(p)
	}
	return p.StackTable()
}

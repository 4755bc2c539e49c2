package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
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
func (q *question) isOfCode() bool {
	return slices.Contains(q.views, byStack) && (q.by == byMethod || q.by == byStack)
}

// needsCode reports whether names of code are needed.
func (q *question) needsCode() bool { return q.isOfCode() || q.root != "" }

// checkRoot reads --root. Where only some rows are of code, these are meant.
func (q *question) checkRoot(cmd *cobra.Command) error {
	if q.root == "" {
		return nil
	}
	if _, err := stacks.Match(q.root); err != nil {
		return usagef("--root: %w", err)
	}
	switch {
	case q.rooted || q.isOfCode():
	case !cmd.Flags().Changed("by"):
		q.by = byMethod
	default:
		return usagef("--root %s: it goes with --by %s or --by %s", q.root, byMethod, byStack)
	}
	return nil
}

// rowsOfCode returns the rows of a view of call stacks.
func rowsOfCode(m *codeMap, a answer, view, root string) *table {
	samples, machinery := a.(stacked).code()
	p := &profiled{Profile: m.below(root, samples...)}
	if len(machinery) > 0 && view == byMethod {
		p.leaveMachinery(machinery)
	}
	if view == byMethod {
		return (&top{by: tops[0]}).table(p)
	}
	return p.stackTable()
}

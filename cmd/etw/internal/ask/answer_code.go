package ask

import (
	"slices"
	"time"

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
func (q *Question) needsCode() bool { return q.naming || q.isOfCode() || q.root != "" }

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

// nameMethods has the result of an answer name the methods of single samples, without the runtime's own
// code, if it does.
func (q *Question) nameMethods(a answer) {
	x, ok := a.result().(interface {
		Name(of func(pid, tid int64, at time.Time) string)
	})
	if !ok || !q.naming {
		return
	}
	samples, machinery := a.(stacked).code()
	type place struct{ pid, tid, at int64 }
	if x, ok := a.(interface{ open() []*stacks.Samples }); ok {
		samples = append(slices.Clip(samples), x.open()...)
	}
	p := &code.Profiled{Profile: q.named.Below("", samples...)}
	p.LeaveMachinery(machinery)
	named := make(map[place]string)
	for s := range p.Samples() {
		if s.Stack != 0 {
			_, frame := p.Split(s.Stack)
			named[place{s.Process, s.Thread, s.Time}] = p.Frames[frame].Name
		}
	}
	x.Name(func(pid, tid int64, at time.Time) string { return named[place{pid, tid, at.UnixNano()}] })
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

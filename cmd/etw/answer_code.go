package main

import (
	"cmp"
	"slices"
	"strings"

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

// The runtime's own code that throws, locks and waits.
var (
	throwingCode = []string{"System.Runtime.EH."}
	lockingCode  = []string{"System.Threading.Monitor.", "System.Threading.Lock.", "System.Diagnostics.Tracing.NativeRuntimeEventSource."}
	waitingCode  = []string{"System.Threading.", "System.Diagnostics.Tracing.NativeRuntimeEventSource."}
)

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

// below returns samples with names: all, or what code that matches the patterns of root
// calls.
func (m *codeMap) below(root string, samples ...*stacks.Samples) *stacks.Profile {
	if m.learnt == nil {
		m.learnt = m.code.Table()
	}
	p := stacks.NewProfile(m.learnt, stacks.Options{Names: stacks.QualifiedNames, Native: m.native}, samples...)
	if match, err := stacks.Match(root); err == nil && root != "" {
		return p.Below(match)
	}
	return p
}

// rows returns the rows of a view.
func (m *codeMap) rows(a answer, view, root string) *table {
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

// leaveMachinery gives what the innermost frames of the runtime's own code weigh to those
// that called it. begins are those of the names of its methods.
func (p *profiled) leaveMachinery(begins []string) {
	p.Profile = p.WithoutInnermost(func(f *stacks.Frame) bool {
		name := f.Full
		if _, method, ok := strings.Cut(name, "!"); ok {
			name = method
		}
		return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(name, begin) })
	})
}

// stackTable sums up by call stack and what the samples are of.
func (p *profiled) stackTable() *table {
	u := p.unit()
	t := newTable(u.column("self"), counted("count"), label("type"), label("stack").cutAtEnd())
	type key struct {
		stack stacks.ID
		label string
	}
	sums := make(map[key]*[2]int64)
	var order []key
	for s := range p.Samples() {
		k := key{stack: s.Stack, label: labelOf(s, "type")}
		sum := sums[k]
		if sum == nil {
			sum = new([2]int64)
			sums[k] = sum
			order = append(order, k)
		}
		sum[0] += s.Values[0]
		sum[1] += lastOf(s.Values)
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(sums[b][1], sums[a][1]) })
	for _, k := range order {
		var frames []string
		for f := range p.Stack(k.stack) {
			frames = append(frames, p.Frames[f].Name)
		}
		t.add(u.cell(sums[k][1]), whole(sums[k][0]), k.label, strings.Join(frames, " < "))
	}
	return t
}

package code

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
)

// stacksForPeople is how many stacks people get to see if they do not say.
const stacksForPeople = 10

func (p *Profiled) printStacks(out *show.Printer, most int) error {
	var paths []stacks.Path
	if p.Len() > 0 {
		paths = p.View().Paths()
	}
	all := len(paths)
	if most == 0 && out.Format == show.FormatText {
		most = stacksForPeople
	}
	if most > 0 {
		paths = paths[:min(most, len(paths))]
	}
	switch out.Format {
	case show.FormatJSON:
		return p.stacksDocument(out, paths)
	case show.FormatText:
		return p.stacksText(out, paths, all)
	}
	columns := append(sharing(p, "self", p.lastTotal(), func(x stacks.Path) []int64 { return x.Values }),
		views.Count("count", func(x stacks.Path) int64 { return x.Values[0] }),
		views.Text("stack", func(x stacks.Path) string { return strings.Join(p.FrameNames(x.Stack), ";") }))
	return pick.Rows(paths, columns...).Write(out)
}

// FrameNames returns the names of the frames of a stack, the outermost first.
func (p *Profiled) FrameNames(id stacks.ID) []string {
	var names []string
	for f := range p.Stack(id) {
		names = append(names, strings.ReplaceAll(p.Frames[f].Name, ";", ":"))
	}
	slices.Reverse(names)
	return names
}

func (p *Profiled) stacksText(out *show.Printer, paths []stacks.Path, all int) error {
	p.Head(out)
	u, total := p.unit(), p.lastTotal()
	for _, path := range paths {
		share := ""
		if total != 0 {
			share = fmt.Sprintf(", %.1f %%", 100*float64(lastOf(path.Values))/float64(total))
		}
		title := fmt.Sprintf("%s%s", u.text(lastOf(path.Values)), share)
		if len(path.Values) > 1 {
			title += fmt.Sprintf(", %s", show.Count(path.Values[0], "event", "events"))
		}
		fmt.Fprintf(out, "\n%s\n", out.Paint(nil, show.ColorBold, title))
		for _, name := range slices.Backward(p.FrameNames(path.Stack)) {
			fmt.Fprintf(out, "  %s\n", cli.Clean(name))
		}
	}
	if len(paths) < all {
		_, err := fmt.Fprintf(out, "\n%s\n", out.Paint(nil, show.ColorDim, fmt.Sprintf("%d of %d stacks; --top %[2]d shows all", len(paths), all)))
		return err
	}
	return nil
}

// A profileHead is the JSON of a profile beside its rows.
type profileHead struct {
	Schema       int                `json:"schema"`
	Kind         string             `json:"kind"`
	Types        []stacks.ValueType `json:"types"`
	Totals       []int64            `json:"totals"`
	NamedPercent float64            `json:"namedPercent"`
	// Facts say how far the samples can be trusted.
	Facts []string `json:"facts"`
}

func (p *Profiled) document() profileHead {
	h := profileHead{Schema: 1, Kind: p.Kind, Types: p.Types, NamedPercent: p.Naming.Percent(), Totals: []int64{}, Facts: append([]string{}, p.Facts...)}
	if p.Len() > 0 {
		h.Totals = p.Totals()
	}
	if h.Types == nil {
		h.Types = []stacks.ValueType{}
	}
	return h
}

// A stackRow is a stack, the outermost frame first. In JSON its columns follow.
type stackRow struct {
	Values []int64  `json:"values"`
	Stack  []string `json:"stack"`
}

func (p *Profiled) stacksDocument(out *show.Printer, paths []stacks.Path) error {
	rows := each.Of(paths, func(path stacks.Path) stackRow { return stackRow{path.Values, p.FrameNames(path.Stack)} })
	values := func(r stackRow) []int64 { return r.Values }
	return writeDocument(out, p, rows, "", weightColumns(p, p.lastTotal(), values, values)...)
}

// LeaveMachinery gives the weight of the innermost frames of the runtime's own code to those
// that called it. begins are those of the names of its methods.
func (p *Profiled) LeaveMachinery(begins []string) {
	if len(begins) == 0 {
		return
	}
	p.Profile = p.WithoutInnermost(func(f *stacks.Frame) bool {
		name := f.Full
		if _, method, ok := strings.Cut(name, "!"); ok {
			name = method
		}
		return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(name, begin) })
	})
}

// machineryOf has the runtime's own code that the stacks of a kind of samples end with,
// as the questions about the same events leave it out.
var machineryOf = map[string][]string{"exceptions": ThrowingCode, "contention": LockingCode, "waits": WaitingCode}

// LeaveMachinery leaves out the runtime's own code, unless the flags choose frames.
func (o *Profiling) LeaveMachinery(p *Profiled) {
	if !o.raw && o.wholeStacks() {
		p.LeaveMachinery(machineryOf[o.Of])
	}
}

// StackTable sums up by call stack and the subject of the samples.
func (p *Profiled) StackTable() *show.Table {
	type key struct {
		stack stacks.ID
		label string
	}
	sums := make(map[key]*[2]int64)
	var keys []key
	for s := range p.Samples() {
		k := key{stack: s.Stack, label: LabelOf(s, "type")}
		sum := sums[k]
		if sum == nil {
			sum = new([2]int64)
			sums[k] = sum
			keys = append(keys, k)
		}
		sum[0] += s.Values[0]
		sum[1] += lastOf(s.Values)
	}
	order.Stable(keys, func(a, b key) int { return cmp.Compare(sums[b][1], sums[a][1]) })
	t := pick.Rows(keys,
		weight(p, "self", func(k key) int64 { return sums[k][1] }),
		views.Count("count", func(k key) int64 { return sums[k][0] }),
		views.Text("type", func(k key) string { return k.label }),
		views.Text("stack", func(k key) string {
			var frames []string
			for f := range p.Stack(k.stack) {
				frames = append(frames, p.Frames[f].Name)
			}
			return strings.Join(frames, " < ")
		}))
	t.Columns[3] = t.Columns[3].CutAtEnd()
	return t
}

// The runtime's own code that throws, locks and waits.
var (
	ThrowingCode = []string{"System.Runtime.EH.", "System.Runtime.StackFrameIterator.", "System.Runtime.ExceptionServices.InternalCalls."}
	LockingCode  = []string{"System.Threading.Monitor.", "System.Threading.Lock.", "System.Diagnostics.Tracing.NativeRuntimeEventSource."}
	WaitingCode  = []string{"System.Threading.", "System.Diagnostics.Tracing.NativeRuntimeEventSource."}
)

// LabelOf returns the value of a label of a sample, or "".
func LabelOf(s stacks.Sample, key string) string {
	i := slices.IndexFunc(s.Labels, func(l stacks.Label) bool { return l.Key == key })
	if i < 0 {
		return ""
	}
	return s.Labels[i].Value
}

// NowTable has a row for each thread.
func (p *Profiled) NowTable(last map[int64]stacks.Sample) *show.Table {
	return pick.Rows(slices.Sorted(maps.Keys(last)),
		views.ID("tid", func(thread int64) int64 { return thread }),
		views.Text("state", func(thread int64) string { return LabelOf(last[thread], "state") }),
		views.Text("stack", func(thread int64) string { return strings.Join(p.FrameNames(last[thread].Stack), ";") }))
}

package code

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
)

// A Top shows the weights of frames.
type Top struct {
	Profiling
	Out  show.Output
	Rank show.Ranking
	By   string
	line lineFlags
	Cmd  *cobra.Command // it is about
}

// ByStack and byKind are views of their own: whole call stacks, and kinds of work.
const (
	ByStack = "stack"
	byKind  = "kind"
)

// Tops are the kinds of rows of the table.
var Tops = []string{"method", "module", "thread", "process", ByStack, byKind, byLine}

const topLong = `Top shows methods by weight: of the samples of threads, or the measure of --of,
such as the bytes that were allocated. Self is the weight of a method itself, total
that with all that it calls; a method that calls itself is counted once.

Samples of EventPipe are of threads, whether they run or wait: docs/stacks.md says how they
are read. The row [waiting], the last one, has the time in which threads waited, and the others
come closest to time on a processor; --as-sampled shows in which methods threads waited.

The rows are methods, or by --by: modules, threads, processes, whole call stacks
with the innermost frame first, a label of the samples such as state or type, kinds of
work, which add up to all samples, or lines of source code. Those are of portable PDBs in
the FOLDER of --symbols; docs/stacks.md says how to record such a trace.

With --diff, an earlier trace, the rows are those whose own weight has changed most.

With -p, --name or --port it is about a live process: a table of every --interval as
it goes by, or by stack where each managed thread is now.`

// NewTop returns the command that shows methods by weight.
func NewTop() *Top {
	o := new(Top)
	rules := false
	o.Cmd = &cobra.Command{
		Use:   "top [flags] FILE...",
		Short: "Show the methods, or lines, in which the time is spent, or memory is allocated",
		Long:  topLong,
		Example: `  etw top cpu.nettrace
  etw top --by kind cpu.nettrace
  etw top --by line --method 'Bakery.%' --sort totalMs --symbols . oven.nettrace
  etw top --source Oven.cs --context 1 --symbols . oven.nettrace
  etw top --show-rules > work.rules
  etw top -p 1234 --interval 5s --top 15
  etw top -p 1234 --by stack`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rules {
				return o.printRules(cmd)
			}
			return o.main(cmd, args)
		},
	}
	traces := o.Cmd.Args
	o.Cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !rules:
			return traces(cmd, args)
		case len(args) > 0:
			return errors.New("--show-rules prints the table that is built in, and takes no FILE")
		}
		return nil
	}
	o.Cmd.Flags().BoolVar(&rules, "show-rules", false, "print the table that says which methods are of which kind of work")
	o.Cmd.Flags().StringVar(&o.By, "by", Tops[0], "the `ROWS`: "+strings.Join(Tops, ", ")+" or the name of a label")
	cli.Completions(o.Cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(append(slices.Clone(Tops), "state", "type"), cobra.ShellCompDirectiveNoFileComp)})
	o.lineFlags(o.Cmd)
	o.Profiling.Flags(o.Cmd)
	o.diffFlag(o.Cmd)
	o.Rank.Flags(o.Cmd, "self", "total", "count", "method", "here", "line")
	o.Out.Flags(o.Cmd)
	return o
}

func (o *Top) main(cmd *cobra.Command, args []string) error {
	if err := o.CheckFlags(cmd); err != nil {
		return err
	}
	if o.By == byLine {
		return o.lines(cmd, args)
	}
	o.sampled = o.sampled || o.By == byKind // waiting is a kind of its own, and there are several
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	o.LeaveMachinery(p)
	if o.By == byKind {
		o.noteKinds(p)
	}
	out := p.Open(cmd, &o.Out)
	return p.Close(cmd, out, o.print(out, p))
}

// printRules prints the table of kinds of work.
func (o *Top) printRules(cmd *cobra.Command) error {
	out := o.Out.Open(cmd, false)
	_, err := out.WriteString(work.Text())
	return out.Close(err)
}

// CheckFlags reads the flags that do not depend on the traces. Whole call stacks stand by
// weight.
func (o *Top) CheckFlags(cmd *cobra.Command) error {
	if err := cmp.Or(o.Out.Check(cmd), o.Rank.Check(cmd), o.Check(), o.checkLines(cmd)); err != nil {
		return err
	}
	for _, name := range []string{"sort", "reverse", "diff", "interval"} {
		if o.By == ByStack && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s does nothing with --by %s: stacks stand by weight", name, ByStack)
		}
	}
	return nil
}

// LeaveMachinery leaves out the runtime's own code, unless the stacks are shown whole.
func (o *Top) LeaveMachinery(p *Profiled) {
	if o.By != ByStack {
		o.Profiling.LeaveMachinery(p)
	}
}

func (o *Top) print(out *show.Printer, p *Profiled) error {
	if err := o.checkLabel(p); err != nil {
		return err
	}
	if o.By == ByStack {
		return p.printStacks(out, o.Rank.Top)
	}
	var tab *show.Table
	if out.Format == show.FormatJSON && o.By == Tops[0] && !o.Rank.Chooses() { // whose rows are no table
		tab = pick.Rows(nil, p.methodColumns()...)
	} else {
		tab = o.Table(p)
	}
	if err := o.Rank.CheckColumn(tab.Columns); err != nil {
		return err
	}
	if out.Format == show.FormatJSON {
		return o.json(out, p, tab)
	}
	p.Head(out)
	if p.Len() == 0 && out.Format == show.FormatText {
		return nil
	}
	return o.Rank.WriteFirst(out, tab)
}

// checkLabel reports a name of rows that is not that of a label.
func (o *Top) checkLabel(p *Profiled) error {
	if slices.Contains(Tops, o.By) || p.Len() == 0 {
		return nil
	}
	known := slices.Clone(Tops)
	for s := range p.Samples() {
		for _, l := range s.Labels {
			if l.Key == o.By {
				return nil
			}
			if !slices.Contains(known, l.Key) {
				known = append(known, l.Key)
			}
		}
	}
	return cli.Usagef("--by %s: no sample has a label of that name; there are %s%s", o.By, strings.Join(known, ", "), cli.DidYouMean(o.By, known))
}

// Table returns the rows, those that weigh most themselves first.
func (o *Top) Table(p *Profiled) *show.Table {
	if o.By != Tops[0] {
		return o.groups(p)
	}
	return pick.Rows(p.methods(), p.methodColumns()...)
}

// methods returns the rows of methods, those that weigh most themselves first, or whose own
// weight has changed most.
func (p *Profiled) methods() []TopRow {
	top := p.top()
	rows := make([]TopRow, 0, len(top))
	for _, row := range top {
		f := &p.Frames[row.Frame]
		rows = append(rows, TopRow{f.Name, f.Full, f.Module, weights{row.Self, row.Total}})
	}
	return rows
}

// methodWeights are the columns of the weights of methods, which a document has, too.
func (p *Profiled) methodWeights() []views.Column[TopRow] {
	columns := weightColumns(p, p.lastTotal(), TopRow.own, TopRow.whole)
	if p.compared {
		return append(columns, weight(p, "totalChange", func(r TopRow) int64 { return change(r.Total) }),
			weight(p, "totalBefore", func(r TopRow) int64 { return r.Total[0] }).For(views.Programs),
			weight(p, "totalAfter", func(r TopRow) int64 { return r.Total[1] }).For(views.Programs))
	}
	return append(columns, counts(p, TopRow.own)...)
}

func (p *Profiled) methodColumns() []views.Column[TopRow] {
	return append(p.methodWeights(),
		views.Text("method", func(r TopRow) string { return r.Method }),
		views.Text("module", func(r TopRow) string { return r.Module }).For(views.Programs),
		views.Text("full", func(r TopRow) string { return r.Full }).For(views.Programs))
}

// groups returns the sums of samples of one kind.
func (o *Top) groups(p *Profiled) *show.Table {
	sums := make(map[string][]int64)
	var names []string
	group := o.groupOf(p)
	for s := range p.Samples() {
		name := group(s)
		sum := sums[name]
		if sum == nil {
			sum = make([]int64, len(s.Values))
			sums[name] = sum
			names = append(names, name)
		}
		for i, v := range s.Values {
			sum[i] += v
		}
	}
	order.Stable(names, func(a, b string) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(isWaiting(a), isWaiting(b)), cmp.Compare(lastOf(y), lastOf(x)), cmp.Compare(y[0], x[0]), strings.Compare(a, b))
	})
	values := func(name string) []int64 { return sums[name] }
	columns := changes(p, values)
	if p.compared {
		order.Stable(names, func(a, b string) int { return compareChanges(sums[a], sums[b]) })
	} else {
		columns = append(sharing(p, "self", p.lastTotal(), values), counts(p, values)...)
	}
	columns = append(columns, views.Text(o.By, func(name string) string { return name }))
	if o.By == byKind {
		titles := make(map[string]string)
		for _, k := range o.work.rules.Kinds() {
			titles[k.Name] = k.Title
		}
		columns = append(columns, views.Text("title", func(name string) string { return titles[name] }))
	}
	return pick.Rows(names, columns...)
}

// groupOf returns a function that tells the group of a sample. Modules are those of innermost
// frames.
func (o *Top) groupOf(p *Profiled) func(stacks.Sample) string {
	switch o.By {
	case "module":
		modules := make([]string, len(p.Frames))
		return func(s stacks.Sample) string {
			_, frame := p.Split(s.Stack)
			if modules[frame] == "" {
				modules[frame] = moduleOf(&p.Frames[frame])
			}
			return modules[frame]
		}
	case "thread":
		name := p.ofThread()
		return func(s stacks.Sample) string {
			if _, frame := p.Split(s.Stack); p.Frames[frame].Waiting {
				return stacks.WaitingName
			}
			return name(s)
		}
	case "process":
		if p.across != nil {
			return p.across.process
		}
		return func(s stacks.Sample) string { return p.Names.OfProcessAt(s.Process, s.Time) }
	case byKind:
		c := o.work.rules.Classify(p.Profile)
		return func(s stacks.Sample) string { return c.Of(s).Name }
	}
	return func(s stacks.Sample) string {
		i := slices.IndexFunc(s.Labels, func(l stacks.Label) bool { return l.Key == o.By })
		if i < 0 {
			return "(none)"
		}
		return s.Labels[i].Value
	}
}

// isWaiting is 1 of the group of threads that wait, which comes last, and 0 of others.
func isWaiting(group string) int {
	if group == stacks.WaitingName {
		return 1
	}
	return 0
}

// moduleOf returns the module of a frame, in words where it has none.
func moduleOf(f *stacks.Frame) string {
	name, _, ok := strings.Cut(f.Full, "!")
	switch {
	case ok:
		return name
	case f.Pseudo:
		return f.Name
	}
	return "(unknown)"
}

// A TopRow is a method. In JSON its columns follow.
type TopRow struct {
	Method string `json:"method"`
	Full   string `json:"full"`
	Module string `json:"module,omitempty"`
	weights
}

func (o *Top) json(out *show.Printer, p *Profiled, tab *show.Table) error {
	groups, rows := "", p.methods()
	if o.By != Tops[0] {
		groups = o.Rank.Rows("groups", tab)
	} else if o.Rank.Chooses() {
		all := rows
		rows = each.Of(o.Rank.Chosen(tab), func(i int) TopRow { return all[i] })
	}
	return writeDocument(out, p, rows, groups, p.methodWeights()...)
}

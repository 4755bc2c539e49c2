package code

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A Top shows what frames weigh.
type Top struct {
	Profiling
	Out  show.Output
	Rank show.Ranking
	By   string
	Cmd  *cobra.Command // it is about
}

// Tops is what the rows of the table can be.
var Tops = []string{"method", "module", "thread", "process"}

// NewTop returns the command that shows methods by what they weigh.
func NewTop() *Top {
	o := new(Top)
	o.Cmd = &cobra.Command{
		Use:   "top [flags] FILE...",
		Short: "Show the methods in which the time is spent, or memory is allocated",
		Long: `Top shows methods by what they weigh: of the samples of threads, or what --of names,
such as the bytes that were allocated. Self is what a method weighs itself, total
what it weighs with all that it calls; a method that calls itself is counted once.

Samples of EventPipe are of threads, whether they run or wait. --label state=managed
leaves those in managed code, which is the best estimate there is of the time on a
processor.

Where exceptions, contention and waits come from is the method that called the runtime
to throw, lock or wait; with --raw-names, --root or patterns its frames stay.

The rows are methods, or what --by says: modules, threads or processes, or a label
of the samples such as state or type.

--diff compares with an earlier trace: the rows are then those whose own weight has
changed most, with what it was before and after.

With -p, --name or --port it is about a live process: a table of every --interval as
it goes by.

` + patternsLong,
		Example: `  etw top cpu.nettrace
  etw top --top 5 --sort totalMs --names short cpu.nettrace
  etw top --label state=managed --group 'System.%->system' cpu.nettrace
  etw top --of allocs alloc.nettrace
  etw top --of exceptions --by type exceptions.nettrace
  etw top --by module --format csv cpu.nettrace
  etw top --diff before.nettrace after.nettrace
  etw top --format json cpu.nettrace | jq '.rows[0]'
  etw top -p 1234 --interval 5s --top 15`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              o.main,
	}
	o.Cmd.Flags().StringVar(&o.By, "by", Tops[0], "what the `ROWS` are: "+strings.Join(Tops, ", ")+" or the name of a label")
	cli.Completions(o.Cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(append(slices.Clone(Tops), "state", "type"), cobra.ShellCompDirectiveNoFileComp)})
	o.Profiling.Flags(o.Cmd)
	o.diffFlag(o.Cmd)
	o.Rank.Flags(o.Cmd, "self", "total", "count", "method")
	o.Out.Flags(o.Cmd)
	return o
}

func (o *Top) main(cmd *cobra.Command, args []string) error {
	if err := o.Out.Check(cmd); err != nil {
		return err
	}
	if err := o.Rank.Check(cmd); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	o.LeaveMachinery(p)
	out := p.Open(cmd, &o.Out)
	return p.Close(cmd, out, o.print(out, p))
}

// LeaveMachinery leaves out the runtime's own code, unless the flags say what is wanted.
func (o *Top) LeaveMachinery(p *Profiled) {
	if !o.raw && o.root == "" && o.filter == (stacks.Filter{}) {
		p.LeaveMachinery(machineryOf[o.Of])
	}
}

// machineryOf has the runtime's own code that the stacks of a kind of samples end with,
// as the questions about the same events leave it out.
var machineryOf = map[string][]string{"exceptions": ThrowingCode, "contention": LockingCode, "waits": WaitingCode}

func (o *Top) print(out *show.Printer, p *Profiled) error {
	if err := o.checkLabel(p); err != nil {
		return err
	}
	tab := o.Table(p)
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
	u := p.unit()
	switch {
	case o.By != Tops[0]:
		return o.groups(p)
	case p.compared:
		return p.diffTable()
	}
	tab := show.NewTable(u.column("self"), percentColumn("selfPercent", "SELF %"), u.column("total"), percentColumn("totalPercent", "TOTAL %"), show.Counted("count"),
		show.Label("method").ForPeople(), show.Label("method").ForPrograms(), show.Label("module").ForPrograms(), show.Label("full").ForPrograms())
	all, shown := p.lastTotal(), p.toldApart()
	for _, row := range p.View().Top() {
		f := &p.Frames[row.Frame]
		self, total := lastOf(row.Self), lastOf(row.Total)
		tab.Add(u.cell(self), share(self, all), u.cell(total), share(total, all), show.Whole(row.Self[0]), shown[row.Frame], f.Name, f.Module, f.Full)
	}
	return tab
}

// groups returns what samples of one kind weigh together.
func (o *Top) groups(p *Profiled) *show.Table {
	u := p.unit()
	sums := make(map[string][]int64)
	var order []string
	modules := make([]string, len(p.Frames))
	for s := range p.Samples() {
		name := o.groupOf(p, s, modules)
		sum := sums[name]
		if sum == nil {
			sum = make([]int64, len(s.Values))
			sums[name] = sum
			order = append(order, name)
		}
		for i, v := range s.Values {
			sum[i] += v
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		x, y := lastOf(sums[a]), lastOf(sums[b])
		if x != y {
			return map[bool]int{true: -1, false: 1}[x > y]
		}
		return strings.Compare(a, b)
	})
	if p.compared {
		return p.diffGroups(o.By, order, sums)
	}
	tab := show.NewTable(u.column("self"), percentColumn("selfPercent", "SELF %"), show.Counted("count"), show.Label(o.By))
	all := p.lastTotal()
	for _, name := range order {
		v := sums[name]
		tab.Add(u.cell(lastOf(v)), share(lastOf(v), all), show.Whole(v[0]), name)
	}
	return tab
}

// groupOf returns the group of a sample. Modules are those of innermost frames.
func (o *Top) groupOf(p *Profiled, s stacks.Sample, modules []string) string {
	switch o.By {
	case "module":
		_, frame := p.Split(s.Stack)
		if modules[frame] == "" {
			modules[frame] = moduleOf(&p.Frames[frame])
		}
		return modules[frame]
	case "thread":
		return p.Names.OfThread(s.Thread)
	case "process":
		return p.Names.OfProcess(s.Process)
	}
	for _, l := range s.Labels {
		if l.Key == o.By {
			return l.Value
		}
	}
	return "(none)"
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

// A TopResult is what JSON has.
type TopResult struct {
	profileHead
	Rows []TopRow `json:"rows"`
}

// A TopRow is a method. Its values are in the order of the types.
type TopRow struct {
	Method string  `json:"method"`
	Full   string  `json:"full"`
	Module string  `json:"module,omitempty"`
	Self   []int64 `json:"self"`
	Total  []int64 `json:"total"`
	inUnits
}

// inUnits are the weights of a row under names that have the unit.
type inUnits struct {
	SelfMS       *float64 `json:"selfMs,omitempty"`
	SelfMB       *float64 `json:"selfMB,omitempty"`
	SelfPercent  *float64 `json:"selfPercent,omitempty"`
	TotalMS      *float64 `json:"totalMs,omitempty"`
	TotalMB      *float64 `json:"totalMB,omitempty"`
	TotalPercent *float64 `json:"totalPercent,omitempty"`
	ChangeMS     *float64 `json:"changeMs,omitempty"` // of what it weighs itself
	ChangeMB     *float64 `json:"changeMB,omitempty"`
	Change       *float64 `json:"change,omitempty"` // where values are numbers
	BeforeMS     *float64 `json:"beforeMs,omitempty"`
	BeforeMB     *float64 `json:"beforeMB,omitempty"`
	Before       *float64 `json:"before,omitempty"`
	AfterMS      *float64 `json:"afterMs,omitempty"`
	AfterMB      *float64 `json:"afterMB,omitempty"`
	After        *float64 `json:"after,omitempty"`
}

// inUnits returns the weights of a row, which may have no total, of all that there is.
func (p *Profiled) inUnits(self, total []int64, all int64) (w inUnits) {
	u := p.unit()
	set := func(ms, mb, plain **float64, v int64) {
		x := float64(v) / u.per
		switch u.suffix {
		case "Ms":
			*ms = &x
		case "MB":
			*mb = &x
		default:
			*plain = &x
		}
	}
	var unnamed *float64
	if p.compared {
		set(&w.ChangeMS, &w.ChangeMB, &w.Change, change(self))
		set(&w.BeforeMS, &w.BeforeMB, &w.Before, self[0])
		set(&w.AfterMS, &w.AfterMB, &w.After, self[1])
		return w
	}
	set(&w.SelfMS, &w.SelfMB, &unnamed, lastOf(self))
	of := func(v int64) *float64 { x := 100 * float64(v) / float64(max(all, 1)); return &x }
	w.SelfPercent = of(lastOf(self))
	if total != nil {
		set(&w.TotalMS, &w.TotalMB, &unnamed, lastOf(total))
		w.TotalPercent = of(lastOf(total))
	}
	return w
}

func (o *Top) json(out *show.Printer, p *Profiled, tab *show.Table) error {
	res := TopResult{p.document(), []TopRow{}}
	if p.Len() > 0 {
		for _, row := range p.top() {
			f := &p.Frames[row.Frame]
			res.Rows = append(res.Rows, TopRow{f.Name, f.Full, f.Module, row.Self, row.Total, p.inUnits(row.Self, row.Total, p.lastTotal())})
		}
	}
	groups := ""
	if o.By != Tops[0] {
		groups = o.Rank.Rows("groups", tab)
	}
	return show.WriteMore(out, res, groups, p.T.Stats().Lost)
}

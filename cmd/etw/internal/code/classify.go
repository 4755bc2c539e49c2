package code

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A classify shows what kinds of work the samples are.
type classify struct {
	Profiling
	out   show.Output
	rank  show.Ranking
	by    string
	kinds []string
	files []string
	show  bool
	rules *work.Rules
}

// classifiedBy is what the rows of the table can be.
var classifiedBy = []string{"kind", "method", "module", "thread", "process"}

// NewClassify returns the command that shows kinds of work.
func NewClassify() *SampleCommand {
	o := new(classify)
	cmd := &cobra.Command{
		Use:   "classify [flags] FILE...",
		Short: "Show what kinds of work the time goes to: collecting, compiling, waiting, user code",
		Long: `Classify says of each sample what kind of work it is: garbage collection, compiling,
loading of types, allocation, zeroing and copying, locks, exceptions, waiting, input and
output, interop, the runtime otherwise, libraries of .NET, user code. Each sample is of
one kind, so that the kinds add up to all samples. What nothing tells is unknown.

The rules are a table of modules and methods, which --show-rules prints. --rules names a
file with lines of the same form, which are asked before it, with these kinds or others:

  [serialization] JSON of ours
  >> Shop!Bakery.Wire.*

--kind shows what one kind is made of, --by says of what. --diff compares with an earlier
trace. Samples of EventPipe are of threads, whether they run or wait, and of native code
tell only who called it: where that does not say what it is, it is unknown.

` + cli.RecordedLong + `

` + patternsLong,
		Example: `  etw classify cpu.nettrace
  etw classify --label state=managed --names short cpu.nettrace
  etw classify --kind user --by method --top 5 cpu.nettrace
  etw classify --diff before.nettrace after.nettrace
  etw classify --show-rules > work.rules
  etw classify --rules work.rules cpu.nettrace
  etw classify --format json cpu.nettrace | jq '.rows[0].kind'`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              o.main,
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", classifiedBy[0], "what the `ROWS` are: "+strings.Join(classifiedBy, ", "))
	f.StringArrayVar(&o.kinds, "kind", nil, "only samples of this `KIND` of work, such as gc; repeatable")
	f.StringArrayVar(&o.files, "rules", nil, "a `FILE` with rules that are asked before the table; repeatable")
	f.BoolVar(&o.show, "show-rules", false, "print the table of rules")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(classifiedBy, cobra.ShellCompDirectiveNoFileComp),
		"kind": cobra.FixedCompletions(kindNames(work.Default()), cobra.ShellCompDirectiveNoFileComp)})
	o.Profiling.Flags(cmd)
	o.diffFlag(cmd)
	o.rank.Flags(cmd, "self", "count", "kind", "method")
	o.out.Flags(cmd)
	traces := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.show {
			if len(args) > 0 {
				return fmt.Errorf("--show-rules prints the table that is built in, and takes no FILE")
			}
			return nil
		}
		return traces(cmd, args)
	}
	return &SampleCommand{cmd, &o.Profiling, &o.out}
}

func kindNames(r *work.Rules) []string {
	var names []string
	for _, k := range r.Kinds() {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// check reads the flags that do not depend on the traces.
func (o *classify) check(cmd *cobra.Command) error {
	if err := cmp.Or(o.out.Check(cmd), o.rank.Check(cmd), o.Profiling.Check()); err != nil {
		return err
	}
	if !slices.Contains(classifiedBy, o.by) {
		return cli.Usagef("--by %s: it is one of %s%s", o.by, strings.Join(classifiedBy, ", "), cli.DidYouMean(o.by, classifiedBy))
	}
	var err error
	if o.rules, err = readRules(o.files); err != nil {
		return err
	}
	known := kindNames(o.rules)
	for _, name := range o.kinds {
		if !slices.Contains(known, name) {
			return cli.Usagef("--kind %s: there is no such kind of work%s; there are %s", name, cli.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// readRules returns the rules of files before those that are built in. Those of the first
// file are asked first.
func readRules(files []string) (*work.Rules, error) {
	r := work.Default()
	for _, name := range slices.Backward(files) {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", name) // one to wait for, or without an end
		}
		if err != nil {
			return nil, cli.Usagef("--rules: %w", err)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.Usagef("--rules: %w", err)
		}
		next, err := r.Add(f)
		f.Close()
		if err != nil {
			return nil, cli.Usagef("--rules: %s: %w", name, err)
		}
		r = next
	}
	return r, nil
}

func (o *classify) main(cmd *cobra.Command, args []string) error {
	if o.show {
		out := o.out.Open(cmd, false)
		_, err := out.WriteString(work.Text())
		return out.Close(err)
	}
	if err := o.check(cmd); err != nil {
		return err
	}
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	c := o.classified(p)
	if p.Len() > 0 && len(o.kinds) == 0 {
		for _, rule := range c.Unmatched() {
			p.warnings = append(p.warnings, fmt.Sprintf("the rule %s matches no frame", rule))
		}
	}
	if text := unseen(p, c); text != "" {
		p.warnings = append(p.warnings, text)
	}
	out := p.Open(cmd, &o.out)
	return p.Close(cmd, out, o.print(out, p, c))
}

// classified classifies the samples, and leaves of them those of the kinds that were asked
// for.
func (o *classify) classified(p *Profiled) *work.Classification {
	c := o.rules.Classify(p.Profile)
	if len(o.kinds) == 0 {
		return c
	}
	p.Profile = p.Only(func(s stacks.Sample) bool { return slices.Contains(o.kinds, c.Of(s).Name) })
	return o.rules.Classify(p.Profile)
}

// A kindRow is what a kind of work weighs, or a part of one.
type kindRow struct {
	Kind   string  `json:"kind"`
	Title  string  `json:"title"`
	Of     string  `json:"of,omitempty"`
	Full   string  `json:"full,omitempty"`
	Values []int64 `json:"-"` // in the order of the types
	Count  *int64  `json:"count,omitempty"`
	inUnits
}

// rows returns the sums, the largest first.
func (o *classify) rows(p *Profiled, c *work.Classification) []*kindRow {
	type key struct{ kind, of, full string }
	sums := make(map[key]*kindRow)
	list := []*kindRow{}
	for s := range p.Samples() {
		kind := c.Of(s)
		k := key{kind: kind.Name}
		k.of, k.full = o.partOf(p, s)
		row := sums[k]
		if row == nil {
			row = &kindRow{Kind: kind.Name, Title: kind.Title, Of: k.of, Full: k.full, Values: make([]int64, len(s.Values))}
			sums[k] = row
			list = append(list, row)
		}
		for i, v := range s.Values {
			row.Values[i] += v
		}
	}
	for _, row := range list {
		row.inUnits = p.inUnits(row.Values, nil, p.lastTotal())
		if !p.compared {
			row.Count = &row.Values[0]
		}
	}
	slices.SortFunc(list, func(a, b *kindRow) int {
		order := cmp.Compare(lastOf(b.Values), lastOf(a.Values))
		if p.compared {
			order = compareChanges(a.Values, b.Values)
		}
		return cmp.Or(order, cmp.Compare(b.Values[0], a.Values[0]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Of, b.Of), cmp.Compare(a.Full, b.Full))
	})
	return list
}

// partOf returns which part of its kind a sample is.
func (o *classify) partOf(p *Profiled, s stacks.Sample) (name, full string) {
	_, frame := p.Split(s.Stack)
	f := &p.Frames[frame]
	switch o.by {
	case "method":
		return f.Name, f.Full
	case "module":
		return moduleOf(f), ""
	case "thread":
		return p.Names.OfThread(s.Thread), ""
	case "process":
		return p.Names.OfProcess(s.Process), ""
	}
	return "", ""
}

func (o *classify) print(out *show.Printer, p *Profiled, c *work.Classification) error {
	rows := o.rows(p, c)
	tab := o.table(p, rows)
	if err := o.rank.CheckColumn(tab.Columns); err != nil {
		return err
	}
	if out.Format == show.FormatJSON {
		res := struct {
			profileHead
			Rows []*kindRow `json:"rows"`
		}{p.document(), rows}
		return show.WriteContract(out, res, p.T.Stats().Lost)
	}
	p.Head(out)
	if p.Len() == 0 && out.Format == show.FormatText {
		return nil
	}
	return o.rank.WriteFirst(out, tab)
}

// unseen says how much is unknown since nothing tells of native code.
func unseen(p *Profiled, c *work.Classification) string {
	sum, all := int64(0), int64(0)
	for s := range p.Samples() {
		all += lastOf(s.Values)
		if c.Unseen(s) && c.Of(s).Name == work.Unknown {
			sum += lastOf(s.Values)
		}
	}
	if sum == 0 || all == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %% are in native code that managed code called: EventPipe does not tell what that did, or whether it waited", 100*float64(sum)/float64(all))
}

// table returns the rows as a table.
func (o *classify) table(p *Profiled, rows []*kindRow) *show.Table {
	u := p.unit()
	kind, title, of := show.Label("kind"), show.Label("title"), show.Label(o.by)
	if o.by == classifiedBy[0] {
		of = show.Label("of").ForPrograms()
	}
	if p.compared {
		tab := show.NewTable(u.column("change"), u.column("before"), u.column("after"), kind, title, of)
		for _, row := range rows {
			tab.Add(u.cell(change(row.Values)), u.cell(row.Values[0]), u.cell(row.Values[1]), row.Kind, row.Title, row.Of)
		}
		return tab
	}
	if o.by != classifiedBy[0] {
		title = title.ForPrograms()
	}
	tab := show.NewTable(u.column("self"), percentColumn("selfPercent", "SELF %"), show.Counted("count"), kind, title, of)
	all := p.lastTotal()
	for _, row := range rows {
		tab.Add(u.cell(lastOf(row.Values)), share(lastOf(row.Values), all), show.Whole(row.Values[0]), row.Kind, row.Title, row.Of)
	}
	return tab
}

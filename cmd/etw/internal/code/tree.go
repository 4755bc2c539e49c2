package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A treeQuery shows calls with their weights.
type treeQuery struct {
	Profiling
	out      show.Output
	callers  string
	inverted bool
	depth    int
	min      float64
}

// NewTree returns the command that shows the call tree.
func NewTree() *SampleCommand {
	o := new(treeQuery)
	cmd := &cobra.Command{
		Use:   "tree [flags] FILE...",
		Short: "Show the call tree, with the weight of each part",
		Long: `Tree shows which code calls which, the heaviest first, with weights: the
time of threads, or the measure of --of. Parts that weigh less than --min percent of all
are left out.

--root shows the callees of a method, --callers who calls it, and --inverted begins with
the methods that the samples were taken in. --diff compares with an earlier trace.

` + cli.RecordedLong + ``,
		Example: `  etw tree cpu.nettrace
  etw tree --names short --depth 3 --min 5 cpu.nettrace
  etw tree --callers Oven.Bake cpu.nettrace
  etw tree --root Oven.Work cpu.nettrace
  etw tree --callers Oven.Bake --split cpu.nettrace
  etw tree --of exceptions --inverted exceptions.nettrace
  etw tree --format json cpu.nettrace | jq '.rows[0]'`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              o.main,
	}
	f := cmd.Flags()
	f.StringVar(&o.callers, "callers", "", "show who calls the frames that match one of these `PATTERNS`")
	f.BoolVar(&o.split, "split", false, "where several frames of a stack match --callers or --root, share its weight\namong them, as PerfView's Caller-Callee does; else the outermost has it")
	f.BoolVar(&o.inverted, "inverted", false, "begin with the innermost frames")
	f.IntVar(&o.depth, "depth", 0, "show only the first `N` levels")
	f.Float64Var(&o.min, "min", 1, "leave out parts below this `SHARE` of all,\nor of those that --callers asks for, in percent")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"callers": cobra.NoFileCompletions, "depth": cobra.NoFileCompletions, "min": cobra.NoFileCompletions})
	o.Profiling.Flags(cmd)
	o.diffFlag(cmd)
	o.out.Flags(cmd)
	return &SampleCommand{cmd, &o.Profiling, &o.out}
}

func (o *treeQuery) main(cmd *cobra.Command, args []string) error {
	if err := o.out.Check(cmd); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	callers, err := stacks.Match(o.callers)
	switch {
	case err != nil:
		return cli.Usagef("--callers: %w", err)
	case o.callers != "" && o.inverted:
		return cli.Usagef("--callers and --inverted exclude each other")
	case o.split && o.callers == "" && o.root == "":
		return cli.Usagef("--split does nothing without --callers or --root")
	case cmd.Flags().Changed("depth") && o.depth <= 0:
		return cli.Usagef("--depth: %d is not a number of levels, from 1 on", o.depth)
	case o.min < 0 || o.min > 100:
		return cli.Usagef("--min: %v is not a share in percent", o.min)
	}
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	all := p.weight(p.sums()) // shares are of all, also where a part is shown
	switch {
	case o.callers != "":
		had := p.Len()
		of := p.CallersOf
		if o.split {
			of = p.SplitCallers
		}
		if p.Profile = of(callers); had > 0 && p.Len() == 0 {
			cli.Report(cmd, fmt.Errorf("--callers %s: no frame of %s matches", o.callers, show.Count(had, "sample", "samples")))
		}
	case o.inverted:
		p.Profile = p.Inverted()
	}
	out := p.Open(cmd, &o.out)
	return p.Close(cmd, out, o.print(out, p, all))
}

// A treeRow is a part of the tree. In JSON its columns follow.
type treeRow struct {
	Depth  int    `json:"depth"`
	Method string `json:"method"`
	Full   string `json:"full"`
	weights
}

// rows returns the parts of the tree, callers before callees.
func (o *treeQuery) rows(p *Profiled) []treeRow {
	rows := []treeRow{}
	if p.Len() == 0 {
		return rows
	}
	v := p.View()
	least := o.min / 100 * float64(p.weight(p.sums()))
	type open struct {
		id    stacks.ID
		depth int
	}
	var path []open
	push := func(id stacks.ID, depth int) {
		for _, callee := range slices.Backward(v.Called(id)) {
			path = append(path, open{callee, depth})
		}
	}
	push(0, 0)
	for len(path) > 0 {
		x := path[len(path)-1]
		path = path[:len(path)-1]
		if float64(p.weight(v.Total(x.id))) < least {
			continue
		}
		_, frame := p.Split(x.id)
		f := &p.Frames[frame]
		rows = append(rows, treeRow{x.depth, f.Name, f.Full, weights{v.Self(x.id), v.Total(x.id)}})
		if o.depth == 0 || x.depth+1 < o.depth {
			push(x.id, x.depth+1)
		}
	}
	return rows
}

func (o *treeQuery) print(out *show.Printer, p *Profiled, all int64) error {
	rows := o.rows(p)
	if len(rows) == 0 && p.Len() > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("all parts are below %v %%: --min 0 shows them", o.min))
	}
	if out.Format == show.FormatJSON {
		return writeDocument(out, p, rows, "", p.treeWeights(all)...)
	}
	p.Head(out)
	if p.Len() == 0 && out.Format == show.FormatText {
		return nil
	}
	if out.Format == show.FormatText {
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return pick.Rows(rows, p.treeColumns(all)...).Write(out)
}

// treeWeights are the columns of the weights of rows, which a document has, too. Of traces
// that are compared, a tree is about all that a row calls.
func (p *Profiled) treeWeights(all int64) []views.Column[treeRow] {
	if p.compared {
		return append(changes(p, treeRow.whole), weight(p, "selfChange", func(r treeRow) int64 { return change(r.Self) }))
	}
	own := sharing(p, "self", all, treeRow.own)
	return append(sharing(p, "total", all, treeRow.whole), own[0], own[1].For(views.Programs),
		views.Count("count", func(r treeRow) int64 { return r.Total[0] }))
}

func (p *Profiled) treeColumns(all int64) []views.Column[treeRow] {
	return append(p.treeWeights(all),
		views.Count("depth", func(r treeRow) int { return r.Depth }).For(views.Programs),
		views.Text("method", treeRow.indented).For(views.People),
		views.Text("method", func(r treeRow) string { return r.Method }).For(views.Programs),
		views.Text("full", func(r treeRow) string { return r.Full }).For(views.Programs))
}

// indented returns the name of a row, of which people see the depth.
func (r treeRow) indented() string { return strings.Repeat("  ", min(r.Depth, maxIndent)) + r.Method }

// maxIndent is how many levels are indented. Deeper levels come by recursion.
const maxIndent = 60

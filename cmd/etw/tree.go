package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// A treeQuery shows who calls what, and what that weighs.
type treeQuery struct {
	profiling
	out      output
	callers  string
	inverted bool
	depth    int
	min      float64
}

// newTree returns the command that shows the call tree.
func newTree() *sampleCommand {
	o := new(treeQuery)
	cmd := &cobra.Command{
		Use:   "tree [flags] FILE...",
		Short: "Show the call tree, with what each part of it weighs",
		Long: `Tree shows which code calls which, the heaviest first, and what that weighs: the
time of threads, or what --of names. Parts that weigh less than --min percent of all
are left out.

--root shows what a method calls, --callers who calls it, and --inverted begins with
the methods that the samples were taken in. --diff compares with an earlier trace.

` + recordedLong + `

` + patternsLong,
		Example: `  etw tree cpu.nettrace
  etw tree --names short --depth 3 --min 5 cpu.nettrace
  etw tree --callers Oven.Bake cpu.nettrace
  etw tree --root Oven.Work cpu.nettrace
  etw tree --of exceptions --inverted exceptions.nettrace
  etw tree --format json cpu.nettrace | jq '.rows[0]'`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTraces,
		RunE:              o.main,
	}
	f := cmd.Flags()
	f.StringVar(&o.callers, "callers", "", "show who calls the frames that match one of these `PATTERNS`")
	f.BoolVar(&o.inverted, "inverted", false, "begin with the innermost frames")
	f.IntVar(&o.depth, "depth", 0, "show only the first `N` levels")
	f.Float64Var(&o.min, "min", 1, "leave out what weighs less than this `SHARE` of all, in percent")
	completions(cmd, map[string]cobra.CompletionFunc{"callers": cobra.NoFileCompletions, "depth": cobra.NoFileCompletions, "min": cobra.NoFileCompletions})
	o.profiling.flags(cmd)
	o.diffFlag(cmd)
	o.out.flags(cmd)
	return &sampleCommand{cmd, &o.profiling, &o.out}
}

func (o *treeQuery) main(cmd *cobra.Command, args []string) error {
	if err := o.out.check(cmd); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	callers, err := stacks.Match(o.callers)
	switch {
	case err != nil:
		return usagef("--callers: %w", err)
	case o.callers != "" && o.inverted:
		return usagef("--callers and --inverted exclude each other")
	case cmd.Flags().Changed("depth") && o.depth <= 0:
		return usagef("--depth: %d is not a number of levels, from 1 on", o.depth)
	case o.min < 0 || o.min > 100:
		return usagef("--min: %v is not a share in percent", o.min)
	}
	p, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	all := p.weight(p.sums()) // shares are of all, also where a part is shown
	switch {
	case o.callers != "":
		had := p.Len()
		if p.Profile = p.CallersOf(callers); had > 0 && p.Len() == 0 {
			report(cmd, fmt.Errorf("--callers %s: no frame of %s matches", o.callers, count(had, "sample", "samples")))
		}
	case o.inverted:
		p.Profile = p.Inverted()
	}
	out := p.open(cmd, &o.out)
	return p.close(cmd, out, o.print(out, p, all))
}

// A treeRow is a part of the tree. Its values are in the order of the types.
type treeRow struct {
	Depth  int     `json:"depth"`
	Method string  `json:"method"`
	Full   string  `json:"full"`
	shown  string  // for people
	Self   []int64 `json:"self"`
	Total  []int64 `json:"total"`
	inUnits
}

// rows returns the parts of the tree, callers before what they call.
func (o *treeQuery) rows(p *profiled, all int64) []treeRow {
	rows := []treeRow{}
	if p.Len() == 0 {
		return rows
	}
	v := p.View()
	shown := p.toldApart()
	least := o.min / 100 * float64(all)
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
		rows = append(rows, treeRow{x.depth, f.Name, f.Full, shown[frame], v.Self(x.id), v.Total(x.id), p.inUnits(v.Self(x.id), v.Total(x.id), all)})
		if o.depth == 0 || x.depth+1 < o.depth {
			push(x.id, x.depth+1)
		}
	}
	return rows
}

func (o *treeQuery) print(out *printer, p *profiled, all int64) error {
	rows := o.rows(p, all)
	if out.format == formatJSON {
		res := struct {
			profileHead
			Rows []treeRow `json:"rows"`
		}{p.document(), rows}
		return writeContract(out, res, p.t.Stats().Lost)
	}
	p.head(out)
	if p.Len() == 0 && out.format == formatText {
		return nil
	}
	if out.format == formatText {
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	if p.compared {
		return p.diffTree(rows, out.format).write(out)
	}
	u := p.unit()
	tab := newTable(u.column("total"), percentColumn("totalPercent", "TOTAL %"), u.column("self"), counted("count"), counted("depth").forPrograms(), label("method"))
	for _, row := range rows {
		tab.add(u.cell(lastOf(row.Total)), share(lastOf(row.Total), all), u.cell(lastOf(row.Self)), whole(row.Total[0]), whole(row.Depth), row.name(out.format))
	}
	return tab.write(out)
}

// name returns the name of a row, which people see the depth of.
func (r *treeRow) name(format string) string {
	if format == formatText || format == formatMD {
		return strings.Repeat("  ", min(r.Depth, maxIndent)) + r.shown
	}
	return r.Method
}

// maxIndent is how many levels are indented. What is deeper is so by recursion.
const maxIndent = 60

package code

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A linesQuery shows source lines by what they weigh.
type linesQuery struct {
	Profiling
	form   show.Output
	rank   show.Ranking
	source string // a file that is shown with them
	around int    // lines of it that are shown around those that weigh anything
}

// NewLines returns the command that shows source lines by what they weigh.
func NewLines() *cobra.Command {
	q := &linesQuery{Profiling: Profiling{lines: new(sourceLines)}}
	cmd := &cobra.Command{
		Use:   "lines [flags] FILE [METHOD]",
		Short: "Show the lines of source code in which the time is spent, or memory is allocated",
		Long: `Lines shows lines of source code by what they weigh, as top does methods: of the samples
of threads, or what --of names. Self is what a line weighs itself; here adds what it calls
of which no lines are known, such as the code of .NET; total is what it weighs with all that
it calls. METHOD is a pattern: only lines of methods that match it are shown.

--source prints a source file with what its lines weigh beside them: a file at hand, or the
end of the name of one whose text the PDB has. A file at hand that is not the one that was
compiled is shown with a warning; nothing is ever taken from the network.

Lines are those of portable PDBs of the same build: in the FOLDER of --symbols, or within
assemblies there. The trace must tell which code is of which IL: record with the keyword
JittedMethodILToNativeMap (0x20000) of Microsoft-Windows-DotNETRuntime, beside Jit and
Loader (0x20018 together). Of code that was compiled ahead of time no lines are known.`,
		Example: `  etw lines --symbols . oven.nettrace
  etw lines --symbols . --top 10 --sort totalMs oven.nettrace 'Bakery.%'
  etw lines --symbols . --of allocs --format csv oven.nettrace
  etw lines --symbols . --source Oven.cs oven.nettrace
  etw lines --symbols . --source Oven.cs --context 1 --label state=managed oven.nettrace`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              q.main,
	}
	q.Flags(cmd)
	q.rank.Flags(cmd, "here", "self", "total", "line")
	q.form.Flags(cmd)
	cmd.Flags().StringVar(&q.source, "source", "", "print this source `FILE`, with what its lines weigh")
	cmd.Flags().IntVar(&q.around, "context", -1, "with --source, only lines that weigh anything, and so many `LINES` around")
	return cmd
}

func (q *linesQuery) main(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(q.form.Check(cmd), q.rank.Check(cmd), q.Check(), q.checkSource(cmd, args)); err != nil {
		return err
	}
	method := func(*stacks.Frame) bool { return true }
	if len(args) > 1 {
		var err error
		if method, err = stacks.Match(args[1]); err != nil {
			return cli.Usagef("METHOD: %w", err)
		}
	}
	q.sampled = true // a line is where a thread was, and here is who called that
	p, err := q.Read(cmd, args[:1])
	if err != nil {
		return err
	}
	q.lines.note(p)
	if q.source != "" {
		return q.annotate(cmd, p)
	}
	out := p.Open(cmd, &q.form)
	weights := p.weighLines(method)
	if len(args) > 1 && len(weights) == 0 && p.Len() > 0 {
		cli.Report(cmd, p.noLines(method))
	}
	if len(weights) == 0 {
		p.trouble = cmp.Or(p.trouble, cli.ErrNone) // the table is no answer
	}
	tab := p.lineTable(weights)
	if err := q.rank.CheckColumn(tab.Columns); err != nil {
		return err
	}
	if out.Format == show.FormatJSON {
		return p.Close(cmd, out, show.WriteMore(out, p.document(), q.rank.Rows("rows", tab), p.T.Stats().Lost))
	}
	p.Head(out)
	if len(tab.Rows) == 0 && out.Format == show.FormatText {
		return p.Close(cmd, out, nil)
	}
	return p.Close(cmd, out, q.rank.WriteFirst(out, tab))
}

// checkSource reports flags that do not go together.
func (q *linesQuery) checkSource(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	switch {
	case given("context") && q.source == "":
		return cli.Usagef("--context is about --source FILE")
	case given("context") && q.around < 0:
		return cli.Usagef("--context: %d is not a number of lines", q.around)
	case q.source != "" && (len(args) > 1 || given("sort") || given("top") || given("reverse")):
		return cli.Usagef("--source prints the lines of a file in their order: --sort, --reverse, --top and METHOD are for the table of lines")
	}
	return nil
}

package code

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// byLine is a view of its own: lines of source code.
const byLine = "line"

// lineFlags choose the lines shown.
type lineFlags struct {
	method string // only those of methods that match it
	source string // a file that is shown with them
	around int    // lines of it that are shown around those that weigh anything
}

func (o *Top) lineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.line.method, "method", "", "with --by line, only lines of methods that match this `PATTERN`")
	f.StringVar(&o.line.source, "source", "", "print this source `FILE`, with the weights of its lines")
	f.IntVar(&o.line.around, "context", -1, "with --source, only lines that weigh anything, and so many `LINES` around")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"method": cobra.NoFileCompletions, "context": cobra.NoFileCompletions})
}

// checkLines reads the flags about lines.
func (o *Top) checkLines(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if o.line.source != "" && !given("by") {
		o.By = byLine
	}
	switch {
	case given("context") && o.line.source == "":
		return cli.Usagef("--context is about --source FILE")
	case given("context") && o.line.around < 0:
		return cli.Usagef("--context: %d is not a number of lines", o.line.around)
	case (given("method") || o.line.source != "") && o.By != byLine:
		return cli.Usagef("--method and --source are about lines: give --by %s", byLine)
	case o.By == byLine && (given("diff") || cli.IsLive(cmd)):
		return cli.Usagef("--by %s is of one trace, not of two or of a live process", byLine)
	case o.line.source != "" && (given("method") || given("sort") || given("top") || given("reverse")):
		return cli.Usagef("--source prints the lines of a file in their order: --sort, --reverse, --top and --method are for the table of lines")
	}
	return nil
}

// lines shows source lines by weight.
func (o *Top) lines(cmd *cobra.Command, args []string) error {
	method, err := stacks.Match(cmp.Or(o.line.method, "*"))
	if err != nil {
		return cli.Usagef("--method: %w", err)
	}
	o.sourced, o.sampled = new(sourceLines), true // a line is where a thread was, and here is who called that
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	o.sourced.note(p)
	if o.line.source != "" {
		return o.annotate(cmd, p)
	}
	out := p.Open(cmd, &o.Out)
	weights := p.weighLines(method)
	if o.line.method != "" && len(weights) == 0 && p.Len() > 0 {
		cli.Report(cmd, p.noLines(method))
	}
	if len(weights) == 0 {
		p.trouble = cmp.Or(p.trouble, cli.ErrNone) // the table is no answer
	}
	tab := p.lineTable(weights)
	if err := o.Rank.CheckColumn(tab.Columns); err != nil {
		return err
	}
	if out.Format == show.FormatJSON {
		return p.Close(cmd, out, show.WriteMore(out, p.document(), o.Rank.Rows("rows", tab), p.T.Stats().Lost))
	}
	p.Head(out)
	if len(tab.Rows) == 0 && out.Format == show.FormatText {
		return p.Close(cmd, out, nil)
	}
	return p.Close(cmd, out, o.Rank.WriteFirst(out, tab))
}

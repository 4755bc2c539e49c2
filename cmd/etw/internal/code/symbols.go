package code

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// NewSymbols returns the command that says which code has names.
func NewSymbols() *cobra.Command {
	var o Profiling
	var form show.Output
	var m missingFlags
	by := symbolRows[0]
	cmd := &cobra.Command{
		Use:   "symbols [flags] FILE...",
		Short: "Show which frames of call stacks have names, and why the rest has none",
		Long: `Symbols counts the frames of the call stacks of samples, or of the measure of --of: those
in methods of .NET with a name, those in files with native code, whose names are in
files of symbols, and those of which nothing is known. Beside them stand the methods
that the trace knows, and whether a rundown listed the code at the end: without
one, code that was not compiled during the trace has no names. With --by source, the
rows are where the names are from, and the files without: which file in --symbols would
name their code. --missing lists these files alone, with keys as symbol servers have them,
and --fetch gets them from the servers of --symbol-path, if you give one: nothing is asked
of any server otherwise.`,
		Example: `  etw symbols cpu.nettrace
  etw symbols --by source cpu.nettrace
  etw symbols --missing machine.etl
  etw symbols --fetch --dry-run --symbol-path 'srv*https://msdl.microsoft.com/download/symbols' machine.etl
  etw symbols --of exceptions --format md exceptions.nettrace`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := form.Check(cmd); err != nil {
				return err
			}
			if err := o.Check(); err != nil {
				return err
			}
			if !slices.Contains(symbolRows, by) {
				return cli.Usagef("--by %s: it is one of %s%s", by, strings.Join(symbolRows, ", "), cli.DidYouMean(by, symbolRows))
			}
			if err := m.check(cmd, &o.Symbols); err != nil {
				return err
			}
			if by == bySource || m.asked() {
				o.origins, o.tiers = frames.NewOrigins(), true // one method may have code from several sources
			}
			if m.lines {
				o.sourced = new(sourceLines)
			}
			o.sampled, o.traces = true, true // all frames count
			p, err := o.Read(cmd, args)
			if err != nil {
				return err
			}
			out := p.Open(cmd, &form)
			p.Head(out)
			if out.Format == show.FormatText && p.Len() > 0 {
				out.WriteByte('\n') // the writer keeps the error
			}
			t := p.symbolTable
			switch {
			case m.asked():
				t = func() *show.Table { return m.table(cmd, p, &o) }
			case by == bySource:
				t = func() *show.Table { return p.originTable(o.origins) }
			}
			return p.Close(cmd, out, t().Write(out))
		},
	}
	o.Flags(cmd)
	form.Flags(cmd)
	m.flags(cmd)
	cmd.Flags().StringVar(&by, "by", by, "the `ROWS` of the table: "+strings.Join(symbolRows, ", "))
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(symbolRows, cobra.ShellCompDirectiveNoFileComp)})
	return cmd
}

const bySource = "source"

// symbolRows are the kinds of rows of the table, the default first.
var symbolRows = []string{"process", bySource}

// A naming counts the frames of a process.
type naming struct{ frames, managed, native int64 }

// symbolTable returns a row for each process that has methods or samples.
func (p *Profiled) symbolTable() *show.Table {
	counts := make(map[int64]*naming)
	order := p.Processes()
	for _, pid := range order {
		counts[pid] = new(naming)
	}
	known := make(map[int64]symbols.Facts)
	for _, f := range p.Table.Facts() {
		known[f.PID] = f
		if counts[f.PID] == nil {
			counts[f.PID] = new(naming)
			order = append(order, f.PID)
		}
	}
	for s := range p.Samples() {
		n := counts[s.Process]
		for frame := range p.Stack(s.Stack) {
			switch f := &p.Frames[frame]; {
			case f.Pseudo:
				continue
			case f.IsNamed():
				n.managed++
			case f.Kind != symbols.Unknown:
				n.native++
			}
			n.frames++
		}
	}
	part := func(name string, of func(*naming) int64) views.Column[int64] {
		return share(name, func(pid int64) (int64, int64) { return of(counts[pid]), counts[pid].frames })
	}
	return pick.Rows(order,
		views.ID("pid", func(pid int64) int64 { return pid }),
		views.Text("process", func(pid int64) string { return p.Names.Processes[pid] }),
		views.Count("frames", func(pid int64) int64 { return counts[pid].frames }),
		part("namedPercent", func(n *naming) int64 { return n.managed }),
		part("nativePercent", func(n *naming) int64 { return n.native }),
		part("unknownPercent", func(n *naming) int64 { return n.frames - n.managed - n.native }),
		views.Count("methods", func(pid int64) int { return known[pid].Methods }),
		views.Count("modules", func(pid int64) int { return known[pid].Modules }),
		views.Flag("rundown", func(pid int64) bool { return known[pid].Rundown > 0 }))
}

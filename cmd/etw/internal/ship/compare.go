package ship

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/figures"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// NewCompare returns the command that sets traces side by side.
func NewCompare() *cobra.Command {
	c := new(comparing)
	cmd := &cobra.Command{
		Use:   "compare [flags] A B | A... -- B...",
		Short: "Set traces side by side: differences beyond noise",
		Long: `Compare asks traces of two sides all questions, and sets the answers side by side: time
on processors by kind of work and method, pauses, collections, allocations and their
types, exceptions, compilations, waits, requests, counters and the heap, and of a machine
processors, disks, files, hard faults and the network, by process. CHANGE PERCENT
is how B differs from A; the largest differences come first, and last figures of events
that only one side was recorded with. Figures that are equal, or differ by less than --threshold percent
or by no more than noise, are left out unless --all is given.

Several recordings of each side, with -- between the sides, tell noise: A and B
are then medians, and a number is more or less if the rank test of Mann and Whitney says
so, which wants four or more of each. Of fewer the tool knows how much chance is in counts
and samples, but not how much the program varies: a change that may be noise is more? or less?.
--figures compares recordings of a lake by the numbers that etw export --tables figures has
kept of them, without the traces: etw-lake figures lake service=cart,version=1.4* > A

--per sets figures that grow with time against the length of the trace, requests, events of a
name or operations: --per second, --per request, --per Order/Start, --per operation where
BenchmarkDotNet tells their number, otherwise that, as in --per 500 or --per 500,750 (A,B).
--root leaves code and allocations below frames of a name, --benchmark those below the
workload of BenchmarkDotNet, and nothing else.

--fail-if is for CI: the exit code is 3 if a number of B is too far from that of A, by
more than noise. METRIC is as the table and --all have it, in which * is any text; +10%
or -10% is how much more or less it must be, +5 the same in the number's own unit, and
without either --threshold counts.`,
		Example: `  etw compare gc.nettrace alloc.nettrace
  etw compare --root Oven.Work cpu.nettrace after.nettrace
  etw compare before.nettrace cpu.nettrace -- after.nettrace
  etw compare --fail-if 'gc.pauseMs.p99 +10%' --fail-if 'alloc.*' gc.nettrace gc.nettrace
  etw compare --format json gc.nettrace alloc.nettrace | jq '.measures[0].name'`,
		Args:              compareArgs,
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              c.main,
	}
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "show equal figures, too")
	f.BoolVar(&c.kept, "figures", false, "compare figures that a lake has kept: A and B are files of etw-lake figures")
	f.StringVar(&c.per, "per", "", "set sums against `WHAT`: second, request, operation, an event, or numbers")
	f.Float64Var(&c.threshold, "threshold", 0, fmt.Sprintf("changes of less than `PERCENT` are small: %d, or of few recordings %d to %d", compare.DefaultThreshold, ThresholdOfFew, ThresholdOfOne))
	f.StringArrayVar(&c.failIf, "fail-if", nil, "exit with 3 if this holds: `METRIC` +10%, -10%, 10%, +5; repeatable")
	f.StringVar(&c.root, "root", "", "only code and allocations below frames that match one of these `PATTERNS`")
	f.BoolVar(&c.benchmark, "benchmark", false, "only code and allocations below the workload of BenchmarkDotNet")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"per": cobra.FixedCompletions(pers, cobra.ShellCompDirectiveNoFileComp), "threshold": cobra.NoFileCompletions,
		"fail-if": cobra.NoFileCompletions, "root": cobra.NoFileCompletions,
	})
	c.rank.Flags(cmd, "changePercent", "metric", "area", "name")
	f.Lookup("top").Usage = fmt.Sprintf("print only the first `N` rows; text and Markdown have %d if it is left out", show.RowsForPeople)
	c.symbols.Flag(cmd)
	c.scope.Flags(cmd)
	c.out.Flags(cmd)
	c.in.Flags(cmd)
	return cmd
}

// compareArgs takes two traces, or -- between those of A and those of B.
func compareArgs(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if slices.Contains(args, "--") {
		return fmt.Errorf("-- stands once, between the traces of A and those of B")
	}
	if dash < 0 {
		if len(args) > 2 {
			return fmt.Errorf("of %d traces -- says which are A and which are B: etw compare A... -- B", len(args))
		}
		return cli.Args(2, 2)(cmd, args)
	}
	if dash == 0 || dash == len(args) {
		return fmt.Errorf("-- stands between the traces of A and those of B, and of both there is at least one")
	}
	return nil
}

// A comparing holds the flags of the command.
type comparing struct {
	all       bool
	kept      bool // the sides are files of figures
	per       string
	threshold float64
	failIf    []string
	root      string
	benchmark bool
	in        pick.Input
	scope     pick.Scope
	out       show.Output
	rank      show.Ranking
	symbols   frames.SymbolFiles

	unit       perUnit
	conditions []condition
	below      func(*stacks.Frame) bool // nil for all code
	rules      *work.Rules
}

// workload are the methods that BenchmarkDotNet makes to call the measured code. The empty
// calls, to be subtracted, have other names.
const workload = `@(BenchmarkDotNet\.Autogenerated\.Runnable_|Runnable_\d+\.|BenchmarkDotNet\.Toolchains\.InProcess\.).*(WorkloadAction|Workload(No)?Unroll|InvokeMultiple|InvokeUnroll|InvokeNoUnroll)`

// check reads the flags that do not depend on the traces.
func (c *comparing) check(cmd *cobra.Command) error {
	if err := cmp.Or(c.out.Check(cmd), c.rank.Check(cmd)); err != nil {
		return err
	}
	if asked := cmd.Flags().Changed("threshold"); asked && (!(c.threshold > 0) || math.IsInf(c.threshold, 0)) {
		return cli.Usagef("--threshold: %v is not a share in percent, above 0", c.threshold)
	}
	var err error
	if c.unit, err = parsePer(c.per); err != nil {
		return err
	}
	for _, text := range c.failIf {
		x, err := parseCondition(text)
		if err != nil {
			return err
		}
		c.conditions = append(c.conditions, x)
	}
	if c.root != "" && c.benchmark {
		return cli.Usagef("--root and --benchmark exclude each other")
	}
	if c.benchmark {
		c.root = workload
	}
	if c.root != "" {
		if c.below, err = stacks.Match(c.root); err != nil {
			return cli.Usagef("--root: %w", err)
		}
	}
	c.rules = work.Default()
	return nil
}

// sideNames are the names of the sides.
var sideNames = [2]string{"A", "B"}

func (c *comparing) main(cmd *cobra.Command, args []string) error {
	if err := c.check(cmd); err != nil {
		return err
	}
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = 1
	}
	sides := [2]*side{{paths: args[:dash]}, {paths: args[dash:]}}
	read := c.readTraces
	if c.kept {
		read = c.readFigures
	}
	trouble, err := read(cmd, sides)
	if err != nil {
		return err
	}
	if err := cmp.Or(nothingThere(sides), c.missing(sides)); err != nil {
		return err
	}
	res, err := c.result(sides)
	if err != nil {
		return err
	}
	if !c.kept {
		c.suggestHeap(sides, res)
	}
	p := c.out.Open(cmd, false)
	err = c.print(p, sides, res)
	if err == nil {
		err = p.Flush()
	}
	for _, f := range res.failed {
		cli.Report(cmd, fmt.Errorf("--fail-if %s: %s", f.Condition, f.Why))
		trouble = cli.ErrFailed // whatever else there is
	}
	return p.Close(err, trouble)
}

// readTraces reads the traces of the sides.
func (c *comparing) readTraces(cmd *cobra.Command, sides [2]*side) (trouble, err error) {
	c.suggest(cmd, sides)
	for i, s := range sides {
		for _, path := range s.paths {
			r, err := c.read(cmd, path, i)
			if err != nil {
				return nil, err
			}
			trouble = cmp.Or(trouble, r.trouble)
			s.add(r, len(s.paths) > 1)
		}
	}
	return trouble, nil
}

// suggest names questions after a comparison.
func (c *comparing) suggest(cmd *cobra.Command, sides [2]*side) {
	a, b := show.ShellWord(sides[0].paths[0]), show.ShellWord(sides[1].paths[0])
	c.out.About.Suggest(fmt.Sprintf("etw top --diff %s %s", a, b), "which methods have changed")
	c.out.About.Suggest(fmt.Sprintf("etw top --by kind --diff %s %s", a, b), "which kinds of work have changed")
	if len(sides[0].paths) == 1 && len(sides[1].paths) == 1 {
		c.out.About.Suggest("", "four or more recordings of each side tell noise apart: etw compare A... -- B...")
	}
}

// suggestHeap says where more stands of two heaps that differ.
func (c *comparing) suggestHeap(sides [2]*side, res *compared) {
	inHeap := func(x compare.Change) bool { return x.Figure.Area == "heap" && x.By() != 0 }
	if len(sides[0].paths) == 1 && len(sides[1].paths) == 1 && slices.ContainsFunc(res.rows, inHeap) {
		a, b := show.ShellWord(sides[0].paths[0]), show.ShellWord(sides[1].paths[0])
		res.heaps = fmt.Sprintf("etw heap --by change %s %s", a, b)
		c.out.About.Suggest(res.heaps, "how the heaps have changed")
		c.out.About.Suggest("etw heap --by holder "+b, "who holds the types that retain most")
	}
}

// nothingThere reports that no recording has any of the figures asked for.
func nothingThere(sides [2]*side) error {
	a, b := sides[0], sides[1]
	if len(a.none) < len(a.runs) || len(b.none) < len(b.runs) {
		return nil // a side that has nothing says so itself
	}
	return cli.Usagef("nothing is to be compared: of A %s; of B %s", a.none[0], b.none[0])
}

// missing reports a side of which nothing is left below the frames that were asked for.
func (c *comparing) missing(sides [2]*side) error {
	if c.below == nil {
		return nil
	}
	for i, s := range sides {
		if slices.ContainsFunc(s.runs, func(r []compare.Figure) bool { return len(r) > 0 }) {
			continue
		}
		if c.benchmark {
			return cli.Usagef("--benchmark: no sample of %s is below a workload method of BenchmarkDotNet, such as BenchmarkDotNet.Autogenerated.Runnable_0.WorkloadActionUnroll; --root takes other names", sideNames[i])
		}
		return cli.Usagef("--root %s: no sample of %s is below such a frame", c.root, sideNames[i])
	}
	return nil
}

// A compared is the result of a comparison.
type compared struct {
	rows      []compare.Change // those that are shown
	all       int              // how many numbers there are
	small     int              // how many differ by noise, or by less than the threshold
	threshold float64
	areas     map[string][2]bool // which of the sides have numbers about it
	failed    []failure
	notes     []string
	heaps     string // the command that says more of heaps that differ, or ""
}

// Thresholds where recordings are too few to tell noise, and where there is one alone.
const (
	ThresholdOfFew = 20
	ThresholdOfOne = 30
)

// thresholdFor returns which changes are small, in percent.
func (c *comparing) thresholdFor(a, b int) float64 {
	switch {
	case c.threshold > 0:
		return c.threshold
	case a == 1 || b == 1:
		return ThresholdOfOne
	case !compare.CanTell(a, b):
		return ThresholdOfFew
	}
	return compare.DefaultThreshold
}

// result compares the sides.
func (c *comparing) result(sides [2]*side) (*compared, error) {
	a, b := sides[0], sides[1]
	res := &compared{threshold: c.thresholdFor(len(a.runs), len(b.runs)), notes: unlike(sides)}
	list := compare.Sides(a.runs, b.runs, res.threshold)
	if err := c.judge(res, sides); err != nil {
		return nil, err
	}
	compare.Sort(list)
	wholes := make(map[string]float64)
	res.areas = make(map[string][2]bool)
	for _, x := range list {
		has := res.areas[x.Figure.Area]
		res.areas[x.Figure.Area] = [2]bool{has[0] || len(x.A.Runs) > 0, has[1] || len(x.B.Runs) > 0}
		wholes[x.Figure.Metric] = max(x.A.Median.Or(0), x.B.Median.Or(0))
	}
	for _, x := range list {
		if figures.IsMinor(x.Figure.Metric, wholes[x.Figure.Metric], func(metric string) float64 { return wholes[metric] }) {
			continue
		}
		res.all++
		quiet := x.Verdict == compare.Noise || x.Verdict == compare.Small
		if quiet {
			res.small++
		}
		if c.all || !quiet && x.Verdict != compare.Equal {
			res.rows = append(res.rows, x)
		}
	}
	return res, nil
}

// unlike names the differences of the sides that make figures incomparable. Times of code
// are left out where samples of some recordings are of threads, running or not, and of
// others of processors.
func unlike(sides [2]*side) (notes []string) {
	a, b := sides[0], sides[1]
	if all := slices.Concat(a.samples, b.samples); slices.ContainsFunc(all, func(s string) bool { return s != all[0] }) {
		for _, s := range sides {
			for i, run := range s.runs {
				s.runs[i] = order.Delete(run, func(f compare.Figure) bool { return f.Area == figures.CPU })
			}
		}
		notes = append(notes, fmt.Sprintf("samples of A are %s, of B %s: they cannot be compared, and times of code are left out", strings.Join(a.samples, ", "), strings.Join(b.samples, ", ")))
	}
	if all := slices.Concat(a.states, b.states); slices.ContainsFunc(all, func(s string) bool { return s != all[0] }) {
		for _, s := range sides {
			for i, run := range s.runs {
				s.runs[i] = order.Delete(run, func(f compare.Figure) bool { return figures.IsKind(f.Metric) })
			}
		}
		notes = append(notes, "not all runtimes tell managed code from code that it called: kinds of work are left out")
	}
	if of := slices.Concat(a.perOf, b.perOf); slices.ContainsFunc(of, func(s string) bool { return s != of[0] }) {
		notes = append(notes, fmt.Sprintf("the requests of A are %s, those of B %s", strings.Join(a.perOf, ", "), strings.Join(b.perOf, ", ")))
	}
	return notes
}

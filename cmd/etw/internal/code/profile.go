package code

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Profiling holds the flags of all commands that show the weights of call stacks.
type Profiling struct {
	Of      string
	naming  string
	raw     bool
	tiers   bool
	sampled bool // stacks are to be as they were sampled
	traces  bool // alone have an answer, and profiles of other tools none
	threads threadChoice
	root    string
	split   bool // among the frames of a stack that root matches
	labels  []string
	work    kindFlags
	filter  stacks.Filter
	In      pick.Input
	scope   pick.Scope
	Symbols frames.SymbolFiles
	origins *frames.Origins // of names, if they are asked for
	before  string          // the trace to compare with
	sourced *sourceLines    // lines of the code, if they are asked for
	Ordered []string        // names of --of
}

// The forms of names that --names knows.
var Namings = []string{"full", "type", "short"}

// Flags adds the flags to a command.
func (o *Profiling) Flags(cmd *cobra.Command) {
	o.FrameFlags(cmd)
	o.scope.Flags(cmd)
	o.In.Flags(cmd)
}

// Within has the flags for parts of traces be those of a command with flags of its own for
// that.
func (o *Profiling) Within(in pick.Input, sel *pick.Selection) {
	o.In, o.scope, o.threads.only = in, sel.Scope(), sel.Threads()
}

// FrameFlags adds the flags that choose samples and frames.
func (o *Profiling) FrameFlags(cmd *cobra.Command) {
	o.Ordered = samples.Names()
	f := cmd.Flags()
	f.StringVar(&o.Of, "of", "cpu", "the measure: `WHAT` is "+strings.Join(o.Ordered, ", ")+"\n(the last four, not given back, are not yet seen on a real recording)")
	f.StringVar(&o.naming, "names", "type", "`FORM` of names: full (module, type and arguments), type (with namespace)\nor short")
	f.BoolVar(&o.raw, "raw-names", false, "leave the names of async methods, lambdas and local functions as the\ncompiler made them")
	f.BoolVar(&o.sampled, "as-sampled", false, "leave stacks of EventPipe as they were sampled: with the methods in which a\nthread could be stopped, and those in which it waits")
	f.BoolVar(&o.tiers, "tiers", false, "keep code of different tiers of compilation apart")
	f.StringVar(&o.filter.Include, "include", "", "only stacks with a frame for each of these `PATTERNS`, separated by ;")
	f.StringVar(&o.filter.Exclude, "exclude", "", "only stacks without frames that match one of these `PATTERNS`")
	f.StringVar(&o.filter.Group, "group", "", "give frames common names: `RULES` such as 'System.%->system' or, with the\nframe that enters the group, 'System.%=>system', separated by ;, or one of\nPerfView's, such as '[group modules]', '[just my app]'")
	f.StringVar(&o.filter.Fold, "fold", "", "leave out frames that match one of these `PATTERNS`: their weight is\ntheir callers'")
	f.Float64Var(&o.filter.FoldPercent, "fold-percent", 0, "leave out parts of the tree that weigh less than this `SHARE` of all, in\npercent")
	f.StringVar(&o.root, "root", "", "only calls of frames that match one of these `PATTERNS`")
	f.StringArrayVar(&o.labels, "label", nil, "only samples with this `LABEL`, such as state=managed or type=System.String;\nrepeatable")
	o.threads.flags(cmd)
	o.work.flags(cmd)
	o.Symbols.Flag(cmd)
	presets := each.Of(stacks.Presets(), func(name string) string { return "[" + name + "]" })
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"of":      cobra.FixedCompletions(o.Ordered, cobra.ShellCompDirectiveNoFileComp),
		"names":   cobra.FixedCompletions(Namings, cobra.ShellCompDirectiveNoFileComp),
		"include": cobra.NoFileCompletions, "exclude": cobra.NoFileCompletions, "group": cobra.FixedCompletions(presets, cobra.ShellCompDirectiveNoFileComp), "fold": cobra.NoFileCompletions,
		"fold-percent": cobra.NoFileCompletions, "root": cobra.NoFileCompletions,
		"label": cobra.FixedCompletions([]string{"state=managed", "state=external", "state=gc", "type="}, cobra.ShellCompDirectiveNoFileComp),
	})
}

// PatternsLong is the help on the patterns that such flags take.
const PatternsLong = `Patterns are those of PerfView, and match names with module and arguments, as in
Shop!Bakery.Oven.Bake(int32), in any case and anywhere in them: * is any text, % any
part of a name, ^ the start, | or; after @ comes a regular expression. A part in
{} can be used in the name of a group, as in '{%}!->module $1'. Groups are made first,
of names with the folder of the module, as /app/Shop!Bakery.Oven.Bake(int32), and \ and
/ are one; all else matches the names that they give. docs/stacks.md has the rules.`

// Check reads the flags that do not depend on the traces.
func (o *Profiling) Check() error {
	if !slices.Contains(Namings, o.naming) {
		return cli.Usagef("--names %s: there are %s", o.naming, strings.Join(Namings, ", "))
	}
	if o.filter.FoldPercent < 0 || o.filter.FoldPercent > 100 {
		return cli.Usagef("--fold-percent: %v is not a share in percent", o.filter.FoldPercent)
	}
	if _, err := new(stacks.Profile).Apply(o.filter); err != nil {
		return cli.Usagef("%w", err)
	}
	if _, err := stacks.Match(o.root); err != nil {
		return cli.Usagef("--root: %w", err)
	}
	if err := o.threads.check(); err != nil {
		return err
	}
	for _, l := range o.labels {
		if !strings.Contains(l, "=") {
			return cli.Usagef("--label %s: it is not a label such as state=managed", l)
		}
	}
	o.sampled = o.sampled || len(o.work.kinds) > 0 // of what waits, there are several kinds
	return o.work.check()
}

// CheckKind reports a name of --of that traces have no samples of. Profiles of other tools
// have values of their own.
func (o *Profiling) CheckKind() error {
	if !slices.Contains(o.Ordered, o.Of) {
		return cli.Usagef("--of %s: it is one of %s%s", o.Of, strings.Join(o.Ordered, ", "), cli.DidYouMean(o.Of, o.Ordered))
	}
	return nil
}

// Options returns how frames are named.
func (o *Profiling) Options() stacks.Options {
	names := map[string]stacks.Names{"full": stacks.FullNames, "type": stacks.QualifiedNames, "short": stacks.ShortNames}
	return stacks.Options{Names: names[o.naming], Raw: o.raw, Tiers: o.tiers, AsSampled: o.sampled}
}

// A Profiled is the samples of traces, and the facts about them.
type Profiled struct {
	*stacks.Profile
	T          *trace.Trace
	Table      *symbols.Table
	Names      *pick.Names
	Facts      []string
	warnings   []string
	trouble    error
	span       pick.TimeSpan
	part       func(*stacks.Profile, stacks.Query) []string // the facts of a part of the time; may be nil
	Period     int64                                        // between two samples in nanoseconds, 0 if there is none
	compared   bool                                         // with what there was before
	across     *recordings                                  // of names, if it is compared, or is to be
	given      bool                                         // it is a profile that another tool wrote
	before     *trace.Trace
	callers    bool // of its stacks may be missing
	windowed   bool // it is a part of the time of a profile that is kept
	seenBefore *need.Seen
	needs      []need.Need // the events that samples are of
	seen       *need.Seen  // which of them there are
	lacks      []need.Need // what the trace has no events of
	none       string      // or else why there is nothing
	refused    bool        // nothing would be there without filters
}

// Read reads traces, and compares them with another one if there is one to compare with.
func (o *Profiling) Read(cmd *cobra.Command, args []string) (*Profiled, error) {
	if o.before != "" {
		return o.compare(cmd, args)
	}
	return o.ReadOne(cmd, args)
}

// write reads traces and writes the output of their profile. Where it is empty there is
// nothing to write, and that is the error.
func (o *Profiling) write(cmd *cobra.Command, args []string, path, nothing string, page func(w io.Writer, p *Profiled) error) error {
	p, err := o.Read(cmd, args)
	if err != nil {
		return err
	}
	defer p.T.Close()
	if cmd.Context().Err() != nil {
		return p.trouble
	}
	if p.Len() == 0 {
		return cmp.Or(p.trouble, errors.New(nothing))
	}
	err = show.WritePage(cmd, path, args, func(w io.Writer) error { return page(w, p) })
	return show.Written(cmd, p.T, err, p.trouble)
}

// ReadOne reads traces, or takes their kept profile, and leaves the part of it that the
// flags ask for. All of the time is read, and the part that is asked for taken of it: so
// another part costs a server no pass.
func (o *Profiling) ReadOne(cmd *cobra.Command, args []string) (*Profiled, error) {
	if err := pick.RefuseCopies(args); err != nil {
		return nil, err
	}
	asked, err := o.header(cmd, args)
	if err != nil {
		return nil, err
	}
	wide := o.widened(asked)
	found, err := o.keep(cmd, args, &wide)
	if err != nil {
		return nil, err
	}
	if isCut := wide.From != asked.From || wide.To != asked.To; isCut && found.hasRest() {
		found.T.Close() // of so many samples there is more to be seen in a part of them
		wide.From, wide.To = asked.From, asked.To
		if found, err = o.keep(cmd, args, &wide); err != nil {
			return nil, err
		}
	}
	p := new(Profiled)
	*p = *found
	p.warnings = slices.Clone(found.warnings)
	if o.isOfSeveral() && asked.During == nil {
		p.ofProcesses(asked)
	}
	if wide.From != asked.From || wide.To != asked.To {
		if err := o.window(cmd, p, asked); err != nil {
			return p, err
		}
	} else {
		o.foresee(cmd, p)
	}
	had := p.Len()
	if had == 0 {
		if err := o.sayNone(cmd, args, asked, p); err != nil {
			p.T.Close()
			return nil, err
		}
	}
	p.note()
	if err := o.Shape(p); err != nil {
		return p, err
	}
	p.tellOfLeft(had, o.wholeStacks())
	if had > 0 && p.Len() == 0 {
		if err := o.threads.checkMet(cmd, &o.In, args); err != nil && !p.given {
			p.T.Close()
			return nil, err
		}
		cli.Report(cmd, fmt.Errorf("of %s none passes --tid, --label, --kind, --root, --include and --exclude", show.Count(had, "sample", "samples")))
	}
	return p, nil
}

// header reads the flags of the scope. Threads are chosen of the samples, not of the events.
func (o *Profiling) header(cmd *cobra.Command, args []string) (*filter.Header, error) {
	o.scope.Later = true
	h, err := o.scope.Header(cmd, &o.In, args)
	o.threads.of = o.scope.Part
	return h, err
}

// profile reads traces in one pass: the names of code are learnt from all events, samples
// are taken of those in scope.
func (o *Profiling) profile(cmd *cobra.Command, args []string, h *filter.Header) (*Profiled, error) {
	o.In.Profiles = !o.traces
	t, trouble, err := o.In.Open(cmd, args, false)
	if err != nil {
		return nil, err
	}
	if len(t.Profiles()) > 0 {
		return o.given(cmd, t, trouble)
	}
	if err := o.CheckKind(); err != nil {
		t.Close()
		return nil, err
	}
	files, err := o.Symbols.Open(cmd)
	if err != nil {
		return nil, err
	}
	kind := samples.Find(o.Of)
	var mux etw.Mux
	code := o.codeMap(files)
	finish, skip := Start(kind, &mux, t, h)
	code.Origins = o.origins
	p := &Profiled{T: t, Names: pick.NewNames(), trouble: trouble}
	needs := needsOf(kind, t)
	seen := need.Follow(append(slices.Clip(needs), need.Switches))
	p.needs, p.seen = needs, seen
	i := &pick.Inquiry{Cmd: cmd, Mux: &mux, Names: p.Names, Also: &code.Mux, All: func(r *etw.Record, _ *etw.EventInfo) { seen.See(r) }, Skip: skip}
	if !kind.OwnStacks {
		if i.Source, err = frames.BindStacks(cmd, &o.In, t, args); err != nil {
			return nil, err
		}
	}
	if err := i.Read(t, h); err != nil {
		p.trouble = cmp.Or(p.trouble, err)
	}
	g := finish()
	p.Table, p.Period, p.warnings = code.Code.Table(), g.Period, i.Warnings(t)
	p.part, p.callers, p.span = g.Part, g.callers, i.Span
	options := o.Options()
	options.Native = code.Native
	if o.sourced != nil {
		options.Source = o.sourced.source
	}
	p.Profile = stacks.NewProfile(p.Table, options, g.Samples...)
	p.Facts = g.about(p.Profile)
	frames.ReportFaults(cmd, files)
	if p.Len() == 0 {
		if p.none = o.whyNone(i, needs, seen); p.none == "" {
			p.lacks = needs
		}
		p.refused = !i.Cut && !i.Parted && !o.scope.Parted() && o.scope.Part == nil || p.none == ""
	}
	return p, nil
}

// codeMap returns the analysis that learns the code, and of which lines if they are asked for.
func (o *Profiling) codeMap(files *native.Dir) *frames.CodeMap {
	if o.sourced == nil {
		return frames.NewCodeMap(files)
	}
	o.sourced.open(files)
	return frames.NewCodeMap(files, symbols.ILOffsets())
}

// compiledByNET is the memory in which .NET keeps code that it compiles on Linux.
const compiledByNET = "memfd:doublemapper"

// note says how many frames have names, and why others have none.
func (p *Profiled) note() {
	if p.Cut() {
		p.warnings = append(p.warnings, "the weights of samples add up to 2^63 and more, which cannot be: those that go beyond are cut")
	}
	p.warnings = append(p.warnings, p.Rest().Warnings()...)
	n := p.Naming
	if n.Frames == n.Named {
		return
	}
	text := fmt.Sprintf("%.1f %% of the frames have names", n.Percent())
	if n.Native > 0 {
		text += fmt.Sprintf("; %.1f %% are in files with native code, whose names are in files of symbols: etw symbols --missing says in which", 100*float64(n.Native)/float64(n.Frames))
	}
	if slices.ContainsFunc(p.Frames, func(f stacks.Frame) bool { return f.Nameless && strings.HasPrefix(f.Module, "/"+compiledByNET) }) {
		text += "; " + compiledByNET + " is code that .NET compiled, whose names come at the end of a recording, of processes that still run, or from perf-PID.map"
	}
	if rest := n.Frames - n.Named - n.Native; rest > 0 {
		text += fmt.Sprintf("; of %.1f %% the trace does not tell the code at their addresses", 100*float64(rest)/float64(n.Frames))
	}
	isNet := p.Kind == cpu.ThreadTime || len(p.Table.Facts()) > 0
	if n.Named+n.Native < n.Frames && isNet && !slices.ContainsFunc(p.Processes(), p.Table.HasRundown) {
		text += "; the trace has no rundown of such processes, which recorders write of those that still run if they are stopped cleanly and not told to leave it out"
	}
	p.warnings = append(p.warnings, text)
}

// Shape leaves the part of the profile that the flags ask for.
func (o *Profiling) Shape(p *Profiled) error {
	if o.before != "" {
		p.across = &recordings{after: p.Names}
	}
	if err := o.threads.shape(p); err != nil {
		return err
	}
	if len(o.labels) > 0 {
		p.Profile = p.Only(func(s stacks.Sample) bool {
			return !slices.ContainsFunc(o.labels, func(want string) bool {
				key, value, _ := strings.Cut(want, "=")
				return !slices.Contains(s.Labels, stacks.Label{Key: key, Value: value})
			})
		})
	}
	if len(o.work.kinds) > 0 {
		p.Profile = o.work.only(p.Profile)
	}
	if o.root != "" {
		match, err := stacks.Match(o.root)
		if err != nil {
			return err
		}
		below := p.Below
		if o.split {
			below = p.SplitBelow
		}
		p.Profile = below(match)
	}
	if o.filter == (stacks.Filter{}) {
		return nil
	}
	var err error
	p.Profile, err = p.Apply(o.filter)
	return err
}

// wholeStacks reports whether the flags leave stacks as they are.
func (o *Profiling) wholeStacks() bool { return o.root == "" && o.filter == stacks.Filter{} }

// Head prints the text before a table for people.
func (p *Profiled) Head(out *show.Printer) {
	if out.Format != show.FormatText || p.Len() == 0 {
		return
	}
	totals := p.Totals()
	if p.compared {
		p.headOfDiff(out)
		return
	}
	title := p.Kind + ": " + show.Whole(totals[0])
	if len(totals) == 1 && p.unit().suffix != "" {
		title = p.Kind + ": " + p.unit().text(totals[0])
	} else if name := p.Types[0].Name; name != p.Kind {
		if totals[0] == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		title += " " + name
	}
	if len(totals) > 1 {
		title += ", " + p.unit().text(totals[len(totals)-1])
	}
	fmt.Fprintln(out, string(out.Paint(nil, show.ColorBold, cli.Clean(title))))
	p.printFacts(out)
}

// printFacts prints the facts about the samples.
func (p *Profiled) printFacts(out *show.Printer) {
	for _, f := range p.Facts {
		out.Prose("", "  "+cli.Clean(f), 4)
	}
	for _, w := range p.warnings {
		out.Note(w)
	}
}

// Open prepares printing, and writes the facts beside the result.
func (p *Profiled) Open(cmd *cobra.Command, form *show.Output) *show.Printer {
	out := form.Open(cmd, false)
	if p.before != nil {
		out.About.Of(p.before, false)
	}
	out.About.Of(p.T, false)
	out.About.ReadTo(p.trouble)
	out.About.Warn(p.warnings...)
	out.About.Tell(p.needs, p.seen)
	out.About.Tell(p.needs, p.seenBefore)
	if p.Len() > 0 {
		out.About.Named(p.Naming.Percent())
		out.About.Follow(cmd, followUps[cmd.Name()]...)
	} else {
		if p.none != "" {
			out.About.Warn(p.none)
		}
		out.About.Lack(p.lacks, p.T)
	}
	return out
}

// Close ends a command: it reports losses, and closes the trace and the output.
func (p *Profiled) Close(cmd *cobra.Command, out *show.Printer, err error) error {
	if err == nil {
		err = out.Flush()
	}
	if show.ReportLosses(cmd, p.T) {
		p.trouble = cmp.Or(p.trouble, cli.ErrReported)
	}
	if p.refused && !cli.IsLive(cmd) {
		p.trouble = cmp.Or(p.trouble, cli.ErrNone)
	}
	p.T.Close()
	return out.Close(err, p.trouble)
}

// Needs returns the events to record for the samples that --of names.
func (o *Profiling) Needs() []need.Need {
	if kind := samples.Find(cmp.Or(o.Of, samples.Kinds[0].Name)); kind != nil {
		return kind.Needs
	}
	return nil
}

// followUps are the questions after an answer of a command. The files are put behind.
var followUps = map[string][]show.Suggestion{
	"top":     {show.Next("etw top --by kind", "the kinds of work"), show.Next("etw tree", "the callers of the heaviest"), show.Next("etw top --by stack --top 5", "whole call stacks"), show.Next("etw top --by line --symbols FOLDER", "which lines, with portable PDBs")},
	"tree":    {show.Next("etw top", "the heaviest by themselves"), show.Next("etw top --by stack --top 5", "whole call stacks")},
	"symbols": {show.Next("etw top", "the heaviest methods")},
}

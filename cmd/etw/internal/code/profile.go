package code

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Profiling holds the flags of all commands that show what call stacks weigh.
type Profiling struct {
	Of      string
	naming  string
	raw     bool
	tiers   bool
	root    string
	labels  []string
	filter  stacks.Filter
	In      pick.Input
	scope   pick.Scope
	Symbols frames.SymbolFiles
	origins *frames.Origins // of names, if they are asked for
	before  string          // the trace to compare with
	lines   *sourceLines    // of the code, if they are asked for
	Ordered []string        // names of --of
}

// A SampleCommand is a command about samples.
type SampleCommand struct {
	*cobra.Command
	Of   *Profiling
	Form *show.Output // nil if it writes a file
}

// Check reads the flags that do not depend on the traces.
func (c *SampleCommand) Check(cmd *cobra.Command) error {
	if c.Form != nil {
		if err := c.Form.Check(cmd); err != nil {
			return err
		}
	}
	return c.Of.Check()
}

// A Sampling is a kind of samples that a trace can have.
type Sampling struct {
	Name  string
	Needs []need.Need
	// own says that the analysis binds stacks itself that are events of their own.
	own bool
	// Start registers the analysis, and returns its samples and what is to be said of
	// them when the trace was read.
	Start func(mux *etw.Mux, t *trace.Trace) func() Gathered
}

// needsOf returns what has to be recorded. Recorders of Windows have samples of their
// own.
func (s *Sampling) needsOf(t *trace.Trace) []need.Need {
	if s.Name != "cpu" {
		return s.Needs
	}
	has := func(r trace.Recorder) bool {
		return slices.ContainsFunc(t.Files(), func(f *trace.File) bool { return f.Head().Recorder == r })
	}
	switch {
	case has(trace.Windows):
		return cpu.NeedsKernel
	case has(trace.Linux):
		return cpu.NeedsLinux
	}
	return s.Needs
}

// Samplings are the kinds of samples, as --of names them.
var Samplings = []Sampling{
	{"cpu", cpu.Needs, true, StartCPU},
	{"allocs", alloc.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(alloc.New(mux).Samples) }},
	{"exceptions", exceptions.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(exceptions.New(mux).Samples) }},
	{"contention", contention.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(contention.New(mux).Samples) }},
	{"blocked", threads.Needs, true, startBlocked},
	{"disk", disk.Needs, true, startDisk},
	{"files", files.Needs, true, startFiles},
	{"jit", jit.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(jit.New(mux).Samples) }},
	{"waits", waits.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(waits.New(mux).Samples) }},
	{"handles", handles.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() Gathered { return bare(handles.New(mux).Samples) }},
}

// A Gathered is what an analysis found.
type Gathered struct {
	Samples []*stacks.Samples
	Facts   []string
	Period  int64
}

func bare(samples func() []*stacks.Samples) func() Gathered {
	return func() Gathered { return Gathered{Samples: samples()} }
}

func StartCPU(mux *etw.Mux, t *trace.Trace) func() Gathered {
	return startProcessors(mux, t).Gathered
}

// startProcessors registers what takes samples of processors, or of threads.
func startProcessors(mux *etw.Mux, t *trace.Trace) *ProcessorTime {
	p := NewProcessorTime(mux)
	p.Linux.SetInterval(SamplingInterval(t))
	return p
}

// ProcessorTime has the samples of whoever took them: a kernel, or else the runtime.
type ProcessorTime struct {
	Threads *cpu.Analysis
	kernel  *cpu.Kernel
	Linux   *cpu.Linux
}

func NewProcessorTime(mux *etw.Mux) *ProcessorTime {
	return &ProcessorTime{Threads: cpu.New(mux), kernel: cpu.NewKernel(mux), Linux: cpu.NewLinux(mux)}
}

func (p *ProcessorTime) Gathered() Gathered {
	if res := p.Linux.Result(); res.Samples > 0 {
		return Gathered{Samples: p.Linux.Samples(), Period: res.Interval,
			Facts: []string{fmt.Sprintf("time on processors: %s, %s", show.Count(res.Samples, "sample", "samples"), apart(res))}}
	}
	if g := kernelSamples(p.kernel); g.Samples != nil {
		return g
	}
	res := p.Threads.Result()
	if res.Samples == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("thread time, running or not: %d samples of %s in managed code, %d in what it called; %s apart", res.Managed,
		show.Count(len(res.Threads), "thread", "threads"), res.External, show.Ms(res.IntervalMS))}
	if res.PauseMS > 0 {
		facts = append(facts, fmt.Sprintf("[GC pause] is %s for collections between the samples", show.Ms(res.PauseMS)))
	}
	if res.UnsampledMS > 0 {
		facts = append(facts, fmt.Sprintf("threads were not looked at for %s, all of them together, which is in no number", show.Ms(res.UnsampledMS)))
	}
	return Gathered{Samples: p.Threads.Samples(), Facts: facts, Period: res.Interval()}
}

// kernelSamples returns the samples that the kernel took, if it did.
func kernelSamples(k *cpu.Kernel) Gathered {
	res := k.Result()
	if res.Samples+res.Idle == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("time on processors: %s, %d without a stack; %d of idle processors are left out; %s",
		show.Count(res.Samples, "sample", "samples"), res.Samples-res.Stacks, res.Idle, apart(res))}
	if res.Misdefined > 0 {
		facts = append(facts, fmt.Sprintf("%d stacks are not those of their events: a tool that filtered the trace dropped their definitions", res.Misdefined))
	}
	return Gathered{Samples: k.Samples(), Facts: facts, Period: res.Interval}
}

// apart says how far samples are from each other.
func apart(res *cpu.KernelResult) string {
	text, measured := show.Ms(float64(res.Interval)/1e6), show.Ms(float64(res.Measured)/1e6)
	if res.Measured > 0 && measured != text {
		return text + " apart, measured " + measured
	}
	return text + " apart"
}

// SamplingInterval returns the time between two samples in nanoseconds, as the head of a
// trace tells it, or 0. Of a live process there is none.
func SamplingInterval(t *trace.Trace) int64 {
	if t == nil {
		return 0
	}
	for _, f := range t.Files() {
		if interval := f.Head().SamplingInterval; interval > 0 {
			return int64(interval)
		}
	}
	return 0
}

func startFiles(mux *etw.Mux, _ *trace.Trace) func() Gathered {
	a := files.New(mux)
	return func() Gathered {
		res := a.Result()
		if res.Operations == 0 {
			return Gathered{}
		}
		facts := []string{fmt.Sprintf("time of operations on files: %s, %s read, %s written; by --label op=read and others, --by file", show.Count(res.Operations, "operation", "operations"),
			show.Mb(float64(res.Read)/1e6), show.Mb(float64(res.Written)/1e6))}
		if res.Open > 0 {
			facts = append(facts, fmt.Sprintf("of %s the trace has no end: they count, and weigh nothing", show.Count(res.Open, "operation", "operations")))
		}
		return Gathered{Samples: a.Samples(), Facts: facts}
	}
}

func startDisk(mux *etw.Mux, _ *trace.Trace) func() Gathered {
	a := disk.New(mux)
	return func() Gathered {
		res := a.Result()
		if res.Operations == 0 {
			return Gathered{}
		}
		facts := []string{fmt.Sprintf("time that disks took: %s, %s; by --label op=read, write or flush, --by file", show.Count(res.Operations, "operation", "operations"), show.Mb(float64(res.Bytes)/1e6))}
		if res.Orphans > 0 {
			facts = append(facts, fmt.Sprintf("%s have no stack: no event tells when they were asked for", show.Count(res.Orphans, "operation", "operations")))
		}
		return Gathered{Samples: a.Samples(), Facts: facts}
	}
}

func startBlocked(mux *etw.Mux, _ *trace.Trace) func() Gathered {
	a := threads.New(mux)
	return func() Gathered {
		res := a.Result()
		if res.Switches == 0 {
			return Gathered{}
		}
		facts := []string{fmt.Sprintf("threads ran for %s, waited for %s, and were ready to run for %s", show.Ms(res.RunningMS), show.Ms(res.WaitingMS), show.Ms(res.ReadyMS))}
		if res.Readies == 0 {
			facts[0] = fmt.Sprintf("threads ran for %s, and waited for %s, which includes being ready to run: no event tells it apart", show.Ms(res.RunningMS), show.Ms(res.WaitingMS))
		}
		open := 0.0
		for _, t := range res.Threads {
			open += t.OpenMS
		}
		if open > 0 {
			facts = append(facts, fmt.Sprintf("%s of that lasts to the end of the trace, and has no stack: it is in no number below", show.Ms(open)))
		}
		if res.Gaps > 0 {
			facts = append(facts, fmt.Sprintf("context switches are missing in %s: of %s nobody knows what threads did", show.Count(res.Gaps, "place", "places"), show.Ms(res.UnknownMS)))
		}
		return Gathered{Samples: a.Samples(), Facts: facts}
	}
}

// The forms of names that --names knows.
var Namings = []string{"full", "type", "short"}

func (o *Profiling) Flags(cmd *cobra.Command) {
	o.Ordered = nil
	for _, s := range Samplings {
		o.Ordered = append(o.Ordered, s.Name)
	}
	f := cmd.Flags()
	f.StringVar(&o.Of, "of", "cpu", "what is weighed: `WHAT` is "+strings.Join(o.Ordered, ", "))
	f.StringVar(&o.naming, "names", "type", "`FORM` of names: full (module, type and arguments), type (with namespace)\nor short")
	f.BoolVar(&o.raw, "raw-names", false, "leave the names of async methods, lambdas and local functions as the\ncompiler made them")
	f.BoolVar(&o.tiers, "tiers", false, "keep code of different tiers of compilation apart")
	f.StringVar(&o.filter.Include, "include", "", "only stacks with a frame for each of these `PATTERNS`, separated by ;")
	f.StringVar(&o.filter.Exclude, "exclude", "", "only stacks without frames that match one of these `PATTERNS`")
	f.StringVar(&o.filter.Group, "group", "", "give frames common names: `RULES` such as 'System.%->system' or, with the\nframe that enters the group, 'System.%=>system', separated by ;")
	f.StringVar(&o.filter.Fold, "fold", "", "leave out frames that match one of these `PATTERNS`: what they weigh is\ntheir callers'")
	f.Float64Var(&o.filter.FoldPercent, "fold-percent", 0, "leave out parts of the tree that weigh less than this `SHARE` of all, in\npercent")
	f.StringVar(&o.root, "root", "", "only what frames that match one of these `PATTERNS` call")
	f.StringArrayVar(&o.labels, "label", nil, "only samples with this `LABEL`, such as state=managed or type=System.String;\nrepeatable")
	o.Symbols.Flag(cmd)
	o.scope.Flags(cmd)
	o.In.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"of":      cobra.FixedCompletions(o.Ordered, cobra.ShellCompDirectiveNoFileComp),
		"names":   cobra.FixedCompletions(Namings, cobra.ShellCompDirectiveNoFileComp),
		"include": cobra.NoFileCompletions, "exclude": cobra.NoFileCompletions, "group": cobra.NoFileCompletions, "fold": cobra.NoFileCompletions,
		"fold-percent": cobra.NoFileCompletions, "root": cobra.NoFileCompletions,
		"label": cobra.FixedCompletions([]string{"state=managed", "state=external", "state=gc", "type="}, cobra.ShellCompDirectiveNoFileComp),
	})
}

// patternsLong is what the help of all such commands says of patterns.
const patternsLong = `Patterns are those of PerfView, and match names with module and arguments, as in
Shop!Bakery.Oven.Bake(int32), in any case and anywhere in them: * is any text, % any
part of a name, ^ the start, | or; after @ comes a regular expression. What stands in
{} can be used in the name of a group, as in '{%}!->module $1'.`

// Check reads the flags that do not depend on the traces.
func (o *Profiling) Check() error {
	if !slices.Contains(o.Ordered, o.Of) {
		return cli.Usagef("--of %s: it is one of %s%s", o.Of, strings.Join(o.Ordered, ", "), cli.DidYouMean(o.Of, o.Ordered))
	}
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
	for _, l := range o.labels {
		if !strings.Contains(l, "=") {
			return cli.Usagef("--label %s: it is not a label such as state=managed", l)
		}
	}
	return nil
}

func (o *Profiling) Options() stacks.Options {
	names := map[string]stacks.Names{"full": stacks.FullNames, "type": stacks.QualifiedNames, "short": stacks.ShortNames}
	return stacks.Options{Names: names[o.naming], Raw: o.raw, Tiers: o.tiers}
}

// A Profiled is the samples of traces, and what is to be said of them.
type Profiled struct {
	*stacks.Profile
	T        *trace.Trace
	Table    *symbols.Table
	Names    *pick.Names
	Facts    []string
	warnings []string
	trouble  error
	pids     []int64 // of samples
	Period   int64   // between two samples in nanoseconds, 0 if there is none
	compared bool    // with what there was before
	before   *trace.Trace
	lacks    []need.Need // what the trace has no events of
	Lambdas  Lambdas     // that have numbers
}

// Read reads traces, and compares them with another one if there is one to compare with.
func (o *Profiling) Read(cmd *cobra.Command, args []string) (*Profiled, error) {
	if o.before != "" {
		return o.compare(cmd, args)
	}
	return o.ReadOne(cmd, args)
}

// write reads traces and writes what is made of their profile. Where it is empty there is
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

// ReadOne reads traces, or takes what was kept of them, and leaves of the profile what the
// flags ask for.
func (o *Profiling) ReadOne(cmd *cobra.Command, args []string) (*Profiled, error) {
	find := func() (*Profiled, error) { return o.profile(cmd, args) }
	keep := func() (*Profiled, error) { return cli.Kept(cmd, o.key(args), find) }
	if o.lines != nil || o.origins != nil { // they learn on the way
		keep = find
	}
	found, err := keep()
	if err != nil {
		return nil, err
	}
	p := new(Profiled)
	*p = *found
	p.warnings, p.pids = slices.Clone(found.warnings), slices.Clone(found.pids)
	had := p.Len()
	if had == 0 && cmd.Context().Err() == nil {
		show.ReportNeeds(cmd, p.lacks)
	}
	p.note()
	if err := o.Shape(p); err != nil {
		return p, err
	}
	if had > 0 && p.Len() == 0 {
		cli.Report(cmd, fmt.Errorf("of %s none is what --label, --root, --include and --exclude ask for", show.Count(had, "sample", "samples")))
	}
	return p, nil
}

// key says what a profile depends on before it is shaped.
func (o *Profiling) key(args []string) string {
	return fmt.Sprint("profile ", o.Of, o.naming, o.raw, o.tiers, o.scope, o.Symbols, o.In.Key(), cli.Stamps(args))
}

// profile reads traces in one pass: what names code is learnt from all events, samples
// are taken of those in scope.
func (o *Profiling) profile(cmd *cobra.Command, args []string) (*Profiled, error) {
	if err := pick.RefuseCopies(args); err != nil {
		return nil, err
	}
	h, err := o.scope.Header(cmd, &o.In, args)
	if err != nil {
		return nil, err
	}
	t, trouble, err := o.In.Open(cmd, args, false)
	if err != nil {
		return nil, err
	}
	files, err := o.Symbols.Open(cmd)
	if err != nil {
		return nil, err
	}
	kind := &Samplings[slices.Index(o.Ordered, o.Of)]
	var mux etw.Mux
	code := o.codeMap(files)
	var finish func() Gathered
	if kind.Name != "cpu" || h.During == nil {
		finish = kind.Start(&mux, t)
	}
	code.Origins = o.origins
	p := &Profiled{T: t, Names: pick.NewNames(), trouble: trouble}
	i := &pick.Inquiry{Cmd: cmd, Mux: &mux, Names: p.Names, Also: &code.Mux}
	if kind.Name == "cpu" && h.During != nil {
		processors := startProcessors(&mux, t)
		finish, i.Skip = processors.Gathered, processors.Threads.Skip
	}
	if !kind.own {
		if i.Source, err = frames.BindStacks(cmd, &o.In, t, args); err != nil {
			return nil, err
		}
	}
	if err := i.Read(t, h); err != nil {
		p.trouble = cmp.Or(p.trouble, err)
	}
	g := finish()
	p.Table, p.Facts, p.Period, p.warnings = code.Code.Table(), g.Facts, g.Period, i.Warnings(t)
	options := o.Options()
	options.Native = code.Native
	if o.lines != nil {
		options.Source = o.lines.source
	}
	p.Profile = stacks.NewProfile(p.Table, options, g.Samples...)
	frames.ReportFaults(cmd, files)
	if p.Len() == 0 {
		p.lacks = kind.needsOf(t)
	}
	return p, nil
}

// codeMap returns what learns which code there is, and of which lines if they are asked for.
func (o *Profiling) codeMap(files *native.Dir) *frames.CodeMap {
	if o.lines == nil {
		return frames.NewCodeMap(files)
	}
	o.lines.open(files)
	return frames.NewCodeMap(files, symbols.ILOffsets())
}

// note says how many frames have names, and why others have none.
func (p *Profiled) note() {
	seen := make(map[int64]bool)
	for s := range p.Samples() {
		if !seen[s.Process] {
			seen[s.Process] = true
			p.pids = append(p.pids, s.Process)
		}
	}
	n := p.Naming
	if n.Frames == n.Named {
		return
	}
	text := fmt.Sprintf("%.1f %% of the frames have names", n.Percent())
	if n.Native > 0 {
		text += fmt.Sprintf("; %.1f %% are in files with native code, whose names are in files of symbols", 100*float64(n.Native)/float64(n.Frames))
	}
	if rest := n.Frames - n.Named - n.Native; rest > 0 {
		text += fmt.Sprintf("; of %.1f %% the trace does not tell what is at their addresses", 100*float64(rest)/float64(n.Frames))
	}
	isNet := p.Kind == cpu.ThreadTime || len(p.Table.Facts()) > 0
	if n.Named+n.Native < n.Frames && isNet && !slices.ContainsFunc(p.pids, p.Table.HasRundown) {
		text += "; there is no rundown in the trace, which recorders write if they are stopped cleanly and not told to leave it out"
	}
	p.warnings = append(p.warnings, text)
}

// Shape leaves of the profile what the flags ask for.
func (o *Profiling) Shape(p *Profiled) error {
	if len(o.labels) > 0 {
		p.Profile = p.Only(func(s stacks.Sample) bool {
			return !slices.ContainsFunc(o.labels, func(want string) bool {
				key, value, _ := strings.Cut(want, "=")
				return !slices.Contains(s.Labels, stacks.Label{Key: key, Value: value})
			})
		})
	}
	if o.root != "" {
		match, err := stacks.Match(o.root)
		if err != nil {
			return err
		}
		p.Profile = p.Below(match)
	}
	if o.filter == (stacks.Filter{}) {
		return nil
	}
	var err error
	p.Profile, err = p.Apply(o.filter)
	return err
}

// unit says how values are shown.
func (p *Profiled) unit() valueUnit {
	if len(p.Types) == 0 {
		return valueUnit{}
	}
	return unitOf(p.Types[len(p.Types)-1])
}

// A valueUnit is how values of one type are shown.
type valueUnit struct {
	suffix string // of the names of columns
	per    float64
	digits int
}

func unitOf(t stacks.ValueType) valueUnit {
	switch t.Unit {
	case "nanoseconds":
		return valueUnit{"Ms", 1e6, 3}
	case "bytes":
		return valueUnit{"MB", 1e6, 3}
	}
	return valueUnit{"", 1, 0}
}

func (u valueUnit) column(name string) show.Column { return show.Measured(name+u.suffix, u.digits) }
func (u valueUnit) cell(v int64) string {
	if u.per == 1 {
		return show.Whole(v)
	}
	return show.Exact(float64(v) / u.per)
}

// text says a value in a sentence.
func (u valueUnit) text(v int64) string {
	switch u.suffix {
	case "Ms":
		return show.Ms(float64(v) / u.per)
	case "MB":
		return show.Mb(float64(v) / u.per)
	}
	return show.Whole(v)
}

// share returns a part of all in percent.
func share(v, all int64) string {
	if all == 0 {
		return ""
	}
	return show.Exact(100 * float64(v) / float64(all))
}

// Head prints what stands before a table for people.
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
	if name := p.Types[0].Name; name != p.Kind {
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

// printFacts prints what is to be said of the samples.
func (p *Profiled) printFacts(out *show.Printer) {
	for _, f := range p.Facts {
		out.Prose("", "  "+cli.Clean(f), 4)
	}
	for _, w := range p.warnings {
		out.Note(w)
	}
}

// Open prepares printing, and says what is printed beside the result.
func (p *Profiled) Open(cmd *cobra.Command, form *show.Output) *show.Printer {
	out := form.Open(cmd, false)
	if p.before != nil {
		out.About.Of(p.before, false)
	}
	out.About.Of(p.T, false)
	out.About.ReadTo(p.trouble)
	out.About.Warn(p.warnings...)
	if p.Len() > 0 {
		out.About.Named(p.Naming.Percent())
		out.About.Follow(cmd)
	} else {
		out.About.Lack(p.lacks)
	}
	return out
}

// Close ends a command: it says what was lost, and closes the trace and the output.
func (p *Profiled) Close(cmd *cobra.Command, out *show.Printer, err error) error {
	if err == nil {
		err = out.Flush()
	}
	if show.ReportLosses(cmd, p.T) {
		p.trouble = cmp.Or(p.trouble, cli.ErrReported)
	}
	p.T.Close()
	return out.Close(err, p.trouble)
}

// Needs returns what has to be recorded for the samples that --of names.
func (o *Profiling) Needs() []need.Need {
	i := slices.IndexFunc(Samplings, func(s Sampling) bool { return s.Name == cmp.Or(o.Of, Samplings[0].Name) })
	if i < 0 {
		return nil
	}
	return Samplings[i].Needs
}

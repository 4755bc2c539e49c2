package main

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
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A profiling holds the flags of all commands that show what call stacks weigh.
type profiling struct {
	of      string
	naming  string
	raw     bool
	tiers   bool
	root    string
	labels  []string
	filter  stacks.Filter
	in      input
	scope   scope
	symbols symbolFiles
	origins *origins     // of names, if they are asked for
	before  string       // the trace to compare with
	lines   *sourceLines // of the code, if they are asked for
	ordered []string     // names of --of
}

// A sampling is a kind of samples that a trace can have.
type sampling struct {
	name  string
	needs []need.Need
	// own says that the analysis binds stacks itself that are events of their own.
	own bool
	// start registers the analysis, and returns its samples and what is to be said of
	// them when the trace was read.
	start func(mux *etw.Mux, t *trace.Trace) func() gathered
}

// needsOf returns what has to be recorded. Recorders of Windows have samples of their
// own.
func (s *sampling) needsOf(t *trace.Trace) []need.Need {
	if s.name != "cpu" {
		return s.needs
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
	return s.needs
}

// samplings are the kinds of samples, as --of names them.
var samplings = []sampling{
	{"cpu", cpu.Needs, true, startCPU},
	{"allocs", alloc.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(alloc.New(mux).Samples) }},
	{"exceptions", exceptions.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(exceptions.New(mux).Samples) }},
	{"contention", contention.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(contention.New(mux).Samples) }},
	{"blocked", threads.Needs, true, startBlocked},
	{"disk", disk.Needs, true, startDisk},
	{"files", files.Needs, true, startFiles},
	{"jit", jit.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(jit.New(mux).Samples) }},
	{"waits", waits.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(waits.New(mux).Samples) }},
	{"handles", handles.Needs,
		false, func(mux *etw.Mux, _ *trace.Trace) func() gathered { return bare(handles.New(mux).Samples) }},
}

// A gathered is what an analysis found.
type gathered struct {
	samples []*stacks.Samples
	facts   []string
	period  int64
}

func bare(samples func() []*stacks.Samples) func() gathered {
	return func() gathered { return gathered{samples: samples()} }
}

func startCPU(mux *etw.Mux, t *trace.Trace) func() gathered {
	return startProcessors(mux, t).gathered
}

// startProcessors registers what takes samples of processors, or of threads.
func startProcessors(mux *etw.Mux, t *trace.Trace) *processorTime {
	p := newProcessorTime(mux)
	p.linux.SetInterval(samplingInterval(t))
	return p
}

// processorTime has the samples of whoever took them: a kernel, or else the runtime.
type processorTime struct {
	threads *cpu.Analysis
	kernel  *cpu.Kernel
	linux   *cpu.Linux
}

func newProcessorTime(mux *etw.Mux) *processorTime {
	return &processorTime{threads: cpu.New(mux), kernel: cpu.NewKernel(mux), linux: cpu.NewLinux(mux)}
}

func (p *processorTime) gathered() gathered {
	if res := p.linux.Result(); res.Samples > 0 {
		return gathered{samples: p.linux.Samples(), period: res.Interval,
			facts: []string{fmt.Sprintf("time on processors: %s, %s", count(res.Samples, "sample", "samples"), apart(res))}}
	}
	if g := kernelSamples(p.kernel); g.samples != nil {
		return g
	}
	res := p.threads.Result()
	if res.Samples == 0 {
		return gathered{}
	}
	facts := []string{fmt.Sprintf("thread time, running or not: %d samples of %s in managed code, %d in what it called; %s apart", res.Managed,
		count(len(res.Threads), "thread", "threads"), res.External, ms(res.IntervalMS))}
	if res.PauseMS > 0 {
		facts = append(facts, fmt.Sprintf("[GC pause] is %s for collections between the samples", ms(res.PauseMS)))
	}
	if res.UnsampledMS > 0 {
		facts = append(facts, fmt.Sprintf("threads were not looked at for %s, all of them together, which is in no number", ms(res.UnsampledMS)))
	}
	return gathered{samples: p.threads.Samples(), facts: facts, period: res.Interval()}
}

// kernelSamples returns the samples that the kernel took, if it did.
func kernelSamples(k *cpu.Kernel) gathered {
	res := k.Result()
	if res.Samples+res.Idle == 0 {
		return gathered{}
	}
	facts := []string{fmt.Sprintf("time on processors: %s, %d without a stack; %d of idle processors are left out; %s",
		count(res.Samples, "sample", "samples"), res.Samples-res.Stacks, res.Idle, apart(res))}
	if res.Misdefined > 0 {
		facts = append(facts, fmt.Sprintf("%d stacks are not those of their events: a tool that filtered the trace dropped their definitions", res.Misdefined))
	}
	return gathered{samples: k.Samples(), facts: facts, period: res.Interval}
}

// apart says how far samples are from each other.
func apart(res *cpu.KernelResult) string {
	text, measured := ms(float64(res.Interval)/1e6), ms(float64(res.Measured)/1e6)
	if res.Measured > 0 && measured != text {
		return text + " apart, measured " + measured
	}
	return text + " apart"
}

// samplingInterval returns the time between two samples in nanoseconds, as the head of a
// trace tells it, or 0. Of a live process there is none.
func samplingInterval(t *trace.Trace) int64 {
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

func startFiles(mux *etw.Mux, _ *trace.Trace) func() gathered {
	a := files.New(mux)
	return func() gathered {
		res := a.Result()
		if res.Operations == 0 {
			return gathered{}
		}
		facts := []string{fmt.Sprintf("time of operations on files: %s, %s read, %s written; by --label op=read and others, --by file", count(res.Operations, "operation", "operations"),
			mb(float64(res.Read)/1e6), mb(float64(res.Written)/1e6))}
		if res.Open > 0 {
			facts = append(facts, fmt.Sprintf("of %s the trace has no end: they count, and weigh nothing", count(res.Open, "operation", "operations")))
		}
		return gathered{samples: a.Samples(), facts: facts}
	}
}

func startDisk(mux *etw.Mux, _ *trace.Trace) func() gathered {
	a := disk.New(mux)
	return func() gathered {
		res := a.Result()
		if res.Operations == 0 {
			return gathered{}
		}
		facts := []string{fmt.Sprintf("time that disks took: %s, %s; by --label op=read, write or flush, --by file", count(res.Operations, "operation", "operations"), mb(float64(res.Bytes)/1e6))}
		if res.Orphans > 0 {
			facts = append(facts, fmt.Sprintf("%s have no stack: no event tells when they were asked for", count(res.Orphans, "operation", "operations")))
		}
		return gathered{samples: a.Samples(), facts: facts}
	}
}

func startBlocked(mux *etw.Mux, _ *trace.Trace) func() gathered {
	a := threads.New(mux)
	return func() gathered {
		res := a.Result()
		if res.Switches == 0 {
			return gathered{}
		}
		facts := []string{fmt.Sprintf("threads ran for %s, waited for %s, and were ready to run for %s", ms(res.RunningMS), ms(res.WaitingMS), ms(res.ReadyMS))}
		if res.Readies == 0 {
			facts[0] = fmt.Sprintf("threads ran for %s, and waited for %s, which includes being ready to run: no event tells it apart", ms(res.RunningMS), ms(res.WaitingMS))
		}
		open := 0.0
		for _, t := range res.Threads {
			open += t.OpenMS
		}
		if open > 0 {
			facts = append(facts, fmt.Sprintf("%s of that lasts to the end of the trace, and has no stack: it is in no number below", ms(open)))
		}
		if res.Gaps > 0 {
			facts = append(facts, fmt.Sprintf("context switches are missing in %s: of %s nobody knows what threads did", count(res.Gaps, "place", "places"), ms(res.UnknownMS)))
		}
		return gathered{samples: a.Samples(), facts: facts}
	}
}

// The forms of names that --names knows.
var namings = []string{"full", "type", "short"}

func (o *profiling) flags(cmd *cobra.Command) {
	o.ordered = nil
	for _, s := range samplings {
		o.ordered = append(o.ordered, s.name)
	}
	f := cmd.Flags()
	f.StringVar(&o.of, "of", "cpu", "what is weighed: `WHAT` is "+strings.Join(o.ordered, ", "))
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
	o.symbols.flag(cmd)
	o.scope.flags(cmd)
	o.in.flags(cmd)
	completions(cmd, map[string]cobra.CompletionFunc{
		"of":      cobra.FixedCompletions(o.ordered, cobra.ShellCompDirectiveNoFileComp),
		"names":   cobra.FixedCompletions(namings, cobra.ShellCompDirectiveNoFileComp),
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

// check reads the flags that do not depend on the traces.
func (o *profiling) check() error {
	if !slices.Contains(o.ordered, o.of) {
		return usagef("--of %s: it is one of %s%s", o.of, strings.Join(o.ordered, ", "), didYouMean(o.of, o.ordered))
	}
	if !slices.Contains(namings, o.naming) {
		return usagef("--names %s: there are %s", o.naming, strings.Join(namings, ", "))
	}
	if o.filter.FoldPercent < 0 || o.filter.FoldPercent > 100 {
		return usagef("--fold-percent: %v is not a share in percent", o.filter.FoldPercent)
	}
	if _, err := new(stacks.Profile).Apply(o.filter); err != nil {
		return usagef("%w", err)
	}
	if _, err := stacks.Match(o.root); err != nil {
		return usagef("--root: %w", err)
	}
	for _, l := range o.labels {
		if !strings.Contains(l, "=") {
			return usagef("--label %s: it is not a label such as state=managed", l)
		}
	}
	return nil
}

func (o *profiling) options() stacks.Options {
	names := map[string]stacks.Names{"full": stacks.FullNames, "type": stacks.QualifiedNames, "short": stacks.ShortNames}
	return stacks.Options{Names: names[o.naming], Raw: o.raw, Tiers: o.tiers}
}

// A profiled is the samples of traces, and what is to be said of them.
type profiled struct {
	*stacks.Profile
	t        *trace.Trace
	table    *symbols.Table
	names    *names
	facts    []string
	warnings []string
	trouble  error
	pids     []int64 // of samples
	period   int64   // between two samples in nanoseconds, 0 if there is none
	compared bool    // with what there was before
	before   *trace.Trace
	lacks    []need.Need // what the trace has no events of
	lambdas  lambdas     // that have numbers
}

// read reads traces, and compares them with another one if there is one to compare with.
func (o *profiling) read(cmd *cobra.Command, args []string) (*profiled, error) {
	if o.before != "" {
		return o.compare(cmd, args)
	}
	return o.readOne(cmd, args)
}

// write reads traces and writes what is made of their profile. Where it is empty there is
// nothing to write, and that is the error.
func (o *profiling) write(cmd *cobra.Command, args []string, path, nothing string, page func(w io.Writer, p *profiled) error) error {
	p, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	defer p.t.Close()
	if cmd.Context().Err() != nil {
		return p.trouble
	}
	if p.Len() == 0 {
		return cmp.Or(p.trouble, errors.New(nothing))
	}
	err = writePage(cmd, path, args, func(w io.Writer) error { return page(w, p) })
	return written(cmd, p.t, err, p.trouble)
}

// readOne reads traces, or takes what was kept of them, and leaves of the profile what the
// flags ask for.
func (o *profiling) readOne(cmd *cobra.Command, args []string) (*profiled, error) {
	find := func() (*profiled, error) { return o.profile(cmd, args) }
	keep := func() (*profiled, error) { return kept(cmd, o.key(args), find) }
	if o.lines != nil || o.origins != nil { // they learn on the way
		keep = find
	}
	found, err := keep()
	if err != nil {
		return nil, err
	}
	p := new(profiled)
	*p = *found
	p.warnings, p.pids = slices.Clone(found.warnings), slices.Clone(found.pids)
	had := p.Len()
	if had == 0 && cmd.Context().Err() == nil {
		reportNeeds(cmd, p.lacks)
	}
	p.note()
	if err := o.shape(p); err != nil {
		return p, err
	}
	if had > 0 && p.Len() == 0 {
		report(cmd, fmt.Errorf("of %s none is what --label, --root, --include and --exclude ask for", count(had, "sample", "samples")))
	}
	return p, nil
}

// key says what a profile depends on before it is shaped.
func (o *profiling) key(args []string) string {
	return fmt.Sprint("profile ", o.of, o.naming, o.raw, o.tiers, o.scope, o.symbols, o.in.key(), stamps(args))
}

// profile reads traces in one pass: what names code is learnt from all events, samples
// are taken of those in scope.
func (o *profiling) profile(cmd *cobra.Command, args []string) (*profiled, error) {
	if err := refuseCopies(args); err != nil {
		return nil, err
	}
	h, err := o.scope.header(cmd, &o.in, args)
	if err != nil {
		return nil, err
	}
	t, trouble, err := o.in.open(cmd, args, false)
	if err != nil {
		return nil, err
	}
	files, err := o.symbols.open(cmd)
	if err != nil {
		return nil, err
	}
	kind := &samplings[slices.Index(o.ordered, o.of)]
	var mux etw.Mux
	code := o.codeMap(files)
	var finish func() gathered
	if kind.name != "cpu" || h.During == nil {
		finish = kind.start(&mux, t)
	}
	code.origins = o.origins
	p := &profiled{t: t, names: newNames(), trouble: trouble}
	i := &inquiry{cmd: cmd, mux: &mux, names: p.names, also: &code.mux}
	if kind.name == "cpu" && h.During != nil {
		processors := startProcessors(&mux, t)
		finish, i.skip = processors.gathered, processors.threads.Skip
	}
	if !kind.own {
		if i.source, err = o.in.bindStacks(cmd, t, args); err != nil {
			return nil, err
		}
	}
	if err := i.read(t, h); err != nil {
		p.trouble = cmp.Or(p.trouble, err)
	}
	g := finish()
	p.table, p.facts, p.period, p.warnings = code.code.Table(), g.facts, g.period, i.warnings(t)
	options := o.options()
	options.Native = code.native
	if o.lines != nil {
		options.Source = o.lines.source
	}
	p.Profile = stacks.NewProfile(p.table, options, g.samples...)
	reportFaults(cmd, files)
	if p.Len() == 0 {
		p.lacks = kind.needsOf(t)
	}
	return p, nil
}

// codeMap returns what learns which code there is, and of which lines if they are asked for.
func (o *profiling) codeMap(files *native.Dir) *codeMap {
	if o.lines == nil {
		return newCodeMap(files)
	}
	o.lines.open(files)
	return newCodeMap(files, symbols.ILOffsets())
}

// note says how many frames have names, and why others have none.
func (p *profiled) note() {
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
	isNet := p.Kind == cpu.ThreadTime || len(p.table.Facts()) > 0
	if n.Named+n.Native < n.Frames && isNet && !slices.ContainsFunc(p.pids, p.table.HasRundown) {
		text += "; there is no rundown in the trace, which recorders write if they are stopped cleanly and not told to leave it out"
	}
	p.warnings = append(p.warnings, text)
}

// shape leaves of the profile what the flags ask for.
func (o *profiling) shape(p *profiled) error {
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
func (p *profiled) unit() valueUnit {
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

func (u valueUnit) column(name string) column { return measured(name+u.suffix, u.digits) }
func (u valueUnit) cell(v int64) string {
	if u.per == 1 {
		return whole(v)
	}
	return exact(float64(v) / u.per)
}

// text says a value in a sentence.
func (u valueUnit) text(v int64) string {
	switch u.suffix {
	case "Ms":
		return ms(float64(v) / u.per)
	case "MB":
		return mb(float64(v) / u.per)
	}
	return whole(v)
}

// share returns a part of all in percent.
func share(v, all int64) string {
	if all == 0 {
		return ""
	}
	return exact(100 * float64(v) / float64(all))
}

// head prints what stands before a table for people.
func (p *profiled) head(out *printer) {
	if out.format != formatText || p.Len() == 0 {
		return
	}
	totals := p.Totals()
	if p.compared {
		p.headOfDiff(out)
		return
	}
	title := p.Kind + ": " + whole(totals[0])
	if name := p.Types[0].Name; name != p.Kind {
		if totals[0] == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		title += " " + name
	}
	if len(totals) > 1 {
		title += ", " + p.unit().text(totals[len(totals)-1])
	}
	fmt.Fprintln(out, string(out.paint(nil, colorBold, clean(title))))
	p.printFacts(out)
}

// printFacts prints what is to be said of the samples.
func (p *profiled) printFacts(out *printer) {
	for _, f := range p.facts {
		out.prose("", "  "+clean(f), 4)
	}
	for _, w := range p.warnings {
		out.note(w)
	}
}

// open prepares printing, and says what is printed beside the result.
func (p *profiled) open(cmd *cobra.Command, form *output) *printer {
	out := form.open(cmd, false)
	if p.before != nil {
		out.about.of(p.before, false)
	}
	out.about.of(p.t, false)
	out.about.readTo(p.trouble)
	out.about.warn(p.warnings...)
	if p.Len() > 0 {
		out.about.named(p.Naming.Percent())
		out.about.follow(cmd)
	} else {
		out.about.lack(p.lacks)
	}
	return out
}

// close ends a command: it says what was lost, and closes the trace and the output.
func (p *profiled) close(cmd *cobra.Command, out *printer, err error) error {
	if err == nil {
		err = out.Flush()
	}
	if reportLosses(cmd, p.t) {
		p.trouble = cmp.Or(p.trouble, errReported)
	}
	p.t.Close()
	return out.close(err, p.trouble)
}

// ofProcess is the name of a process with its number.
func (n *names) ofProcess(pid int64) string {
	if name := n.processes[pid]; name != "" {
		return fmt.Sprintf("%s (%d)", name, pid)
	}
	return fmt.Sprintf("process %d", pid)
}

// ofThread is the name of a thread with its number.
func (n *names) ofThread(tid int64) string {
	if name := n.threads[tid]; name != "" {
		return fmt.Sprintf("%s (%d)", name, tid)
	}
	return fmt.Sprintf("thread %d", tid)
}

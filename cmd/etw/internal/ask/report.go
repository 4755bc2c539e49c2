package ask

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// formatHTML is a format of reports alone.
const formatHTML = "html"

// garbage is how much there may be, in percent of the findings, which stay to the end: of a large trace
// a report takes two thirds of the memory, and a fiftieth more time.
const garbage = 50

// A reporting holds the flags of the command.
type reporting struct {
	path  string
	in    pick.Input
	out   show.Output
	code  frames.SymbolFiles
	scope pick.Scope
}

// NewReport returns the command that tells all that a trace has, as a page or in short.
func NewReport() *cobra.Command {
	r := new(reporting)
	cmd := &cobra.Command{
		Use:   "report [flags] TRACE...",
		Short: "Write a page of all that a trace tells, or print its findings",
		Long: `Report writes a page for the browser on the .NET programs in a trace:
findings, in words, then collections, thread time, allocations, exceptions, waits for
locks, the thread pool, compilation, requests and counters, with charts, call trees and
tables that can be zoomed, sorted and filtered, for each process. Of a machine it tells
processes, threads, switches, interrupts, disks, files, hard faults, the registry, the network,
services and images. With --format text, or another one, it prints the findings, and nothing
else: long pauses, induced collections, a thread pool that starves, failed requests, losses, a
lack of processors, drivers that kept them, disks that answered late.

The page begins with a timeline: a part of the time that is chosen there is the one that charts,
call trees and tables show then. For missing events it names the recording to make. It
is one file that needs no network and sends nothing anywhere. Several traces are read as
one, such as the files of the kernel and of a program.`,
		Example: `  etw report gc.nettrace -o report.html
  etw report --from 10ms --to 30ms cpu.nettrace -o part.html && test -s part.html
  etw report --format text gc.nettrace
  etw report --format json gc.nettrace | jq '.findings[0].text'`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              r.main,
	}
	cmd.Flags().StringVarP(&r.path, "output", "o", "", "write the page to this `file`, instead of the standard output")
	r.code.Flag(cmd)
	r.scope.Flags(cmd)
	r.scope.ThreadFlag(cmd, "only events")
	r.out.Flags(cmd)
	format := cmd.Flags().Lookup("format")
	format.DefValue, r.out.Format = formatHTML, formatHTML
	format.Usage = "write a page (html), or print the findings as `FORMAT`: text, json (one\ndocument), jsonl (an object in each line), csv or md (a table of Markdown)"
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"format": cobra.FixedCompletions(append([]string{formatHTML}, show.Formats...), cobra.ShellCompDirectiveNoFileComp)})
	r.in.Flags(cmd)
	return cmd
}

func (r *reporting) main(cmd *cobra.Command, args []string) error {
	isPage := r.out.Format == formatHTML && !r.out.JSON
	if !isPage {
		if err := r.out.Check(cmd); err != nil {
			return err
		}
		if r.path != "" {
			return cli.Usagef("--output is for a page; --format %s goes to the standard output", r.out.Format)
		}
	}
	if err := pick.RefuseCopies(args); err != nil {
		return err
	}
	debug.SetGCPercent(garbage)
	h, err := r.scope.Header(cmd, &r.in, args)
	if err != nil {
		return err
	}
	t, trouble, err := r.in.Open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	if len(args) > 1 {
		if err := pick.OneSession(t); err != nil {
			return err
		}
	}
	files, err := r.code.Open(cmd)
	if err != nil {
		return err
	}
	x := &examined{t: t}
	failed := x.read(cmd, files, h, &r.scope, isPage)
	frames.ReportFaults(cmd, files)
	if cmd.Context().Err() != nil {
		return failed
	}
	if x.none != "" {
		if err := pick.CheckMet(cmd, &r.in, args, h); err != nil {
			return err
		}
		cli.Report(cmd, errors.New(x.none))
	}
	trouble = cmp.Or(trouble, failed)
	if !isPage {
		return r.printFindings(cmd, args, x, trouble)
	}
	lossy := show.ReportLosses(cmd, t)
	page := x.page()
	page.Title = filepath.Base(args[0])
	if n := len(args) - 1; n > 0 {
		page.Title += " and " + show.Count(n, "other file", "other files")
	}
	if err := show.WritePage(cmd, r.path, args, page.Write); err != nil {
		return err
	}
	if lossy {
		trouble = cmp.Or(trouble, cli.ErrReported)
	}
	return trouble
}

// An examined is the findings of all analyses in a trace.
type examined struct {
	t        *trace.Trace
	res      *analysis.Result
	programs *pick.Programs
	sampler  *code.Sampler
	warnings []string // beyond those of the result
	none     string   // why there is nothing, or ""
	machine  *machineParts
	chosen   machine
	seen     *need.Seen
}

// read reads the trace, with a timeline if there is to be one. Code that the trace does not
// name, files may. The error is errReported if there was trouble with it; the part that
// could be read is there.
func (x *examined) read(cmd *cobra.Command, files *native.Dir, h *filter.Header, part *pick.Scope, lanes bool) error {
	end, err := cli.Pass(cmd)
	if err != nil {
		return err
	}
	defer end()
	t := x.t
	h.From.Resolve(t.Start())
	h.To.Resolve(t.Start())
	from, to := h.From.In(t.Start()), h.To.In(t.Start())
	x.programs, x.sampler = pick.NewPrograms(), code.NewSampler(t, files, from, to)
	plain := *h
	plain.Taken = nil
	src := &watched{r: pick.Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress},
		t: t, decoder: builtin.NewDecoder(), programs: x.programs, sampler: x.sampler, header: h, sieve: pick.NewSieve(&plain, false), beyond: pick.NewSieve(&plain, true), whole: pick.WholeSieve(&plain, true), seen: need.Follow(analysis.Needs)}
	x.seen = src.seen
	src.span.Bound(t.Bounds())
	x.sampler.Parted, x.sampler.Some = h.During != nil, h.Processes != nil || h.Threads != nil
	x.machine, x.chosen = newMachineParts(h, t), machine{asked: *h}
	if h.Threads != nil {
		x.warnings = append(x.warnings, "--tid: the work of others for these threads is not here, such as collections on threads of the runtime, and counters")
	}
	src.machine, x.sampler.Machine = x.machine, system.Of(x.machine.wide)
	opts := []analysis.Option{analysis.Losses(func() int64 { return t.Stats().Lost })}
	opts = append(opts, analysis.Named(x.sampler.Names), analysis.Parted(func(s *analysis.Set) { src.set = s }), analysis.Within(from, to))
	if h.Caused != nil {
		opts = append(opts, analysis.Chosen(pick.Named(h.Caused)))
	}
	if lanes && pick.OneSession(t) == nil { // or else there is no one time
		opts = append(opts, analysis.Timeline(pageBuckets, x.sampler.Gathered), analysis.Beside(x.machine.lanes()...))
	}
	x.res, err = analysis.Run(cmd.Context(), src, opts...)
	src.r.Progress.End()
	if cmd.Context().Err() != nil {
		return src.r.Interrupted()
	}
	pick.TellLacks(x.machine.wide, t, err != nil)
	sayPart(x.res.GC, &src.span, h, t)
	sayPart(x.res.Requests, &src.span, h, t)
	if err != nil {
		pick.ReportAll(cmd, err)
	}
	of := machine{Machine: system.Of(&x.machine.mux)}
	x.warnings = append(x.warnings, slices.Concat(of.doubts(), x.machine.untold(h), show.Copies(t))...)
	if cut := src.span.Cut(h, etw.FileTimeOf(t.Start())); cut.WhyNone(part) != "" {
		why := cut.WhyNone(part)
		x.none, x.warnings = why, append(x.warnings, why)
	}
	if h.From != nil || h.To != nil {
		x.warnings = append(x.warnings, code.Clipped)
	}
	if n := t.Stats().LostBuffers; n > 0 {
		x.warnings = append(x.warnings, fmt.Sprintf("%d buffers of events were lost when the trace was recorded: counts and sums are lower bounds", n))
	}
	if err != nil {
		x.warnings = append(x.warnings, "not all of the trace could be read: "+err.Error())
	}
	if err != nil || x.res.Incomplete != "" {
		return cli.ErrReported
	}
	return nil
}

// page returns it as a page has it.
func (x *examined) page() *html.Report {
	chooseLanes(x.res.Timeline, &x.chosen)
	x.programs.Names.Join()
	page := &html.Report{Result: x.res, Machine: x.machine.machine(&x.chosen), Windows: show.IsWindows(x.t), Warnings: x.warnings, Processes: make(map[int64]html.Process), Profiles: x.sampler.Profiles(x.res.Timeline, x.t.Start().UnixNano())}
	for _, f := range x.t.Files() {
		page.Facts = append(page.Facts, html.Fact{Name: "format", Text: f.Format()})
		for _, fact := range f.Facts() {
			page.Facts = append(page.Facts, html.Fact{Name: fact.Key, Text: fact.Text})
		}
	}
	if shown := x.sampler.Shown(); shown != "" {
		page.Facts = append(page.Facts, html.Fact{Name: "callTrees", Text: shown})
	}
	if page.Machine != nil {
		page.Warnings = append(slices.Clip(page.Warnings), missingSwitches(page.Machine.Switched, x.chosen.asked.Partial)...)
	}
	page.Head = headOf(page.Machine, x.t)
	for _, p := range x.programs.List() {
		page.Processes[p.PID] = html.Process{Name: x.programs.Names.Processes[p.PID], CommandLine: p.CommandLine}
	}
	return page
}

// pageBuckets is how many buckets the timeline of a page has: such that a tenth of the time
// still has some.
const pageBuckets = 2000

// pollEvery is the number of events between two looks at the clock and for an interrupt.
const pollEvery = 1024

// A watched is a source that shows how far it came, reports faults of the trace, and gives
// the records also to the analysis that learns the names of processes and takes their call
// stacks.
type watched struct {
	r        pick.Reading
	t        *trace.Trace
	decoder  *etw.Decoder
	programs *pick.Programs
	sampler  *code.Sampler
	header   *filter.Header // of what was asked for
	sieve    *pick.Sieve
	beyond   *pick.Sieve // of all times
	whole    *pick.Sieve // of all times and activities
	span     pick.TimeSpan
	machine  *machineParts
	seen     *need.Seen    // which events there are
	set      *analysis.Set // takes the records that were not asked for
}

func (w *watched) Next(rec *etw.Record) error {
	for {
		if w.r.Events%pollEvery == 0 {
			if err := w.r.Cmd.Context().Err(); err != nil {
				return err
			}
			w.r.ShowProgress()
		}
		err := w.t.Next(rec)
		if err != nil {
			if errors.Is(err, etw.ErrIncomplete) {
				w.r.Progress.End()
				pick.ReportAll(w.r.Cmd, err)
			}
			return err
		}
		w.r.Events++
		w.seen.See(rec)
		e := w.decoder.Event(rec)
		w.programs.Learn(w.decoder, rec, e)
		h := w.header
		w.span.See(rec, w.t.Elapsed(rec), h, h.Processes)
		if err := w.machine.take(rec, e, w.t); err != nil {
			return err
		}
		counts := w.beyond.Takes(rec, e, w.t.Elapsed(rec))
		if err := errors.Join(w.sampler.Take(rec, counts), w.set.Wide(rec, counts)); err != nil {
			return err
		}
		if w.whole.Takes(rec, e, w.t.Elapsed(rec)) {
			if err := w.set.Whole(rec); err != nil {
				return err
			}
		}
		if w.sieve.Takes(rec, e, w.t.Elapsed(rec)) {
			return nil
		}
		if err := w.set.Skip(rec); err != nil {
			return err
		}
	}
}

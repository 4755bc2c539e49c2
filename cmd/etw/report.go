package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// formatHTML is a format of reports alone.
const formatHTML = "html"

// A reporting holds the flags of the command.
type reporting struct {
	path  string
	in    input
	out   output
	code  symbolFiles
	scope scope
}

// newReport returns the command that tells all that a trace has, as a page or in short.
func newReport() *cobra.Command {
	r := new(reporting)
	cmd := &cobra.Command{
		Use:   "report [flags] TRACE",
		Short: "Write a page of all that a .NET trace tells, or say what stands out",
		Long: `Report writes a page for the browser of what a trace tells of .NET programs: what
stands out, in words, then collections, thread time, allocations, exceptions, waits for
locks, the thread pool, compilation, requests and counters, with charts, call trees and
tables that can be zoomed, sorted and filtered, for each process. With --format text,
or another one, it prints what stands out, and nothing else: long pauses, induced
collections, a thread pool that starves, failed requests, losses.

The page begins with a timeline: a part of the time that is chosen there is what charts,
call trees and tables show then. For what is not in the trace it says what to record. It
is one file that needs no network and sends nothing anywhere.`,
		Example: `  etw report gc.nettrace -o report.html
  etw report --from 10ms --to 30ms cpu.nettrace -o part.html && test -s part.html
  etw report --format text gc.nettrace
  etw report --format json gc.nettrace | jq '.findings[0].text'`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeTraces,
		RunE:              r.main,
	}
	cmd.Flags().StringVarP(&r.path, "output", "o", "", "write the page to this `file`, instead of the standard output")
	r.code.flag(cmd)
	r.scope.flags(cmd)
	r.out.flags(cmd)
	format := cmd.Flags().Lookup("format")
	format.DefValue, r.out.format = formatHTML, formatHTML
	format.Usage = "write a page (html), or print what stands out as `FORMAT`: text, json (one\ndocument), jsonl (an object in each line), csv or md (a table of Markdown)"
	completions(cmd, map[string]cobra.CompletionFunc{"format": cobra.FixedCompletions(append([]string{formatHTML}, formats...), cobra.ShellCompDirectiveNoFileComp)})
	r.in.flags(cmd)
	return cmd
}

func (r *reporting) main(cmd *cobra.Command, args []string) error {
	isPage := r.out.format == formatHTML && !r.out.json
	if !isPage {
		if err := r.out.check(cmd); err != nil {
			return err
		}
		if r.path != "" {
			return usagef("--output is for a page; --format %s goes to the standard output", r.out.format)
		}
	}
	h, err := r.scope.header(cmd, &r.in, args)
	if err != nil {
		return err
	}
	t, trouble, err := r.in.open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := r.code.open(cmd)
	if err != nil {
		return err
	}
	x := &examined{t: t}
	failed := x.read(cmd, files, h, &r.scope, isPage)
	reportFaults(cmd, files)
	if cmd.Context().Err() != nil {
		return failed
	}
	trouble = cmp.Or(trouble, failed)
	if !isPage {
		return r.printFindings(cmd, args[0], x, trouble)
	}
	lossy := reportLosses(cmd, t)
	page := x.page()
	page.Title = filepath.Base(args[0])
	if err := writePage(cmd, r.path, args, page.Write); err != nil {
		return err
	}
	if lossy {
		trouble = cmp.Or(trouble, errReported)
	}
	return trouble
}

// An examined is what all analyses found in a trace.
type examined struct {
	t        *trace.Trace
	res      *analysis.Result
	programs *programs
	sampler  *sampler
	warnings []string // beyond those of the result
}

// read reads the trace, with a timeline if there is to be one. Code that the trace does not
// name, files may. The error is errReported if there was trouble with it; what could be
// read is there.
func (x *examined) read(cmd *cobra.Command, files *native.Dir, h *filter.Header, part *scope, lanes bool) error {
	t := x.t
	x.programs, x.sampler = newPrograms(), newSampler(t, files)
	src := &watched{r: reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), nil), share: t.Progress},
		t: t, decoder: builtin.NewDecoder(), programs: x.programs, sampler: x.sampler, header: h}
	x.sampler.parted = h.During != nil
	h.From.Resolve(t.Start())
	h.To.Resolve(t.Start())
	opts := []analysis.Option{analysis.Losses(func() int64 { return t.Stats().Lost })}
	if lanes && oneSession(t) == nil { // or else there is no one time
		opts = append(opts, analysis.Timeline(pageBuckets, x.sampler.gathered))
	}
	var err error
	x.res, err = analysis.Run(cmd.Context(), src, opts...)
	src.r.progress.end()
	if cmd.Context().Err() != nil {
		return src.r.interrupted()
	}
	if err != nil {
		reportAll(cmd, err)
	}
	if why := src.span.whyNone(part); why != "" {
		report(cmd, errors.New(why))
		x.warnings = append(x.warnings, why)
	}
	if n := t.Stats().LostBuffers; n > 0 {
		x.warnings = append(x.warnings, fmt.Sprintf("%d buffers of events were lost when the trace was recorded: counts and sums are lower bounds", n))
	}
	if err != nil {
		x.warnings = append(x.warnings, "not all of the trace could be read: "+err.Error())
	}
	if err != nil || x.res.Incomplete != "" {
		return errReported
	}
	return nil
}

// page returns it as a page has it.
func (x *examined) page() *html.Report {
	page := &html.Report{Result: x.res, Warnings: x.warnings, Processes: make(map[int64]html.Process), Profiles: x.sampler.profiles(x.res.Timeline, x.t.Start().UnixNano())}
	for _, f := range x.t.Files() {
		page.Facts = append(page.Facts, html.Fact{Name: "format", Text: f.Format()})
		for _, fact := range f.Facts() {
			page.Facts = append(page.Facts, html.Fact{Name: fact.Key, Text: fact.Text})
		}
	}
	for _, p := range x.programs.list() {
		page.Processes[p.PID] = html.Process{Name: p.Name, CommandLine: p.CommandLine}
	}
	return page
}

// pageBuckets is how many buckets the timeline of a page has: such that a tenth of the time
// still has some.
const pageBuckets = 2000

// A watched is a source that shows how far it came, reports what is wrong with the
// trace, and gives the records also to what learns the names of processes and takes
// their call stacks.
type watched struct {
	r        reading
	t        *trace.Trace
	decoder  *etw.Decoder
	programs *programs
	sampler  *sampler
	header   *filter.Header // of what was asked for
	span     timeSpan
}

func (w *watched) Next(rec *etw.Record) error {
	for {
		if w.r.events%pollEvery == 0 {
			if err := w.r.cmd.Context().Err(); err != nil {
				return err
			}
			w.r.progress.show(w.r.events, w.r.share())
		}
		err := w.t.Next(rec)
		if err != nil {
			if errors.Is(err, etw.ErrIncomplete) {
				w.r.progress.end()
				reportAll(w.r.cmd, err)
			}
			return err
		}
		w.r.events++
		e := w.decoder.Event(rec)
		w.programs.learn(w.decoder, rec, e)
		h := w.header
		w.span.see(rec, w.t.Elapsed(rec), h, h.Processes)
		wanted := h.Judge(rec, e, w.t.Elapsed(rec)) == filter.Take
		if err := w.sampler.take(rec, wanted); err != nil {
			return err
		}
		if wanted || namesThings(rec) && h.Processes.Has(rec.ProcessID) {
			return nil
		}
	}
}

// isFile reports whether a path leads to a file.
func isFile(file os.FileInfo, path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(file, info)
}

// writePage writes to a file, all of it or none, or to the standard output. The traces
// that it is made of are not overwritten.
func writePage(cmd *cobra.Command, path string, inputs []string, write func(w io.Writer) error) error {
	if path == "" || path == "-" {
		w := bufio.NewWriter(cmd.OutOrStdout())
		return cmp.Or(write(w), w.Flush())
	}
	info, err := os.Stat(path)
	if err == nil && slices.ContainsFunc(inputs, func(in string) bool { return isFile(info, in) }) {
		return usagef("--output %s: that is the trace itself", path)
	}
	if err == nil && !info.Mode().IsRegular() { // a device, or a pipe
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return cmp.Or(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer os.Remove(f.Name())
	if err := cmp.Or(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// written returns what became of a page that was written of traces: whoever reads it may
// have had enough, and losses are trouble.
func written(cmd *cobra.Command, t *trace.Trace, err, trouble error) error {
	if isBrokenPipe(err) {
		err = nil
	}
	if reportLosses(cmd, t) {
		trouble = cmp.Or(trouble, errReported)
	}
	return cmp.Or(err, trouble)
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// newReport returns the command that writes a page of what a trace has.
func newReport() *cobra.Command {
	var in input
	var path string
	var code symbolFiles
	var part scope
	cmd := &cobra.Command{
		Use:   "report [flags] TRACE",
		Short: "Write a page of all that a .NET trace tells",
		Long: `Report writes a page for the browser of what a trace tells of .NET programs: what
stands out, in words, then collections, thread time, allocations, exceptions, waits for
locks, the thread pool, compilation, requests and counters, with charts, call trees and
tables that can be zoomed, sorted and filtered, for each process. It begins with a timeline:
a part of the time that is chosen there is what charts, call trees and tables show then.
For what is not in the trace it says what to record.

The page is one file that needs no network and sends nothing anywhere.`,
		Example: `  etw report gc.nettrace -o report.html
  etw report --from 10ms --to 30ms cpu.nettrace -o part.html && test -s part.html
  etw report alloc.nettrace > allocations.html`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := part.header(cmd, &in, args)
			if err != nil {
				return err
			}
			t, trouble, err := in.open(cmd, args, false)
			if err != nil {
				return err
			}
			defer t.Close()
			files, err := code.open(cmd)
			if err != nil {
				return err
			}
			page, failed := analyse(cmd, t, files, h, &part)
			reportFaults(cmd, files)
			if cmd.Context().Err() != nil {
				return failed
			}
			page.Title = filepath.Base(args[0])
			lossy := reportLosses(cmd, t)
			if err := writePage(cmd, path, args, page.Write); err != nil {
				return err
			}
			if lossy {
				failed = cmp.Or(failed, errReported)
			}
			return cmp.Or(trouble, failed)
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "write the page to this `file`, instead of the standard output")
	code.flag(cmd)
	part.flags(cmd)
	in.flags(cmd)
	return cmd
}

// analyse reads a trace for a report. Code that it does not name, files may. The error is errReported if there was
// trouble with it; the report has what could be read.
func analyse(cmd *cobra.Command, t *trace.Trace, files *native.Dir, h *filter.Header, part *scope) (*html.Report, error) {
	src := &watched{r: reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), nil), share: t.Progress},
		t: t, decoder: builtin.NewDecoder(), programs: newPrograms(), sampler: newSampler(t, files), header: h}
	src.sampler.parted = h.During != nil
	h.From.Resolve(t.Start())
	h.To.Resolve(t.Start())
	opts := []analysis.Option{analysis.Losses(func() int64 { return t.Stats().Lost })}
	if oneSession(t) == nil { // or else there is no one time
		opts = append(opts, analysis.Timeline(pageBuckets, src.sampler.gathered))
	}
	res, err := analysis.Run(cmd.Context(), src, opts...)
	src.r.progress.end()
	if cmd.Context().Err() != nil {
		return nil, src.r.interrupted()
	}
	var failed error
	if err != nil || res.Incomplete != "" {
		failed = errReported
	}
	if err != nil {
		reportAll(cmd, err)
	}
	page := &html.Report{Result: res, Processes: make(map[int64]html.Process), Profiles: src.sampler.profiles(res.Timeline, t.Start().UnixNano())}
	if why := src.span.whyNone(part); why != "" {
		report(cmd, errors.New(why))
		page.Warnings = append(page.Warnings, why)
	}
	for _, f := range t.Files() {
		page.Facts = append(page.Facts, html.Fact{Name: "format", Text: f.Format()})
		for _, fact := range f.Facts() {
			page.Facts = append(page.Facts, html.Fact{Name: fact.Key, Text: fact.Text})
		}
	}
	if n := t.Stats().LostBuffers; n > 0 {
		page.Warnings = append(page.Warnings, fmt.Sprintf("%d buffers of events were lost when the trace was recorded: counts and sums are lower bounds", n))
	}
	if err != nil {
		page.Warnings = append(page.Warnings, "not all of the trace could be read: "+err.Error())
	}
	for _, p := range src.programs.list() {
		page.Processes[p.PID] = html.Process{Name: p.Name, CommandLine: p.CommandLine}
	}
	return page, failed
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

package code

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/chrometrace"
	"github.com/etwgen/etwgen/export/firefox"
)

// WriteFirefox reads traces, or a profile of another tool, and writes the samples of threads,
// and of traces other events and counters.
func (o *Profiling) WriteFirefox(cmd *cobra.Command, args []string, path string) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.In.Profiles = true
	c, err := o.chronicle(cmd, args)
	if err != nil {
		return err
	}
	defer c.T.Close()
	if cmd.Context().Err() != nil {
		return c.trouble
	}
	if err := o.Shape(c.Profiled); err != nil {
		return err
	}
	o.LeaveMachinery(c.Profiled)
	doc := &firefox.Profile{Product: filepath.Base(args[0]), Samples: c.Profile, Interval: c.Period, Process: c.Names.OfProcess, Thread: c.Names.OfThread}
	if c.given {
		doc.Start, _ = c.Times()
	} else {
		doc.Start, doc.Happened = c.T.Start().UnixNano(), c.l.uncaused(cmd)
		for _, list := range [][]*stacks.Samples{c.l.contention.Samples(), c.l.waits.Samples(), c.l.exceptions.Samples(), c.l.alloc.Samples()} {
			if len(list) > 0 {
				doc.Caused = append(doc.Caused, c.name(list...))
			}
		}
	}
	if o.threads.given() {
		if err := o.onlyThreadsOf(doc, c); err != nil {
			return cmp.Or(c.trouble, err)
		}
	}
	if doc.IsEmpty() {
		if c.kind != nil {
			show.ReportNeeds(cmd, needsOf(c.kind, c.T), c.T)
		}
		return cmp.Or(c.trouble, errNothing)
	}
	err = show.WritePage(cmd, path, args, doc.Write)
	return show.Written(cmd, c.T, err, c.trouble)
}

// onlyThreadsOf leaves events of the threads that were asked for, which the samples are
// already.
func (o *Profiling) onlyThreadsOf(doc *firefox.Profile, c *chronicled) error {
	has, err := o.threads.chosen(c.Names)
	if err != nil {
		return err
	}
	for i, p := range doc.Caused {
		doc.Caused[i] = p.Only(func(s stacks.Sample) bool { return has(s.Thread) })
	}
	if doc.Happened == nil {
		doc.Happened = new(chrometrace.Trace)
	}
	if !onlyThreads(doc.Happened, has) && doc.IsEmpty() {
		return errNoThread
	}
	return nil
}

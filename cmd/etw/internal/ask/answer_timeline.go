package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// NewTimelineCommand returns the command that shows the course of events.
func NewTimelineCommand() *cobra.Command {
	o := new(timelineFlags)
	q := &Question{
		name: "timeline", naming: true,
		short: "Show the course of events: processors, collections, allocations, requests and the rest side by side",
		Long: `Timeline parts the time of a trace into equal buckets, and shows in a row for each thing
how much of it there was in each of them: time on processors, pauses and the size of the
heap, allocations, exceptions, compilation, waits, workers of the thread pool, requests,
disks and counters, for each process. Each row has its own scale, from nothing to the
highest of its buckets. Look closer with --from and --to.

Sums are the same as in the table of the command for it, however the time is
parted: an interval is parted among its buckets. With --from and --to, of intervals that began
before or end later the part counts that lies in the time. A heap, the workers and counters
that go up and down keep their level until an event tells another, values from before
--from too; of counters that measure, it is the mean.

With --by thread the time on processors is shown for each thread, not for each process, and
with --tid for some threads, and nothing else, since other rows are of processes. Text
and Markdown have a line of bars for each row, CSV and lines of JSON a row for each bucket.`,
		example: `  etw timeline gc.nettrace
  etw timeline --lanes gcPause,heap,allocated --buckets 40 gc.nettrace
  etw timeline --from 10ms --to 30ms cpu.nettrace
  etw timeline --by thread --lanes managed cpu.nettrace
  etw timeline --lanes gcPause --buckets 10 --format csv gc.nettrace
  etw timeline --format json gc.nettrace | jq '.lanes[] | [.kind, .highest]'`,
		next: []show.Suggestion{
			show.Next("etw gc", "the pauses for collections"),
			show.Next("etw top", "on which code the time went"),
			show.Next("etw requests", "which requests there were"),
		},
		views:    []string{"process", byThread},
		threaded: "only time on processors,",
		Needs:    timeline.Needs,
		whole:    true,
		flat:     true,
		rooted:   true,
	}
	q.ask = func(mux *etw.Mux) answer { return newTimelineAnswer(mux, o, q) }
	cmd := q.Command()
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		q.Needs, q.missing = timeline.Needs, ""
		if q.scope.Threads() != nil || ofThreads(args) {
			if cmd.Flags().Changed("by") && q.by != byThread {
				return cli.Usagef("--by %[1]s: lanes by %[1]s are not of threads, of which some are chosen by --tid or by a part; leave --by out", q.by)
			}
			q.by = byThread
		}
		if len(o.kinds) > 0 {
			q.Needs = timeline.NeedsOf(o.kinds)
		}
		if q.root != "" {
			q.missing = fmt.Sprintf("no event of these lanes has a call stack with a method that --root %s asks for", q.root)
		}
		return q.main(cmd, args)
	}
	return cmd
}

// ofThreads reports whether traces are a part of another by threads.
func ofThreads(paths []string) bool {
	if slices.Contains(paths, trace.Stdin) {
		return false
	}
	p, _, _ := trace.PartOf(paths)
	return p != nil && p.Threads != ""
}

// byThread is the view of lanes of threads.
const byThread = "thread"

// timelineFlags are those that the command has alone.
type timelineFlags struct {
	buckets int
	lanes   []string
	kinds   []timeline.Kind
}

// The numbers of buckets: where nobody says how many, and of a line of text.
const (
	usualBuckets = 100
	leastBuckets = 10
	mostBuckets  = 10000
)

func (o *timelineFlags) flags(cmd *cobra.Command) {
	names := each.Of(timeline.Kinds, func(k timeline.Kind) string { return string(k) })
	f := cmd.Flags()
	f.IntVar(&o.buckets, "buckets", 0, fmt.Sprintf("part the time into `N` buckets; %d if it is left out, and in text as many as\na line has room for", usualBuckets))
	f.StringSliceVar(&o.lanes, "lanes", nil, "only rows of these `KINDS`, or as text calls them: "+foldHelp(strings.Join(names, ", ")))
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"buckets": cobra.NoFileCompletions,
		"lanes":   cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
	})
}

// foldHelp breaks a list that is too long for a line of help.
func foldHelp(list string) string {
	const room = 72
	var b strings.Builder
	line := 24
	for i, word := range strings.SplitAfter(list, " ") {
		if line+len(word) > room && i > 0 {
			b.WriteByte('\n')
			line = 0
		}
		line += len(word)
		b.WriteString(word)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func (o *timelineFlags) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("buckets") && (o.buckets < 1 || o.buckets > mostBuckets) {
		return cli.Usagef("--buckets %d: it is a number from 1 to %d", o.buckets, mostBuckets)
	}
	o.kinds = nil
	names := each.Of(timeline.Kinds, func(k timeline.Kind) string { return string(k) })
	for _, name := range o.lanes {
		i := slices.IndexFunc(timeline.Kinds, func(k timeline.Kind) bool {
			name := strings.TrimSpace(name)
			return strings.EqualFold(string(k), name) || strings.EqualFold(laneNames[k], name)
		})
		if i < 0 {
			return cli.Usagef("--lanes %s: there are %s%s", name, strings.Join(names, ", "), cli.DidYouMean(name, names))
		}
		o.kinds = append(o.kinds, timeline.Kinds[i])
	}
	return nil
}

// A timelineAnswer is the course of events.
type timelineAnswer struct {
	machine
	*timelineFlags
	q         *Question
	analysis  *timeline.Analysis
	sampled   *samples.Processors
	found     []*stacks.Samples // of it, which lanes of other buckets need again
	where     placement
	forPeople bool
	narrow    bool // when the highest value was has no room
	names     int  // how wide names may be, 0 if that does not matter
	res       *timeline.Result
	wholeMux  etw.Mux            // of requests
	requests  *requests.Analysis // that are asked for by --activity, with the records of all
}

func newTimelineAnswer(mux *etw.Mux, o *timelineFlags, q *Question) *timelineAnswer {
	a := &timelineAnswer{machine: newMachine(mux), timelineFlags: o, q: q}
	a.sampled = samples.NewProcessors(mux)
	p := timeline.Parts{Analyses: timeline.All(mux, &a.wholeMux), Samples: func() []*stacks.Samples {
		if a.found == nil {
			a.found = code.Gather(a.sampled).Samples
		}
		return a.found
	}}
	for _, x := range p.Analyses {
		if x, ok := x.(*requests.Analysis); ok {
			a.requests = x
		}
	}
	if m := q.named; m != nil {
		p.Named = func(s *stacks.Samples) *stacks.Profile { return m.Below("", s) }
	}
	if q.root != "" {
		p.Within = func(s *stacks.Samples) *stacks.Profile { return q.named.Below(q.root, s) }
	}
	a.analysis = timeline.New(p)
	return a
}

func (a *timelineAnswer) samplesEach(ns int64) { a.sampled.SetInterval(ns) }

func (a *timelineAnswer) whole() *etw.Mux { return &a.wholeMux }

func (a *timelineAnswer) choosing() func([]filter.Glob) {
	return func(names []filter.Glob) { a.requests.Choose(pick.Named(names)) }
}

func (a *timelineAnswer) skip(r *etw.Record) { a.sampled.Threads.Skip(r) }

// place says where in time the traces are.
func (a *timelineAnswer) place(p placement) { a.where = p }

func (a *timelineAnswer) take() bool {
	a.found = nil
	a.draw(cmp.Or(a.buckets, usualBuckets))
	return len(a.res.Lanes) > 0
}

// draw makes the lanes anew, of so many buckets.
func (a *timelineAnswer) draw(buckets int) {
	a.res = a.analysis.Result(timeline.Options{Origin: a.where.origin, From: a.where.from, To: a.where.to, Buckets: buckets,
		Threads: a.q.by == byThread, Cut: a.where.cut})
	a.res.Lanes = order.Delete(a.res.Lanes, func(l *timeline.Lane) bool {
		return !a.hasLane(l) || len(a.kinds) > 0 && !slices.Contains(a.kinds, l.Kind)
	})
}

func (a *timelineAnswer) result() any { return a.res }

func (a *timelineAnswer) warnings() []string { return append(a.doubts(), a.res.Warnings()...) }

// fit makes as many buckets as a line has room for.
func (a *timelineAnswer) fit(p *show.Printer, who *pick.Names) {
	a.forPeople = p.Format == show.FormatText || p.Format == show.FormatMD
	if p.Format != show.FormatText {
		return
	}
	width := cmp.Or(p.Width, widthWithout)
	a.narrow = width < narrowWidth
	a.names = max(width/4, 16)
	if a.buckets > 0 {
		return
	}
	buckets := usualBuckets
	for try := range 4 { // what stands before the bars depends on what is in the buckets
		a.draw(buckets)
		t, room := a.table("", who), width
		t.Shown(func(c show.Column) bool { return !c.Data && c.Name != "bars" })
		for _, w := range t.Fit(t.Lines(), 0) {
			room -= w + 2
		}
		if room = min(max(room, leastBuckets), mostBars); room == buckets {
			return
		}
		if try > 1 { // it goes back and forth
			room = min(room, buckets) - 1
		}
		buckets = room
	}
	a.draw(buckets)
}

const (
	widthWithout = 132 // of text that is not for a terminal
	narrowWidth  = 100 // from which on there is room for all columns
	mostBars     = 150
)

func (a *timelineAnswer) totals(p *page) {
	p.title(fmt.Sprintf("%s to %s, in buckets of %s", show.MS(a.res.FromMS), show.MS(a.res.ToMS), show.MS(a.res.BucketMS)))
}

// A placement is where in time traces are, and which part of it was asked for.
type placement struct {
	origin   int64 // when the session began, in nanoseconds since 1970
	from, to time.Duration
	cut      bool // a part was asked for
}

// placementOf returns where the trace is, and which part of it was asked for.
func placementOf(i *pick.Inquiry, t *trace.Trace, h *filter.Header) placement {
	p := placement{origin: t.Start().UnixNano(), from: i.Span.First, to: i.Span.Last}
	start := etw.FileTimeOf(t.Start())
	if p.cut = i.Cut; p.cut {
		p.to++ // the last record is in it
	}
	if h.From != nil {
		p.from = h.From.Since(start)
	}
	if h.To != nil {
		p.to = h.To.Since(start)
	}
	return p
}

package ship

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/parts"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
	"github.com/etwgen/etwgen/trace/rewrite"
)

// NewFilter returns the command that writes some events of traces as a trace.
func NewFilter() *cobra.Command {
	f := new(filtering)
	cmd := &cobra.Command{
		Use:   "filter [flags] FILE... -o FILE",
		Short: "Write some events of traces to another trace",
		Long: `Filter writes a trace of the events that the filters choose, or without one of all.
Header, payload and call stack of an event stay as they are. Several traces become
one, in the order of time; records in two of them are written once.

Records that the rest needs are kept whatever the filters say: those that describe
events, which processes, threads and images there were, and the runtime's list of
its methods at the end of a recording; with a filter by process that of these processes.
--no-rundown leaves it out. Call stacks need it, too: in an .etl file the events
that carry the stacks of the chosen ones, and the addresses that their keys stand for,
and in every trace which methods were compiled and loaded, and when.
--keep-stacks=false leaves that out. With --activity, --during and --tid all samples of threads
stay, and stops for collections, with the first two also events of tasks, the pool and waits.
A part by time, process, thread or activity says so itself: answers are as of the whole.

The format stays: .etl or .nettrace, which other formats become. Traces of several
processes become .nettrace version 6. An .etl can be written to a .nettrace file, which
has room for events of manifests and of programs that describe themselves, without
their task, channel and extended items, but not for those of the kernel or of programs
with other pointers than the machine: those are left out and counted.

--redact takes names of fields, FIELD or STRUCT.MEMBER, in events of any kind and at any
depth, and of texts beside them (in the header of an .etl file, keys and threads of
.nettrace 6, UserSID and ContainerID), and replaces their values: text by as many
letters of a hash, the same for the same text and --redact-key; the rest by zeros.
Short text can be guessed from its hash by who knows the key: use one of your own
and throw it away, or --redact-as blank.

Of a damaged trace all that is good is written; exit code 1 and a message tell the loss.`,
		Example: `  etw filter gc.nettrace -e GCStart -e GCEnd -o some.nettrace && etw stat some.nettrace
  etw filter jit.nettrace --from 1ms --to 31ms -o part.nettrace
  etw filter gc.nettrace jit.nettrace -o both.nettrace
  etw filter exceptions.nettrace --redact ExceptionMessage,CommandLine -o clean.nettrace`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              f.main,
	}
	f.flags(cmd)
	return cmd
}

// A filtering is one run of the command.
type filtering struct {
	in         pick.Input
	sel        pick.Selection
	path       string
	redactions []string
	redactAs   string
	redactKey  string
	keepStacks bool
	noRundown  bool
	compress   bool

	cmd       *cobra.Command
	t         *trace.Trace
	selector  *pick.Selector
	keeper    rewrite.Keeper
	beside    func(*etw.Record) bool // of --activity and --tid, reports which records of others tell where time went
	whole     filter.Header          // the choice but for the times and threads of that
	untimed   filter.Header          // the filter without its times
	wholeTime filter.Header          // and whole without them
	redactor  *rewrite.Redactor      // nil if there is nothing to redact
	out       *rewrite.Writer
	all       bool // there is no filter
	begun     bool // there was a record
	cut       bool // no records stay that tell the state at the ends of a time
	part      *trace.Part
	times     etw.Mux      // of all records
	interval  func() int64 // of the samples of the kernel, by times

	chosen, kept, undescribed int64
}

func (f *filtering) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.path, "output", "o", "", "write to this `file`; - is the standard output")
	flags.StringSliceVar(&f.redactions, "redact", nil, "replace the values of the fields of these `NAMES`; repeatable")
	flags.StringVar(&f.redactAs, "redact-as", "hash", "replace text by letters of a `hash`, or blank: by *")
	flags.StringVar(&f.redactKey, "redact-key", "", "make hashes with this `TEXT`")
	flags.BoolVar(&f.keepStacks, "keep-stacks", true, "keep the records that call stacks of the chosen events need")
	flags.BoolVar(&f.noRundown, "no-rundown", false, "keep nothing that the filters do not choose, but descriptions of events")
	flags.BoolVar(&f.compress, "compress", false, "compress an .etl file, as Windows does")
	f.sel.Flags(cmd)
	f.in.ManifestFlag(cmd)
	f.in.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"redact":    pick.CompleteFields,
		"redact-as": cobra.FixedCompletions([]string{redactHash, redactBlank}, cobra.ShellCompDirectiveNoFileComp),
	})
}

// How text is redacted.
const (
	redactHash  = "hash"
	redactBlank = "blank"
)

// checkFlags checks that the flags make sense together.
func (f *filtering) checkFlags() error {
	if f.path == "" {
		return cli.Usagef("--output FILE is missing")
	}
	if f.redactAs != redactHash && f.redactAs != redactBlank {
		return cli.Usagef("--redact-as %s: there are %s and %s%s", f.redactAs, redactHash, redactBlank, cli.DidYouMean(f.redactAs, []string{redactHash, redactBlank}))
	}
	end := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.path)), ".")
	if slices.Contains(trace.Extensions(), end) && !slices.Contains(rewrite.Extensions, end) {
		return cli.Usagef("-o %s: filter writes .etl and .nettrace, which other formats become", f.path)
	}
	if len(f.redactions) > 0 {
		return nil
	}
	for _, name := range []string{"redact-key", "redact-as"} {
		if f.cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is for --redact NAMES, which is missing", name)
		}
	}
	return nil
}

// main runs the command.
func (f *filtering) main(cmd *cobra.Command, args []string) error {
	f.cmd = cmd
	if err := f.checkFlags(); err != nil {
		return err
	}
	var err error
	if f.selector, err = f.sel.Of(cmd, &f.in, args); err != nil {
		return err
	}
	f.selector.Decoding = false
	if len(f.redactions) > 0 {
		f.redactor = rewrite.NewRedactor(f.selector.Decoder, rewrite.Redaction{Fields: f.redactions, Key: f.redactKey, Blank: f.redactAs == redactBlank})
	}
	f.all = !f.selector.Given && f.redactor == nil
	f.in.HeadersOnly = f.all
	f.in.More = append(f.in.More, trace.WithRepeated())
	t, trouble, err := f.in.Open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	f.t = t
	f.selector.Resolve(t)
	f.keeper = rewrite.Keeper{Stacks: f.keepStacks, NoRundown: f.noRundown, Process: f.selector.Header.Processes.Has, Others: f.ofSome() && !f.noRundown}
	if h := &f.selector.Header; f.keeper.Others {
		f.keeper.Born = func(pid, tid int64) bool { return h.Processes.Has(pid) && h.Threads.Has(tid) }
	}
	f.lookBeside()
	if err := f.lookAround(args); err != nil {
		return err
	}
	var read error
	err = show.WritePage(cmd, f.path, args, func(w io.Writer) error {
		read, err = f.writeTo(w)
		return err
	})
	if err != nil {
		return err
	}
	return cmp.Or(f.conclude(), read, trouble)
}

// lookAround finds the records before the part of the time that was asked for which tell the state
// when it began. That takes a pass of its own.
func (f *filtering) lookAround(args []string) error {
	h := &f.selector.Header
	timed := h.From != nil || h.To != nil
	f.cut = timed && (f.noRundown || h.From != nil && slices.Contains(args, trace.Stdin))
	if !timed || f.noRundown || len(f.selector.Wheres) > 0 {
		return nil
	}
	f.untimed = *h
	f.untimed.From, f.untimed.To = nil, nil
	f.wholeTime = f.whole
	f.wholeTime.From, f.wholeTime.To = nil, nil
	t := f.t
	edges := &rewrite.Edges{Others: f.keeper.Others, Flows: activities.Tells(), Turn: requests.Turns(), Place: func(r *etw.Record) int { return h.Place(r, t.Elapsed(r)) }}
	f.keeper.Edges = edges
	if h.From == nil || slices.Contains(args, trace.Stdin) {
		return nil
	}
	first, _, err := f.in.Open(f.cmd, args, false)
	if err != nil {
		return err
	}
	defer first.Close()
	return pick.Once(f.cmd, first, func(r *etw.Record) error {
		if edges.Look(r, f.passes(r)) {
			return nil
		}
		return pick.ErrStop
	})
}

// ofSome reports whether some processes and threads are chosen, of which all events are.
func (f *filtering) ofSome() bool {
	h := &f.selector.Header
	return (h.Processes != nil || h.Threads != nil) && f.ofAllEvents()
}

// ofAllEvents reports whether none are left out by what they are.
func (f *filtering) ofAllEvents() bool {
	h := f.selector.Header
	h.From, h.To, h.Processes, h.Threads, h.Lives, h.During = nil, nil, nil, nil, nil, nil
	return h.All() && len(f.selector.Wheres) == 0
}

// passes reports whether nothing but the time is against a record, or it would tell of others.
func (f *filtering) passes(r *etw.Record) bool {
	return f.untimed.Judge(r, f.selector.Decoder.Event(r), f.t.Elapsed(r)) == filter.Take || f.tells(r, &f.wholeTime)
}

// tells reports whether a record of others tells where the time of a choice went.
func (f *filtering) tells(r *etw.Record, of *filter.Header) bool {
	return f.beside != nil && f.beside(r) && of.Judge(r, f.selector.Decoder.Event(r), f.t.Elapsed(r)) == filter.Take
}

// needs reports whether a record stays that was not chosen.
func (f *filtering) needs(r *etw.Record) bool {
	if !f.noRundown && isMark(r) {
		return true
	}
	if f.tells(r, &f.whole) {
		f.keeper.Chose(r)
		return true
	}
	if f.keeper.Edges != nil && f.passes(r) {
		return f.keeper.NeedsBeyond(r)
	}
	return f.keeper.Needs(r)
}

// lookBeside has records of other threads stay that tell where the time of the chosen ones went.
func (f *filtering) lookBeside() {
	h := &f.selector.Header
	if h.During == nil && h.Threads == nil || f.noRundown && h.During == nil {
		return
	}
	f.whole = *h
	f.whole.During, f.whole.Taken, f.whole.Threads = nil, nil, nil
	tells := rewrite.OfCollections
	if h.During != nil {
		tells = activities.Tells()
	}
	f.beside = func(r *etw.Record) bool { return tells(r) || isSample(r) }
}

// isMark reports whether a record is a mark of a machine: all of them tell the regions of --during.
func isMark(r *etw.Record) bool {
	d := (*kernel.PerfInfoMarkV0)(nil).EventDesc()
	return r.Kind == etw.KindClassic && r.Provider == d.Class && r.Opcode == d.Opcode
}

// isSample reports whether a record is a sample of a thread: those of all threads together tell when
// the sampler looked at them, and each stands for the time up to the next of these.
func isSample(r *etw.Record) bool { return r.ProviderName == "Microsoft-DotNETCore-SampleProfiler" }

// writeTo writes the trace. It returns the faults of the input, and the error that keeps the
// output from being written.
func (f *filtering) writeTo(w io.Writer) (trouble, err error) {
	if f.part, err = f.chosenPart(); err != nil {
		return nil, err
	}
	f.out, err = rewrite.NewWriter(w, f.t, rewrite.Options{Nettrace: strings.HasSuffix(strings.ToLower(f.path), ".nettrace"), Compress: f.compress, Redactor: f.redactor,
		Wakers: f.bounded(), Part: f.part})
	if errors.Is(err, rewrite.ErrCompress) {
		err = cli.Usagef("--compress is for .etl files, and %s is to be a .nettrace", f.path)
	}
	if err != nil {
		return nil, err
	}
	f.interval = cpu.MeasureInterval(&f.times)
	trouble, ended := f.run()
	if !ended {
		return trouble, trouble
	}
	if err := f.selector.ReportNone(f.cmd); err != nil {
		return trouble, err
	}
	if err := f.checkFields(); err != nil {
		return trouble, err
	}
	f.part.Interval = cmp.Or(f.part.Interval, f.interval())
	f.part.Lacks |= pick.PartLacks(f.t, trouble != nil)
	return trouble, f.out.Close()
}

// chosenPart returns the part that the mark of the new trace names: filters by events have none.
func (f *filtering) chosenPart() (*trace.Part, error) {
	of, differ := f.t.Part()
	if differ {
		parts.ReportApart(f.cmd)
	}
	p, err := parts.Within(&f.selector.Header, of, f.t.Start())
	if caused, during := f.sel.Activities(); err == nil && f.selector.Header.During != nil {
		p.Activities, p.During = caused, during
	}
	return p, err
}

// checkFields checks that there is a field of each name to be redacted, also in events that
// the filters did not choose.
func (f *filtering) checkFields() error {
	if f.redactor == nil {
		return nil
	}
	var others []*etw.EventDesc
	for _, e := range f.selector.Seen {
		if e.Count > 0 && e.Desc != nil {
			others = append(others, e.Desc)
		}
	}
	names, among := f.redactor.Unmatched(others)
	if len(names) == 0 {
		return nil
	}
	return cli.Usagef("--redact: %s", pick.ExplainField(&filter.UnknownField{Name: names[0], Known: filter.FieldNames(among)}))
}

// run writes the events, and reports whether it came to the end of the trace.
func (f *filtering) run() (trouble error, ended bool) {
	r := &pick.Reading{Cmd: f.cmd, Progress: show.NewProgress(f.cmd.ErrOrStderr(), io.Discard), Share: f.t.Progress}
	trouble = r.Each(f.t, f.take)
	return trouble, trouble == nil || errors.Is(trouble, cli.ErrReported) && f.cmd.Context().Err() == nil
}

// take writes a record if it is to be written.
func (f *filtering) take(rec *etw.Record) error {
	counter := &f.chosen
	if f.all {
		return f.write(rec, counter)
	}
	if err := f.times.Dispatch(rec); err != nil {
		return err
	}
	first := f.isFirst()
	s, err := f.selector.Take(rec, f.t.Elapsed(rec))
	switch {
	case err != nil && err != pick.ErrStop: // after the end there may be what the rest needs
		return err
	case s != nil && err == nil:
		f.keeper.Chose(rec)
	case !f.needs(rec) && !first:
		if needed, err := f.passed(rec); !needed {
			f.mayBeLast(rec)
			return err
		}
		fallthrough
	default:
		counter = &f.kept
	}
	if f.redactor != nil {
		if known, err := f.redactor.Redact(rec); err != nil {
			return cli.Usagef("--redact %w", err)
		} else if !known {
			f.undescribed++
			return nil
		}
	}
	return f.write(rec, counter)
}

// isFirst reports whether a record is the first one, which tells when a part of all times began.
func (f *filtering) isFirst() bool {
	first := !f.begun && f.bounded() && f.part.From == nil
	f.begun = true
	return first
}

// mayBeLast has a record that nothing needs stay if it is the last one, which tells when a part of all
// times ended. Only those near the end of the files are held.
func (f *filtering) mayBeLast(rec *etw.Record) {
	const near = 0.9
	if share := f.t.Progress(); (share < 0 || share > near) && f.bounded() && f.part.To == nil && f.redactor == nil {
		f.out.Last(rec)
	}
}

// bounded reports whether the new trace is to tell when the session began and ended.
func (f *filtering) bounded() bool { return !f.part.IsAll() && !f.noRundown && f.ofAllEvents() }

// passed reports whether a record that nothing needs tells when threads ran, and who made one ready.
func (f *filtering) passed(rec *etw.Record) (needed bool, err error) {
	if f.noRundown || f.redactor != nil {
		return false, nil
	}
	return f.out.Passed(rec)
}

// write writes a record and counts it, unless it is a header of a file behind the first one.
func (f *filtering) write(rec *etw.Record, counter *int64) error {
	before := f.out.Stats().Headers
	err := f.out.Write(rec)
	*counter += 1 - (f.out.Stats().Headers - before)
	return err
}

// howToRead says which part the new trace says that it is.
func (f *filtering) howToRead() string {
	text := ""
	switch {
	case f.part.IsAll():
	case f.part.MarkText() == "":
		text = "it has no room to say which part it is: read it with the same flags\n"
	default:
		text = "answers are as of the whole with such flags"
		switch isETL := func(x *trace.File) bool { return strings.HasPrefix(x.Format(), "etl") }; {
		case f.cut:
			text = "what goes over its ends is cut off there"
		case f.bounded() && (f.redactor != nil || len(f.t.Files()) > 1 || f.out.Stats().Headers > 0) && slices.ContainsFunc(f.t.Files(), isETL):
			text += ", but for times that context switches of other threads tell"
		}
		text = "it says that it is a part, " + f.part.String() + ": " + text + "\n"
	}
	return text
}

// conclude counts the records written, and those left out.
func (f *filtering) conclude() error {
	var result error
	n := f.out.Stats()
	f.kept += n.Wakers
	if f.path != "-" {
		left := n.Unnamed + n.Classic + n.OtherPointers
		text := show.Count(f.chosen-left, "event", "events")
		if f.kept > 0 && left > 0 { // nobody knows of which they were
			text = show.Count(f.chosen+f.kept-left, "event", "events") + ", with those that the rest needs"
		} else if f.kept > 0 {
			text += ", and " + show.Count(f.kept, "event", "events") + " that the rest needs"
		}
		if n.Repeated > 0 {
			text += "; " + fmt.Sprint(n.Repeated) + " that several traces have are written once"
		}
		if n.Headers > 0 {
			text += "; the headers of " + fmt.Sprint(n.Headers+1) + " files are one"
		}
		fmt.Fprintf(f.cmd.OutOrStdout(), "%s: %s\n%s", cli.Clean(f.path), text, f.howToRead())
	}
	if f.undescribed > 0 {
		cli.Report(f.cmd, fmt.Errorf("%s left out: nothing describes their fields", show.Count(f.undescribed, "event was", "events were")))
		result = cmp.Or(result, cli.ErrReported)
	}
	for _, left := range []struct {
		count int64
		why   string
	}{
		{n.Unnamed, "the trace does not describe them"},
		{n.Classic, "a .nettrace has no room for those of the kernel and for messages"},
		{n.OtherPointers, "a .nettrace has pointers of one size, and their programs those of another"},
	} {
		if left.count > 0 {
			cli.Report(f.cmd, fmt.Errorf("%s left out: %s", show.Count(left.count, "event was", "events were"), left.why))
			result = cmp.Or(result, cli.ErrReported)
		}
	}
	if show.ReportLosses(f.cmd, f.t) {
		result = cmp.Or(result, cli.ErrReported)
	}
	return result
}

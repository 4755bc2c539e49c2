package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// newDump returns the command that prints events.
func newDump() *cobra.Command {
	d := new(dump)
	cmd := &cobra.Command{
		Use:   "dump [flags] FILE...",
		Short: "Print events with their fields",
		Long: `Dump prints every event in the order of time; several traces are merged. Payloads
are decoded by the built-in packages, else by schemas in the trace, else by the
manifests of --manifest, which describe classic events, such as those of the kernel,
by tasks that have the class as eventGUID. An event with a newer version than those
is decoded as the newest known one, and says so. Others are printed as bytes in
hexadecimal.

Filters choose events before they are decoded, --where after it. An event must pass
all of them. A filter that is given several times passes what one of its values
does, but of several --where all must hold. If nothing passes, a message says what
there is. Names of events, providers, processes or fields that neither the trace nor
the tool knows are a mistake of the command line, with the exit code 2; that a trace
has none of something is an answer.

In JSON an event is an object with the keys time (UTC), ms (since the session's
start), file (if there are several), provider, guid, id, version, opcode, level,
task, keywords, event, pid, process (its name, if it is known), tid, thread, cpu (-1
if not known), size (of the payload), activity and related (if there are), fields,
stack (addresses) and frames (their names, both with --stacks), payload (with --payload, or if not all of it was decoded) and
error (if it does not fit its description, or that is of another version). Numbers
are numbers; addresses and masks are texts in hexadecimal, and values that have
names are these. CSV and Markdown have the same as columns, and one for each field
of the events that are chosen, or of --fields.`,
		Example: `  etw dump gc.nettrace
  etw dump --event GCStart --event GC/Stop gc.nettrace
  etw dump --provider clr --keywords GC --level verbose --limit 20 gc.nettrace
  etw dump --where 'TypeName ~ ^System' --from 1ms --to 2s alloc.nettrace
  etw dump --time absolute --zone local --fields Count,Reason -e GCStart gc.nettrace
  etw dump --event GCHeapStats --format csv gc.nettrace > heap.csv
  etw dump --columns ms,event --fields Depth,Reason -e GCStart -f md gc.nettrace
  etw dump --format json alloc.nettrace | jq '[.rows[].fields.AllocationAmount64] | add'
  etw dump --format jsonl exceptions.nettrace | jq -c 'select(.level <= 2) | .fields'
  etw dump gc.nettrace alloc.nettrace
  etw dump --manifest MyProvider.man trace.etl
  etw dump --follow gc.nettrace`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTraces,
		RunE:              d.main,
	}
	d.style.flags(cmd)
	d.sel.flags(cmd)
	cmd.Flags().Int64VarP(&d.limit, "limit", "n", 0, "print no more than the first `N` events")
	cmd.Flags().BoolVar(&d.follow, "follow", false, "wait for more at the end of a .nettrace file that is being written")
	d.symbols.flag(cmd)
	d.out.flags(cmd)
	d.in.attributeFlag(cmd)
	d.in.manifestFlag(cmd)
	d.in.flags(cmd)
	completions(cmd, map[string]cobra.CompletionFunc{"limit": cobra.NoFileCompletions})
	return cmd
}

// A dump prints the events of a trace.
type dump struct {
	in     input
	sel    selection
	out    output
	style  dumpStyle
	limit  int64
	follow bool

	symbols symbolFiles
	native  *native.Dir // of these, or nil

	cmd      *cobra.Command
	p        *printer
	selector *selector
	stacks   *boundStacks // nil if none are printed, or the traces can be read only once
	names    *names
	writer   eventWriter
	printed  int64
	buf      []byte
}

// main runs the command.
func (d *dump) main(cmd *cobra.Command, args []string) error {
	d.cmd = cmd
	if cmd.Flags().Changed("limit") && d.limit <= 0 {
		return usagef("--limit: %d is not a number of events to print, from 1 on", d.limit)
	}
	if err := d.style.check(); err != nil {
		return err
	}
	if err := d.out.check(cmd); err != nil {
		return err
	}
	if d.follow && (len(args) != 1 || args[0] == trace.Stdin) {
		return usagef("--follow takes one file")
	}
	known, err := readManifests(cmd, d.in.manifests)
	if err != nil {
		return err
	}
	if d.selector, err = d.sel.selector(known); err != nil {
		return err
	}
	if err := d.selector.findProcesses(cmd, &d.in, args); err != nil {
		return err
	}
	defer func() { reportFaults(cmd, d.native) }()
	if err := d.foresee(args); err != nil {
		return err
	}
	t, trouble, err := d.in.open(cmd, args, d.follow)
	if err != nil {
		return err
	}
	defer t.Close()
	src, err := d.prepare(t, args)
	if err != nil {
		return err
	}
	d.p = d.out.open(cmd, d.follow)
	return d.p.close(d.run(t, src), trouble)
}

// foresee prepares what is to be known before the events that it is about: names, and
// with stacks, which take a pass of their own, these.
func (d *dump) foresee(args []string) error {
	d.names = newNames()
	before := foresee()
	d.names.before = before
	if !d.style.showsStacks() || d.follow || slices.Contains(args, trace.Stdin) {
		d.in.foresight = func(r *etw.Record) { before.learn(d.selector.decoder, r, d.selector.decoder.Event(r)) }
		return nil
	}
	files, err := d.symbols.open(d.cmd)
	if err != nil {
		return err
	}
	d.native = files
	d.stacks = d.style.stacksOf(files)
	who, err := lookFirst(d.cmd, &d.in, args, d.stacks)
	d.names.before = cmp.Or(who, before)
	return err
}

// stacksOf returns what finds call stacks, whose frames have names unless they are to be
// addresses.
func (s *dumpStyle) stacksOf(files *native.Dir) *boundStacks {
	if s.raw {
		return newBoundStacks(nil)
	}
	return newBoundStacks(func() *codeNamer { return newCodeNamer(files) })
}

// prepare looks at the begin of the trace as far as it helps, and makes the
// writer.
func (d *dump) prepare(t *trace.Trace, args []string) (etw.Source, error) {
	src := etw.Source(t)
	if d.stacks != nil {
		src = d.stacks.over(t)
	}
	d.selector.resolve(t)
	lines := d.out.format == formatJSON || d.out.format == formatJSONL
	m := newMeeting(d.selector, t)
	if d.names == nil { // of a live process
		d.names = newNames()
		d.names.before = m.names
	}
	m.names = d.names.before
	a := new(ahead)
	switch glance := d.glance(m, args, lines); {
	case glance != nil:
		a.src, a.whole = src, glance.whole
	case d.follow || lines && len(d.selector.wheres) == 0:
		a.src = src
	default:
		a = lookAhead(src, lookLimit(args), m.meet)
	}
	if err := d.selector.checkFields(m.descs, a.whole); err != nil {
		return nil, err
	}
	d.style.names = d.stacks
	if d.style.raw {
		d.style.names = nil
	}
	w, err := d.style.writer(&d.out, d.selector, m, a.whole)
	d.writer = w
	return a, err
}

// run prints the events of src.
func (d *dump) run(t *trace.Trace, src etw.Source) error {
	if w, ok := d.writer.(*textWriter); ok {
		w.printer = d.p
	}
	if _, err := d.p.Write(d.writer.begin(nil)); err != nil {
		return err
	}
	if err := d.p.Flush(); err != nil { // the first event that is chosen may be far away
		return err
	}
	r := &reading{cmd: d.cmd, progress: newProgress(d.cmd.ErrOrStderr(), d.cmd.OutOrStdout()), share: t.Progress, follow: d.follow}
	trouble := r.each(src, func(rec *etw.Record) error { return d.event(t, rec) })
	d.p.about.of(t, r.stopped || d.follow)
	if r.stopped && isServed(d.cmd) {
		d.p.about.warn(fmt.Sprintf("the answer has the first %d events alone: limit asks for more, and stat counts all", d.printed))
	}
	d.p.about.readTo(trouble)
	d.p.about.follow(d.cmd)
	if _, err := d.p.Write(d.writer.end(nil)); err != nil {
		return err
	}
	if err := d.p.Flush(); err != nil {
		return err
	}
	none := d.selector.reportNone(d.cmd)
	if none != nil && d.follow { // it may yet come
		report(d.cmd, none)
		none = nil
	}
	if d.stacks != nil {
		d.stacks.report(d.cmd)
	}
	for _, s := range t.Files() {
		if n := s.Stats().OutOfOrder; n > 0 {
			report(d.cmd, fmt.Errorf("%s: %d events are printed after later ones, because the trace tells too late of them", s.Name(), n))
		}
	}
	if reportLosses(d.cmd, t) {
		trouble = errReported
	}
	return cmp.Or(none, trouble)
}

// event prints a record if no filter is against it.
func (d *dump) event(t *trace.Trace, rec *etw.Record) error {
	s, err := d.selector.take(rec, t.Elapsed(rec))
	if err != nil {
		return err
	}
	d.names.learn(d.selector.decoder, rec, d.selector.decoder.Event(rec))
	if s == nil {
		return nil
	}
	s.process, s.thread = d.names.process(rec.ProcessID), d.names.thread(rec.ThreadID)
	d.buf = d.writer.append(d.buf[:0], s)
	if _, err := d.p.Write(d.buf); err != nil {
		return err
	}
	if d.follow || d.printed == 0 { // the first one is to be seen at once
		if err := d.p.Flush(); err != nil {
			return err
		}
	}
	if d.printed++; d.printed == d.limit {
		return errStop
	}
	return nil
}

// An eventWriter formats events.
type eventWriter interface {
	// begin appends what comes before the first event, end what comes after the
	// last one.
	begin(b []byte) []byte
	end(b []byte) []byte
	// append appends an event.
	append(b []byte, s *shot) []byte
}

// A dumpStyle holds the flags that say how events are printed.
type dumpStyle struct {
	enums   string
	stacks  bool
	raw     bool
	payload bool
	fields  []string
	columns []string
	time    string

	names *boundStacks // nil if frames are shown as addresses
}

var (
	enumNames  = []string{"name", "number", "object"}
	enumStyles = map[string]etw.EnumStyle{"object": etw.EnumObjects, "name": etw.EnumNames, "number": etw.EnumNumbers}
	timeNames  = []string{timeRelative, timeDelta, timeAbsolute}
)

// The forms of times in text.
const (
	timeRelative = "relative"
	timeDelta    = "delta"
	timeAbsolute = "absolute"
)

func (s *dumpStyle) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.enums, "enums", "name", "print values that have names as their `FORM`: name, number, or in JSON\nan object with value and name")
	f.BoolVar(&s.stacks, "stacks", false, "print call stacks, with the names of methods and files that the trace\nhas; a pass over the files finds these, and stacks that the kernel\nlogged as events of their own")
	f.BoolVar(&s.raw, "raw-stacks", false, "print call stacks as addresses")
	f.BoolVar(&s.payload, "payload", false, "print payloads in hexadecimal, too")
	f.StringSliceVar(&s.fields, "fields", nil, "print only the fields of these `NAMES`, such as Count,Reason")
	f.StringSliceVar(&s.columns, "columns", nil, "of what all events have, print in CSV and Markdown only these `NAMES`,\nsuch as ms,event,pid")
	f.StringVar(&s.time, "time", timeRelative, "in text, print times as `FORM`: relative (to the session's start),\ndelta (since the event before) or absolute (in --zone)")
	completions(cmd, map[string]cobra.CompletionFunc{
		"enums":   cobra.FixedCompletions(enumNames, cobra.ShellCompDirectiveNoFileComp),
		"time":    cobra.FixedCompletions(timeNames, cobra.ShellCompDirectiveNoFileComp),
		"columns": completeList(func(*cobra.Command, []string) []string { return headNames() }),
		"fields":  completeList(fieldsOf),
	})
}

// showsStacks reports whether call stacks are printed.
func (s *dumpStyle) showsStacks() bool {
	return s.stacks || slices.Contains(s.columns, "stack") || slices.Contains(s.columns, "frames")
}

// check reports values of flags that make no sense.
func (s *dumpStyle) check() error {
	s.stacks = s.stacks || s.raw
	if !slices.Contains(enumNames, s.enums) {
		return usagef("--enums %s: there are %s", s.enums, strings.Join(enumNames, ", "))
	}
	if !slices.Contains(timeNames, s.time) {
		return usagef("--time %s: there are %s", s.time, strings.Join(timeNames, ", "))
	}
	_, err := findHeads(s.columns)
	return err
}

// writer returns what formats events. m has met the begin of the trace, or whole
// says that it was all of it.
func (s *dumpStyle) writer(out *output, sel *selector, m *meeting, whole bool) (eventWriter, error) {
	if len(s.fields) > 0 {
		if err := sel.checkNames("--fields", s.fields, m.descs, whole); err != nil {
			return nil, err
		}
	}
	switch out.format {
	case formatJSON, formatJSONL:
		return &jsonWriter{
			list: jsonList{lines: out.format == formatJSONL, about: &out.about}, enums: enumStyles[s.enums], stacks: s.stacks, names: s.names, payload: s.payload,
			only: s.fields, file: m.several,
		}, nil
	case formatCSV, formatMD:
		return s.columnWriter(out, sel, m, whole)
	}
	return newTextWriter(s, sel, m), nil
}

// columnWriter returns what formats events as rows.
func (s *dumpStyle) columnWriter(out *output, sel *selector, m *meeting, whole bool) (eventWriter, error) {
	w := &columnWriter{markdown: out.format == formatMD, csv: csvStyle{raw: out.csvRaw}, enums: enumStyles[s.enums], names: s.names, payload: s.payload}
	names := s.columns
	if names == nil {
		if names = headNames(); w.markdown {
			names = []string{"ms", "pid", "tid", "event"}
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return name == "file" && !m.several || name == "stack" && !s.stacks || name == "frames" && (!s.stacks || s.names == nil)
		})
	}
	heads, err := findHeads(names)
	if err != nil {
		return nil, err
	}
	w.before = heads
	if i := slices.IndexFunc(heads, func(c headColumn) bool { return c.name == firstTail || c.name == "payload" }); i >= 0 {
		w.before, w.after = heads[:i], heads[i:]
	}
	if w.fields, w.asked = s.fields, true; w.fields == nil {
		w.asked = false
		descs := m.descs
		if w.other = !whole; w.other && len(sel.header.Events) > 0 {
			descs = append(sel.candidates(nil, false), descs...)
		}
		w.fields = columnNames(descs)
	}
	return w, nil
}

// columnNames returns the names of the fields of events, in the order in which
// they come.
func columnNames(descs []*etw.EventDesc) []string {
	var names []string
	known := make(map[string]bool)
	for _, d := range descs {
		for _, key := range fieldKeys(d.Fields) {
			if !known[key] {
				known[key] = true
				names = append(names, key)
			}
		}
	}
	return names
}

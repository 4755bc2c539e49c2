package look

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// NewDump returns the command that prints events.
func NewDump() *cobra.Command {
	d := &Dump{Out: show.Output{Also: formatXML}}
	cmd := &cobra.Command{
		Use:   "dump [flags] FILE...",
		Short: "Print events with their fields",
		Long: `Dump prints every event in the order of time; several traces are merged. Payloads are
decoded by the built-in packages, else by schemas in the trace, else by the manifests of
--manifest, which describe classic events, such as those of the kernel, by tasks that
have the class as eventGUID. An event with a newer version than those is decoded as the
newest known one, and says so. Others are printed as bytes in hexadecimal.

Filters choose events before they are decoded, --where after it. An event must pass
all of them. A filter that is given several times passes events that one of its values
does, but of several --where all must hold. Names that neither the trace nor the tool
knows are a mistake, with the exit code 2; that a trace has none of something is an
answer. docs/json.md explains the keys of an event in JSON; CSV and Markdown have
the same as columns, and one for each field of the events that are chosen, or of --fields.
XML is as tracerpt of Windows writes it, without call stacks; of logs as wevtutil does.`,
		Example: `  etw dump gc.nettrace
  etw dump --provider clr --keywords GC --level verbose --limit 20 gc.nettrace
  etw dump --where 'TypeName ~ ^System' --from 1ms --to 2s alloc.nettrace
  etw dump --time absolute --zone local --fields Count,Reason -e GCStart gc.nettrace
  etw dump --event GCHeapStats --format csv gc.nettrace > heap.csv
  etw dump --format json alloc.nettrace | jq '[.rows[].fields.AllocationAmount64] | add'
  etw dump --format jsonl exceptions.nettrace | jq -c 'select(.level <= 2) | .fields'
  etw dump --format xml gc.nettrace > gc.xml
  etw dump --manifest MyProvider.man trace.etl
  etw dump --follow gc.nettrace`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              d.main,
	}
	d.Style.Flags(cmd)
	d.Sel.Flags(cmd)
	cmd.Flags().Int64VarP(&d.Limit, "limit", "n", 0, "print no more than the first `N` events")
	cmd.Flags().BoolVar(&d.Follow, "follow", false, "wait for more at the end of a .nettrace file that is being written")
	d.symbols.Flag(cmd)
	d.Out.Flags(cmd)
	d.In.AttributeFlag(cmd)
	d.In.ManifestFlag(cmd)
	d.In.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"limit": cobra.NoFileCompletions})
	return cmd
}

// A Dump prints the events of a trace.
type Dump struct {
	In     pick.Input
	Sel    pick.Selection
	Out    show.Output
	Style  dumpStyle
	Limit  int64
	Follow bool

	symbols frames.SymbolFiles
	native  *native.Dir // of these, or nil

	Cmd       *cobra.Command
	P         *show.Printer
	Selector  *pick.Selector
	stacks    *frames.BoundStacks // nil if none are printed, or the traces can be read only once
	names     *pick.Names
	files     *pick.Operations
	writer    eventWriter
	printed   int64
	described int64 // printed ones that the trace describes itself
	bare      int64 // printed ones with bytes that nothing describes
	buf       []byte
}

// main runs the command.
func (d *Dump) main(cmd *cobra.Command, args []string) error {
	d.Cmd = cmd
	if cmd.Flags().Changed("limit") && d.Limit <= 0 {
		return cli.Usagef("--limit: %d is not a number of events to print, from 1 on", d.Limit)
	}
	if err := d.Style.Check(); err != nil {
		return err
	}
	if err := d.Out.Check(cmd); err != nil {
		return err
	}
	if d.Out.Format == formatXML {
		d.In.More = append(d.In.More, trace.WithXML())
		if err := d.Style.checkXML(); err != nil {
			return err
		}
	}
	if d.Follow && (len(args) != 1 || args[0] == trace.Stdin) {
		return cli.Usagef("--follow takes one file")
	}
	formats, err := d.symbols.Formats(cmd, &d.In, args)
	if err != nil {
		return err
	}
	if d.Selector, err = d.Sel.Of(cmd, &d.In, args, formats...); err != nil {
		return err
	}
	defer func() { frames.ReportFaults(cmd, d.native) }()
	if err := d.foresee(args); err != nil {
		return err
	}
	if d.stacks == nil && d.Out.Format == show.FormatJSONL { // others tell of the whole, or of events before
		if err := d.In.Leap(cmd, args, &d.Selector.Header); err != nil {
			return err
		}
	}
	t, trouble, err := d.In.Open(cmd, args, d.Follow)
	if err != nil {
		return err
	}
	defer t.Close()
	src, err := d.Prepare(t, args)
	if err != nil {
		return err
	}
	d.P = d.Out.Open(cmd, d.Follow)
	return d.P.Close(d.Run(t, src), trouble)
}

// foresee prepares the facts that must be known before their events: names, and with stacks,
// which take a pass of their own, these.
func (d *Dump) foresee(args []string) error {
	d.names, d.files = pick.NewNames(), pick.NewOperations()
	before := pick.Foresee()
	d.names.Before = before
	d.files.Before = pick.NewOperations()
	d.Selector.OfFile = func(s *pick.Shot) { d.files.Of(s) }
	if !d.Style.ShowsStacks() || d.Follow || slices.Contains(args, trace.Stdin) {
		d.In.Foresight = func(r *etw.Record) {
			before.Learn(d.Selector.Decoder, r, d.Selector.Decoder.Event(r))
			d.files.Before.Learn(r)
		}
		return nil
	}
	files, err := d.symbols.Open(d.Cmd)
	if err != nil {
		return err
	}
	d.native = files
	d.stacks = d.Style.stacksOf(files)
	who, err := frames.LookFirst(d.Cmd, &d.In, args, d.stacks, d.files.Before)
	d.names.Before = cmp.Or(who, before)
	return err
}

// stacksOf returns the finder of call stacks, whose frames have names unless they are to be
// addresses.
func (s *dumpStyle) stacksOf(files *native.Dir) *frames.BoundStacks {
	if s.raw {
		return frames.NewBoundStacks(nil)
	}
	return frames.NewBoundStacks(func() *frames.CodeNamer { return frames.NewCodeNamer(files) })
}

// Prepare looks at the begin of the trace as far as it helps, and makes the
// writer.
func (d *Dump) Prepare(t *trace.Trace, args []string) (etw.Source, error) {
	src := etw.Source(t)
	if d.stacks != nil {
		src = d.stacks.Over(t)
	}
	d.Selector.Resolve(t)
	lines := slices.Contains([]string{show.FormatJSON, show.FormatJSONL, formatXML}, d.Out.Format)
	m := pick.NewMeeting(d.Selector, t)
	if d.names == nil { // of a live process
		d.names = pick.NewNames()
		d.names.Before = m.Names
		d.files = pick.NewOperations()
	}
	m.Names = d.names.Before
	a := new(pick.Ahead)
	switch glance := d.glance(m, args, lines); {
	case glance != nil:
		a.Src, a.Whole = src, glance.Whole
	case d.Follow || lines && len(d.Selector.Wheres) == 0:
		a.Src = src
	default:
		a = pick.LookAhead(src, pick.LookLimit(args), m.Meet)
	}
	if err := d.Selector.CheckFields(m.Descs, a.Whole); err != nil {
		return nil, err
	}
	d.Style.names = d.stacks
	if d.Style.raw {
		d.Style.names = nil
	}
	d.Style.manifests = d.In.Manifests
	w, err := d.Style.writer(&d.Out, d.Selector, m, a.Whole)
	d.writer = w
	return a, err
}

// Run prints the events of src.
func (d *Dump) Run(t *trace.Trace, src etw.Source) error {
	if w, ok := d.writer.(*textWriter); ok {
		w.printer = d.P
	}
	if _, err := d.P.Write(d.writer.begin(nil)); err != nil {
		return err
	}
	if err := d.P.Flush(); err != nil { // the first event that is chosen may be far away
		return err
	}
	r := &pick.Reading{Cmd: d.Cmd, Progress: show.NewProgress(d.Cmd.ErrOrStderr(), d.Cmd.OutOrStdout()), Share: t.Progress, Follow: d.Follow}
	r.Wants = d.Selector.Wants(func(rec *etw.Record, e *etw.EventInfo) bool {
		return d.names.Learns(e) || pick.TellsOfFiles(rec.Provider)
	})
	trouble := r.Each(src, func(rec *etw.Record) error { return d.event(t, rec) })
	d.P.About.Of(t, r.Stopped || d.Follow)
	if r.Stopped && cli.ForAssistant(d.Cmd) {
		d.P.About.Warn(fmt.Sprintf("the answer has the first %d events alone: limit asks for more, and stat counts all", d.printed))
	}
	d.P.About.ReadTo(trouble)
	d.P.About.Follow(d.Cmd, show.Next("etw stat", "how many events there are of each kind"))
	if _, err := d.P.Write(d.writer.end(nil)); err != nil {
		return err
	}
	if err := d.P.Flush(); err != nil {
		return err
	}
	none := d.Selector.ReportNone(d.Cmd)
	if none != nil && d.Follow { // it may yet come
		cli.Report(d.Cmd, none)
		none = nil
	}
	if d.stacks != nil {
		d.stacks.Report(d.Cmd)
	}
	if d.printed > 0 {
		d.Style.messages.report(d.Cmd)
		d.reportManifests()
	}
	for _, s := range t.Files() {
		if n := s.Stats().OutOfOrder; n > 0 {
			cli.Report(d.Cmd, fmt.Errorf("%s: %d events are printed after later ones, because the trace tells too late of them", s.Name(), n))
		}
	}
	if !d.In.Leapt && show.ReportLosses(d.Cmd, t) {
		trouble = cli.ErrReported
	}
	return cmp.Or(none, trouble)
}

// reportManifests says that manifests described none of the events, or that they could: texts
// and XML take more of them.
func (d *Dump) reportManifests() {
	switch given := len(d.In.Manifests) > 0; {
	case given && d.described == d.printed && !d.Style.message && d.Out.Format != formatXML:
		cli.Report(d.Cmd, errors.New("--manifest was not needed: the trace describes these events itself"))
	case !given && d.bare > 0 && d.Out.Format == show.FormatText:
		cli.Report(d.Cmd, fmt.Errorf("nothing describes the payload of %s: --manifest takes a manifest of the provider, or the DLL that has it",
			show.Count(d.bare, "event", "events")))
	}
}

// event prints a record if no filter is against it.
func (d *Dump) event(t *trace.Trace, rec *etw.Record) error {
	s, err := d.Selector.Take(rec, t.Elapsed(rec))
	if err != nil {
		return err
	}
	d.names.Learn(d.Selector.Decoder, rec, d.Selector.Decoder.Event(rec))
	d.files.Learn(rec)
	if s == nil {
		return nil
	}
	switch {
	case s.Event.Basis == etw.BasisSchema:
		d.described++
	case s.Event.Basis == etw.BasisNone && len(s.Payload) > 0:
		d.bare++
	}
	d.files.Of(s)
	s.Process, s.Thread = d.names.Process(rec.ProcessID), d.names.Thread(rec.ThreadID)
	d.buf = d.writer.append(d.buf[:0], s)
	if _, err := d.P.Write(d.buf); err != nil {
		return err
	}
	if d.Follow || d.printed == 0 { // the first one is to be seen at once
		if err := d.P.Flush(); err != nil {
			return err
		}
	}
	if d.printed++; d.printed == d.Limit {
		return pick.ErrStop
	}
	return nil
}

// An eventWriter formats events.
type eventWriter interface {
	// begin appends the text before the first event, end the text after the last one.
	begin(b []byte) []byte
	end(b []byte) []byte
	// append appends an event.
	append(b []byte, s *pick.Shot) []byte
}

// A dumpStyle holds the flags that say how events are printed.
type dumpStyle struct {
	enums   string
	stacks  bool
	raw     bool
	payload bool
	message bool
	fields  []string
	columns []string
	time    string

	manifests []string // that were given, which may have messages

	names    *frames.BoundStacks // nil if frames are shown as addresses
	messages *messenger          // nil if none are shown
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

// Flags adds the flags to a command.
func (s *dumpStyle) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.enums, "enums", "name", "print values that have names as their `FORM`: name, number, or in JSON\nan object with value and name")
	f.BoolVar(&s.stacks, "stacks", false, "print call stacks, with names: a pass over the files finds these, and\nstacks that the kernel logged as events of their own")
	f.BoolVar(&s.raw, "raw-stacks", false, "print call stacks as addresses")
	f.BoolVar(&s.message, "messages", false, "print messages that the trace or --manifest has, in text and JSON")
	f.BoolVar(&s.payload, "payload", false, "print payloads in hexadecimal, too")
	f.StringSliceVar(&s.fields, "fields", nil, "print only the fields of these `NAMES`, such as Count,Reason")
	f.StringSliceVar(&s.columns, "columns", nil, "of the common columns, print in CSV and Markdown only these `NAMES`,\nsuch as ms,event,pid")
	f.StringVar(&s.time, "time", timeRelative, "in text, print times as `FORM`: relative (to the session's start),\ndelta (since the event before) or absolute (in --zone)")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"enums":   cobra.FixedCompletions(enumNames, cobra.ShellCompDirectiveNoFileComp),
		"time":    cobra.FixedCompletions(timeNames, cobra.ShellCompDirectiveNoFileComp),
		"columns": pick.CompleteList(func(*cobra.Command, []string) []string { return headNames() }),
		"fields":  pick.CompleteList(pick.FieldsOf),
	})
}

// ShowsStacks reports whether call stacks are printed.
func (s *dumpStyle) ShowsStacks() bool {
	return s.stacks || slices.Contains(s.columns, "stack") || slices.Contains(s.columns, "frames")
}

// Check reports values of flags that make no sense.
func (s *dumpStyle) Check() error {
	s.stacks = s.stacks || s.raw
	if !slices.Contains(enumNames, s.enums) {
		return cli.Usagef("--enums %s: there are %s", s.enums, strings.Join(enumNames, ", "))
	}
	if !slices.Contains(timeNames, s.time) {
		return cli.Usagef("--time %s: there are %s", s.time, strings.Join(timeNames, ", "))
	}
	_, err := findHeads(s.columns)
	return err
}

// writer returns the formatter of events. m has met the begin of the trace, or whole says
// that it was all of it.
func (s *dumpStyle) writer(out *show.Output, sel *pick.Selector, m *pick.Meeting, whole bool) (eventWriter, error) {
	if len(s.fields) > 0 {
		if err := sel.CheckNames("--fields", s.fields, m.Descs, whole); err != nil {
			return nil, err
		}
	}
	if s.message {
		s.messages = &messenger{given: etw.NewDecoder(sel.Known...), files: messageFiles{paths: s.manifests}}
	}
	switch out.Format {
	case show.FormatJSON, show.FormatJSONL:
		return &jsonWriter{
			list: show.JsonList{Lines: out.Format == show.FormatJSONL, About: &out.About}, enums: enumStyles[s.enums], stacks: s.stacks, names: s.names, payload: s.payload, messages: s.messages,
			only: s.fields, file: m.Several,
		}, nil
	case formatXML:
		return &xmlWriter{enums: enumStyles[s.enums], only: s.fields, known: append(pick.BuiltinProviders(), sel.Known...)}, nil
	case show.FormatCSV, show.FormatMD:
		return s.columnWriter(out, sel, m, whole)
	}
	return newTextWriter(s, sel, m), nil
}

// columnWriter returns the formatter of events as rows.
func (s *dumpStyle) columnWriter(out *show.Output, sel *pick.Selector, m *pick.Meeting, whole bool) (eventWriter, error) {
	if s.message {
		return nil, cli.Usagef("--messages has no column in --format %s: text and json have", out.Format)
	}
	w := &columnWriter{markdown: out.Format == show.FormatMD, csv: show.CsvStyle{Raw: out.CsvRaw}, enums: enumStyles[s.enums], names: s.names, payload: s.payload}
	names := s.columns
	if names == nil {
		if names = headNames(); w.markdown {
			names = []string{"ms", "pid", "tid", "event"}
		}
		operations := m.Operations || m.Kernel && !whole
		names = order.Delete(names, func(name string) bool {
			return name == "file" && !m.Several || (name == "path" || name == "elapsedMs") && !operations || name == "stack" && !s.stacks || name == "frames" && (!s.stacks || s.names == nil)
		})
	}
	heads, err := findHeads(names)
	if err != nil {
		return nil, err
	}
	w.before = heads
	if i := slices.IndexFunc(heads, isTail); i >= 0 {
		w.before, w.after = heads[:i], heads[i:]
	}
	if w.fields, w.asked = s.fields, true; w.fields == nil {
		w.asked = false
		descs := m.Descs
		if w.other = !whole; w.other && len(sel.Header.Events) > 0 {
			descs = append(sel.Candidates(nil, false), descs...)
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

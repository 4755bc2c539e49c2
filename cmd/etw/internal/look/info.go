package look

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
	"github.com/etwgen/etwgen/trace/rewrite"
)

// An info holds the flags of the command.
type info struct {
	in     pick.Input
	out    show.Output
	whole  bool
	blocks bool // are listed instead
	zone   string
}

// NewInfo returns the command that describes a trace.
func NewInfo() *cobra.Command {
	o := new(info)
	cmd := &cobra.Command{
		Use:   "info [flags] FILE...",
		Short: "Describe traces",
		Long: `Info describes traces: format, session, machine, clock, start and duration,
processes with their command lines and runtimes, losses and the remedy for
it, whether they ended cleanly, and which providers they have events of, with the
keywords and the level of these.

A trace of more than 160 MiB is not read to its end: its header is, and its begin and
end, and in a .nettrace file the first event of each kind. That takes no
longer for a larger file. So events are not counted and losses of .nettrace files not
added up, and damage in between is not seen, so that nothing is said of whether the
trace ended cleanly; a process, a provider or a keyword that has events only in between
can be missing. An uncounted figure says so, and is null in JSON; --all counts it. A
trace that is cut off, whose session was not stopped or that is damaged where it is
looked at is read whole, and so is a packed file.

--blocks lists the parts of a file instead: the blocks of .nettrace and .netperf files,
the buffers of .etl files, as they lie there, with offset, size, kind, the times of their
events and other facts of their headers. Where a file is damaged the list ends with the
offset and the reason.

The rows of JSON are one object for each trace. Which keys there are depends on the format;
file, format, events, processes and providers are always there. CSV and Markdown
have the providers alone.`,
		Example: `  etw info gc.nettrace
  etw info gc.nettrace trace.etl
  etw info --all gc.nettrace
  etw info --format json rundown.nettrace | jq -r '.rows[0].processes[].commandLine'
  etw info --format csv jit.nettrace
  etw info --blocks gc.nettrace
  cat gc.nettrace | etw info -`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              o.run,
	}
	cmd.Flags().BoolVar(&o.whole, "all", false, "read large traces to their end, too, and count their events")
	pick.ZoneFlag(cmd, &o.zone, "in text")
	cmd.Flags().BoolVar(&o.blocks, "blocks", false, "list the blocks and buffers of a file")
	o.out.Flags(cmd)
	o.in.Flags(cmd)
	return cmd
}

// run surveys the files.
func (o *info) run(cmd *cobra.Command, args []string) error {
	if err := o.out.Check(cmd); err != nil {
		return err
	}
	if o.blocks {
		return o.listBlocks(cmd, args)
	}
	if _, err := pick.ZoneOf(o.zone, nil); err != nil {
		return err
	}
	opts, err := o.in.Options(cmd)
	if err != nil {
		return err
	}
	if !o.whole {
		opts = append(opts, trace.WithExcerpt(infoExcerpt))
	}
	p := o.out.Open(cmd, false)
	list := p.List()
	all := show.NewTable(append([]show.Column{show.Word("file")}, providerColumns()...)...)
	files := 0
	err = pick.EachFile(cmd, args, opts, func(f *trace.File) error {
		s := newSurvey(f)
		if s.zone, err = pick.ZoneOf(o.zone, f); err != nil {
			return err
		}
		trouble := s.read(cmd)
		files++
		_, part := f.Excerpt()
		p.About.OfFile(f, part)
		if part {
			p.About.Warn(f.Name() + " is large: only a part of it was read; events are not counted, and the part between was not looked at; --all reads it all")
		}
		p.About.ReadTo(trouble)
		orient(p.About, s.providers, f.Name())
		return cmp.Or(s.print(p, &list, all, files), p.Flush(), trouble)
	})
	switch o.out.Format {
	case show.FormatCSV, show.FormatMD:
		return p.Close(all.Write(p), err)
	case show.FormatJSON:
		_, end := p.Write(list.End(nil))
		return p.Close(end, err)
	}
	return p.Close(err)
}

// infoExcerpt is the size in bytes from which on traces are not read to their end. Smaller
// ones are read in less than a second.
const infoExcerpt = 160 << 20

// A survey collects facts about a trace from its events.
type survey struct {
	latest    time.Duration // that a record can have: of those behind it the time is damaged
	file      *trace.File
	zone      *time.Location // of times in text
	decoder   *etw.Decoder
	providers []*providerCount
	byKind    []*providerCount // by the index of the event
	programs  *pick.Programs
	mux       etw.Mux
	machine   *system.Machine // nil if the trace is not of Windows
	helpers   rewrite.Helpers
	gaps      gaps
	busy      busy
}

// A providerCount counts the events of a provider.
type providerCount struct {
	Provider string          `json:"provider"`
	GUID     etw.GUID        `json:"guid"`
	Kinds    pick.EventCount `json:"kinds"`
	Events   pick.EventCount `json:"events"`
	Bytes    pick.EventCount `json:"bytes"`
	Level    etw.Level       `json:"level"`    // the least important one
	Mask     string          `json:"mask"`     // of the keywords of its events
	Keywords []string        `json:"keywords"` // their names
	mask     uint64
	ids      map[uint16]bool // of its events
}

func newSurvey(f *trace.File) *survey {
	s := &survey{file: f, decoder: builtin.NewDecoder(), programs: pick.NewPrograms()}
	if f.Head().Recorder == trace.Windows {
		s.machine = system.Of(&s.mux)
	}
	return s
}

// read reads the trace to its end.
func (s *survey) read(cmd *cobra.Command) error {
	r := &pick.Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: s.file.Progress}
	trouble := r.Each(s.file, func(rec *etw.Record) error { s.count(rec); return nil })
	for _, p := range s.providers {
		p.Mask = "0x" + strconv.FormatUint(p.mask, 16)
		p.Keywords = []string{}
		for _, known := range builtin.Providers {
			if known.Desc.GUID == p.GUID {
				p.Keywords = keywordNames(known.Provider, p.mask)
			}
		}
		if source := dotnet.Provider(p.Provider); source != nil {
			p.Keywords = keywordNames(source, p.mask)
		}
	}
	order.Stable(s.providers, func(a, b *providerCount) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Provider, b.Provider))
	})
	if _, part := s.file.Excerpt(); part {
		s.forget()
	}
	return trouble
}

// forget forgets numbers that are of a part of the trace: who adds them up or compares
// them would take them for those of all of it.
func (s *survey) forget() {
	for _, p := range s.providers {
		p.Events, p.Kinds, p.Bytes = pick.Uncounted, pick.Uncounted, pick.Uncounted
	}
	s.programs.Forget()
}

func (s *survey) count(r *etw.Record) {
	e := s.decoder.Event(r)
	if e.Index == len(s.byKind) {
		name := e.Provider
		if r.Kind == etw.KindClassic && e.Task != "" && e.Task != name {
			name += "/" + e.Task // whose GUID it is
		}
		s.byKind = append(s.byKind, s.provider(name, r.Provider))
		s.byKind[e.Index].Kinds++
		s.byKind[e.Index].ids[r.ID] = true
	}
	p := s.byKind[e.Index]
	p.Events++
	p.Bytes += pick.EventCount(len(r.Payload))
	p.Level = max(p.Level, r.Level)
	p.mask |= r.Keywords &^ etw.SessionKeywords
	s.programs.Learn(s.decoder, r, e)
	if s.latest == 0 {
		s.latest = latestOf(s.file.Head().End, r.Clock)
	}
	if at := r.Elapsed(); at <= s.latest {
		s.gaps.see(at)
	}
	if !s.helpers.Has(r) {
		s.busy.see(r.Elapsed())
	}
	if s.machine != nil && r.Kind == etw.KindClassic && s.helpers.OfMachine(r) {
		s.mux.Dispatch(r) // what does not fit says nothing
	}
}

// provider returns the counts of a provider.
func (s *survey) provider(name string, guid etw.GUID) *providerCount {
	for _, p := range s.providers {
		if p.Provider == name && p.GUID == guid {
			return p
		}
	}
	p := &providerCount{Provider: name, GUID: guid, ids: make(map[uint16]bool)}
	s.providers = append(s.providers, p)
	return p
}

// print prints the findings, or adds it to a table for all traces.
func (s *survey) print(p *show.Printer, list *show.JsonList, all *show.Table, n int) error {
	switch p.Format {
	case show.FormatJSON, show.FormatJSONL:
		b, err := s.json(list.Item(nil))
		if err != nil {
			return err
		}
		_, err = p.Write(list.ItemEnd(b))
		return err
	case show.FormatCSV, show.FormatMD:
		for _, c := range s.providers {
			all.Add(append([]string{s.file.Name()}, c.cells()...)...)
		}
		return nil
	}
	if n > 1 {
		fmt.Fprintln(p)
	}
	return s.text(p)
}

func (s *survey) facts() []trace.Fact {
	n := s.file.Stats()
	events := []trace.Fact{{Key: "events", Value: n.Records, Text: strconv.FormatInt(n.Records, 10)}}
	if bytes, part := s.file.Excerpt(); part {
		events = []trace.Fact{
			{Key: "readBytes", Value: bytes, Text: strconv.FormatInt(bytes, 10) + ", of the begin, the end and some places between"},
			{Key: "events", Value: nil, Text: "not counted, as the file is large; --all counts them"},
		}
	}
	return slices.Concat(
		[]trace.Fact{{Key: "format", Value: s.file.Format(), Text: s.file.Format()}},
		s.machineFacts(),
		s.file.Facts(),
		events,
		s.gapFacts(),
	)
}

// machineFacts returns the facts of events about the machine, as Windows calls it.
func (s *survey) machineFacts() []trace.Fact {
	if s.machine == nil {
		return nil
	}
	f := s.machine.Facts()
	list := []trace.Fact{{Key: "machine", Value: f.Computer, Text: f.Computer}, {Key: "system", Value: f.System, Text: strings.TrimSpace(f.System + " " + f.Build)}}
	if others := s.machine.Origins(); len(others) > 0 {
		list = append(list, trace.Fact{Key: "origins", Value: others, Text: strings.Join(others, "; ")})
	}
	return order.Delete(list, func(f trace.Fact) bool { return f.Text == "" })
}

// gapFacts returns where events are and where there are none, if all of them were read.
func (s *survey) gapFacts() []trace.Fact {
	if _, part := s.file.Excerpt(); part {
		return nil
	}
	var facts []trace.Fact
	if b := &s.busy; b.short(s.gaps.last) {
		facts = append(facts, trace.Fact{Key: "activity", Value: b.ends(), Text: fmt.Sprintf("%s, from %s to %s; the others tell of processes, files and code",
			show.Count(b.events, "event", "events"), show.MS(b.ends().FromMS), show.MS(b.ends().ToMS))})
	}
	list := s.gaps.large()
	if len(list) == 0 {
		return facts
	}
	texts := each.Of(list, func(g gap) string {
		return fmt.Sprintf("%s from %s to %s", show.MS(g.ToMS-g.FromMS), show.MS(g.FromMS), show.MS(g.ToMS))
	})
	return append(facts, trace.Fact{Key: "gaps", Value: list, Text: "no events for " + strings.Join(texts, ", for ")})
}

func (s *survey) text(p *show.Printer) error {
	line := func(label, text string) { p.Prose("", fmt.Sprintf("  %-19s  %s", label, cli.Clean(text)), 23) }
	fmt.Fprintf(p, "%s\n", p.Paint(nil, show.ColorBold, cli.Clean(s.file.Name())))
	for _, f := range s.facts() {
		line(strings.ToLower(show.Heading(strings.TrimSuffix(f.Key, "Ms"))), pick.InZone(f.Text, s.zone))
	}
	for _, text := range show.Advice(s.file) {
		line("advice", text)
	}
	if _, part := s.file.Excerpt(); part {
		line("lists", "processes and providers are those of the parts that were read; --all reads it all")
	}
	if err := s.programs.Text(p, line, mostRows); err != nil {
		return err
	}
	if len(s.providers) == 0 {
		return nil
	}
	fmt.Fprintln(p)
	t := show.NewTable(providerColumns()...)
	shown := s.providers[:min(len(s.providers), mostRows)]
	for _, c := range shown {
		t.Add(c.cells()...)
	}
	if err := t.Write(p); err != nil || len(shown) == len(s.providers) {
		return err
	}
	_, err := fmt.Fprintf(p, "%d of %d providers, those with most events; --format csv has all\n", len(shown), len(s.providers))
	return err
}

// mostRows is how many processes and how many providers are shown as text.
const mostRows = 30

func providerColumns() []show.Column {
	return []show.Column{show.Num("events"), show.Num("kinds"), show.Num("bytes"), show.Word("guid").Spared(3), show.Word("provider"), show.Num("level").Spared(1), show.Word("mask").Spared(2), show.Word("keywords")}
}

func (c *providerCount) cells() []string {
	names := each.Of(c.Keywords, func(name string) string { return strings.TrimSuffix(name, pick.KeywordSuffix) })
	return []string{
		c.Events.String(), c.Kinds.String(), c.Bytes.String(), c.GUID.String(), c.Provider,
		strconv.Itoa(int(c.Level)), c.Mask, strings.Join(names, ","),
	}
}

// json appends an object with the facts in their order, which encoding/json
// cannot do with a map.
func (s *survey) json(b []byte) ([]byte, error) {
	providers := s.providers
	if providers == nil {
		providers = []*providerCount{}
	}
	facts := slices.Concat(
		[]trace.Fact{{Key: "file", Value: s.file.Name()}},
		s.facts(),
		[]trace.Fact{{Key: "advice", Value: append([]string{}, show.Advice(s.file)...)}, {Key: "processes", Value: s.programs.List()}, {Key: "providers", Value: providers}},
	)
	for i, f := range facts {
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(f.Value); err != nil {
			return b, err
		}
		b = append(etw.AppendJSONString(append(b, "{,"[min(i, 1)]), f.Key), ':')
		b = cli.AppendSafeJSON(b, bytes.TrimSpace(value.Bytes()))
	}
	return append(b, '}'), nil
}

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// newInfo returns the command that tells what a trace is.
func newInfo() *cobra.Command {
	var in input
	var o output
	var whole bool
	cmd := &cobra.Command{
		Use:   "info [flags] FILE...",
		Short: "Tell what traces are",
		Long: `Info tells what traces are: format, session, machine, clock, start and duration,
processes with their command lines and runtimes, what was lost and what to do about
it, whether they ended cleanly, and which providers they have events of, with the
keywords and the level of these.

A trace of more than 32 MiB is not read to its end: its header is, and its begin and
end, and in a .nettrace file what comes first of each kind of event. That takes no
longer for a larger file. So events are not counted and losses of .nettrace files not
added up, and damage in between is not seen, so that nothing is said of whether the
trace ended cleanly; a process, a provider or a keyword that has events only in between
can be missing. What was not counted says so, and is null in JSON; --all counts it. A
trace that is cut off, whose session was not stopped or that is damaged where it is
looked at is read whole, and so is what is packed.

The rows of JSON are one object for each trace. Which keys there are depends on the format;
file, format, events, processes and providers are always there. CSV and Markdown
have the providers alone.`,
		Example: `  etw info gc.nettrace
  etw info gc.nettrace trace.etl
  etw info --all gc.nettrace
  etw info --format json rundown.nettrace | jq -r '.rows[0].processes[].commandLine'
  etw info --format csv jit.nettrace
  cat gc.nettrace | etw info -`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			opts, err := in.options(cmd)
			if err != nil {
				return err
			}
			if !whole {
				opts = append(opts, trace.WithExcerpt(infoExcerpt))
			}
			p := o.open(cmd, false)
			list := p.list()
			all := newTable(append([]column{word("file")}, providerColumns()...)...)
			files := 0
			err = eachFile(cmd, args, opts, func(f *trace.File) error {
				s := newSurvey(f)
				trouble := s.read(cmd)
				files++
				_, part := f.Excerpt()
				p.about.ofFile(f, part)
				if part {
					p.about.warn(f.Name() + " is large: only a part of it was read; events are not counted, and what lies between was not looked at; --all reads it all")
				}
				p.about.readTo(trouble)
				p.about.orient(s.providers, f.Name())
				return cmp.Or(s.print(p, &list, all, files), p.Flush(), trouble)
			})
			switch o.format {
			case formatCSV, formatMD:
				return p.close(all.write(p), err)
			case formatJSON:
				_, end := p.Write(list.end(nil))
				return p.close(end, err)
			}
			return p.close(err)
		},
	}
	cmd.Flags().BoolVar(&whole, "all", false, "read large traces to their end, too, and count their events")
	o.flags(cmd)
	in.flags(cmd)
	return cmd
}

// infoExcerpt is the size in bytes from which on traces are not read to their end. What
// is smaller takes no longer than a start of the program or two.
const infoExcerpt = 32 << 20

// An eventCount is how many there are of something, or uncounted.
type eventCount int64

const uncounted eventCount = -1

// String returns the number, or nothing where it is not known.
func (n eventCount) String() string {
	if n == uncounted {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// MarshalJSON returns the number or null.
func (n eventCount) MarshalJSON() ([]byte, error) {
	return []byte(cmp.Or(n.String(), "null")), nil
}

// A survey collects what the events of a trace say of it.
type survey struct {
	file      *trace.File
	decoder   *etw.Decoder
	providers []*providerCount
	byKind    []*providerCount // by the index of the event
	programs  *programs
}

// A providerCount counts the events of a provider.
type providerCount struct {
	Provider string     `json:"provider"`
	GUID     etw.GUID   `json:"guid"`
	Kinds    eventCount `json:"kinds"`
	Events   eventCount `json:"events"`
	Bytes    eventCount `json:"bytes"`
	Level    etw.Level  `json:"level"`    // the least important one
	Mask     string     `json:"mask"`     // of the keywords of its events
	Keywords []string   `json:"keywords"` // their names
	mask     uint64
}

func newSurvey(f *trace.File) *survey {
	return &survey{file: f, decoder: builtin.NewDecoder(), programs: newPrograms()}
}

// read reads the trace to its end.
func (s *survey) read(cmd *cobra.Command) error {
	r := &reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), nil), share: s.file.Progress}
	trouble := r.each(s.file, func(rec *etw.Record) error { s.count(rec); return nil })
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
	slices.SortStableFunc(s.providers, func(a, b *providerCount) int {
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
		p.Events, p.Kinds, p.Bytes = uncounted, uncounted, uncounted
	}
	for _, x := range s.programs.byPID {
		x.Events = uncounted
	}
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
	}
	p := s.byKind[e.Index]
	p.Events++
	p.Bytes += eventCount(len(r.Payload))
	p.Level = max(p.Level, r.Level)
	p.mask |= r.Keywords &^ etw.SessionKeywords
	s.programs.learn(s.decoder, r, e)
}

// provider returns the counts of a provider.
func (s *survey) provider(name string, guid etw.GUID) *providerCount {
	for _, p := range s.providers {
		if p.Provider == name && p.GUID == guid {
			return p
		}
	}
	p := &providerCount{Provider: name, GUID: guid}
	s.providers = append(s.providers, p)
	return p
}

// print prints what was found, or adds it to a table for all traces.
func (s *survey) print(p *printer, list *jsonList, all *table, n int) error {
	switch p.format {
	case formatJSON, formatJSONL:
		b, err := s.json(list.item(nil))
		if err != nil {
			return err
		}
		_, err = p.Write(list.itemEnd(b))
		return err
	case formatCSV, formatMD:
		for _, c := range s.providers {
			all.add(append([]string{s.file.Name()}, c.cells()...)...)
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
		s.file.Facts(),
		events,
	)
}

func (s *survey) text(p *printer) error {
	line := func(label, text string) { p.prose("", fmt.Sprintf("  %-19s  %s", label, clean(text)), 23) }
	fmt.Fprintf(p, "%s\n", p.paint(nil, colorBold, clean(s.file.Name())))
	for _, f := range s.facts() {
		line(strings.ToLower(heading(strings.TrimSuffix(f.Key, "Ms"))), f.Text)
	}
	for _, text := range advice(s.file) {
		line("advice", text)
	}
	if err := s.programs.text(p, line); err != nil {
		return err
	}
	if len(s.providers) == 0 {
		return nil
	}
	fmt.Fprintln(p)
	t := newTable(providerColumns()...)
	for _, c := range s.providers {
		t.add(c.cells()...)
	}
	return t.write(p)
}

func providerColumns() []column {
	return []column{num("events"), num("kinds"), num("bytes"), word("guid").spared(3), word("provider"), num("level").spared(1), word("mask").spared(2), word("keywords")}
}

func (c *providerCount) cells() []string {
	var names []string
	for _, name := range c.Keywords {
		names = append(names, strings.TrimSuffix(name, keywordSuffix))
	}
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
		[]trace.Fact{{Key: "advice", Value: append([]string{}, advice(s.file)...)}, {Key: "processes", Value: s.programs.list()}, {Key: "providers", Value: providers}},
	)
	for i, f := range facts {
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(f.Value); err != nil {
			return b, err
		}
		b = append(etw.AppendJSONString(append(b, "{,"[min(i, 1)]), f.Key), ':')
		b = appendSafeJSON(b, bytes.TrimSpace(value.Bytes()))
	}
	return append(b, '}'), nil
}

// advice says what to do about losses.
func advice(f *trace.File) []string {
	n := f.Stats()
	var list []string
	if n.Lost+n.LostBuffers > 0 {
		if f.Head().Recorder == trace.Windows {
			list = append(list, "buffers were full: record with more and larger ones (logman -nb 64 256 -bs 1024, PerfView /BufferSizeMB:1024), or fewer events")
		} else {
			list = append(list, "the buffer was full: record with a larger one (dotnet-trace collect --buffersize 1024), with fewer keywords or at a lower level")
		}
	}
	for _, fact := range f.Facts() {
		if clean, ok := fact.Value.(bool); ok && fact.Key == "endedCleanly" && !clean {
			list = append(list, "the end is missing: what is there is shown; stop the session before the file is copied, and let the program end by itself")
		}
	}
	return list
}

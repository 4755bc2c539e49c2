package look

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Events is the command that lists the events known without a trace, and its flags.
type Events struct {
	*cobra.Command
	Manifests []string
	Out       show.Output
}

// NewEvents returns the command.
func NewEvents() *Events {
	e := new(Events)
	e.Command = &cobra.Command{
		Use:   "events [flags] [PROVIDER|FILE [EVENT...]]",
		Short: "List the events that are known",
		Long: `Events lists the events that can be decoded without a schema in the trace: without arguments
the providers; with a provider its events; with names or patterns of events these
with their fields, and the names of values. In JSON it is always events with their
fields.

A FILE is a manifest, or a program or library of Windows: its events are those of its
resource, and those of TraceLogging that its code has. Where the code does not tell which
provider writes an event, it stands under "one of" those that may.

--registered lists instead the providers that programs of this machine with Windows have
registered, with how many processes have each, and how many sessions take its events; of
one PROVIDER, the processes that have it, and the settings of each session for it.`,
		Example: `  etw events
  etw events clr
  etw events clr GCStart 'Exception*'
  etw events --format json clr GC/Start | jq '.rows[].fields[].name'
  etw events --manifest MyProvider.man MyProvider
  etw events app.exe
  etw events --registered clr`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return pick.CompleteProviders(cmd, nil, begun)
			}
			return pick.CompleteEvents(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.Out.Check(cmd); err != nil {
				return err
			}
			known, err := pick.ReadManifests(cmd, e.Manifests)
			if err != nil {
				return err
			}
			l, err := newListing(args, known)
			if err != nil {
				return err
			}
			p := e.Out.Open(cmd, false)
			return p.Close(cmp.Or(l.write(p), l.damage))
		},
	}
	pick.KnownFlag(e.Command, &e.Manifests)
	e.Out.Flags(e.Command)
	return e
}

// A listing is the choice of known events to list.
type listing struct {
	providers []*etw.Provider
	wanted    []filter.Event
	all       bool                       // the providers themselves
	damage    error                      // of a file, of which the rest is listed
	oneOf     map[*etw.Provider][]string // who may write the events of what stands for several
}

// newListing reads the arguments: a provider, and names of events.
func newListing(args []string, manifests []*etw.Provider) (*listing, error) {
	if len(args) == 0 {
		every := func(string, etw.GUID) bool { return true }
		return &listing{providers: slices.Concat(pick.BuiltinProviders(), builtin.Sources(every, manifests), manifests), all: true}, nil
	}
	l := &listing{providers: pick.FindProviders(args[0], manifests)}
	if len(l.providers) == 0 && isFile(args[0]) {
		if err := l.file(args[0]); err != nil {
			return nil, err
		}
	}
	if len(l.providers) == 0 {
		return nil, unknownProvider(args[0], manifests)
	}
	for _, name := range args[1:] {
		e := filter.ParseEvent(name)
		l.wanted = append(l.wanted, e)
		if !anyEvent(l.providers, e) {
			return nil, cli.Usagef("no event of %s is called %q%s", args[0], name, cli.DidYouMean(name, titles(l.providers)))
		}
	}
	return l, nil
}

func titles(providers []*etw.Provider) []string {
	var list []string
	for _, p := range providers {
		for _, d := range p.Events {
			list = append(list, d.Title())
		}
	}
	return list
}

func (l *listing) write(p *show.Printer) error {
	isText := p.Format == show.FormatText
	switch {
	case p.Format == show.FormatJSON || p.Format == show.FormatJSONL:
		return l.json(p)
	case l.all:
		return listProviders(p, l.providers)
	case isText && len(l.wanted) > 0:
		for _, provider := range l.providers {
			for _, d := range provider.Events {
				if isWanted(d, l.wanted) {
					describeEvent(p, l.title(provider), provider, d)
				}
			}
		}
		return nil
	}
	for i, provider := range l.providers {
		if isText {
			fmt.Fprintf(p, "%s%s\n", "\n"[:min(i, 1)], l.heading(provider))
		}
		if err := l.table(p, provider); err != nil {
			return err
		}
	}
	return nil
}

func unknownProvider(name string, manifests []*etw.Provider) error {
	var names, all []string
	for _, b := range builtin.Providers {
		names = append(names, b.Alias)
	}
	for _, p := range manifests {
		names = append(names, p.Desc.Name)
	}
	for full, alias := range builtin.Aliases() {
		all = append(all, full)
		if alias != "" {
			all = append(all, alias)
		}
	}
	slices.Sort(all)
	return cli.Usagef("provider %q is not known; there are %s, the EventSources that etw events lists, and those of --manifest FILE%s",
		name, strings.Join(names, ", "), cli.DidYouMean(name, all))
}

// listProviders prints one line for each provider.
func listProviders(p *show.Printer, providers []*etw.Provider) error {
	t := show.NewTable(show.Word("name"), show.Num("events"), show.Num("keywords"), show.Word("guid"), show.Word("provider"))
	aliases := builtin.Aliases()
	for _, provider := range providers {
		t.Add(aliases[provider.Desc.Name], strconv.Itoa(len(provider.Events)), strconv.Itoa(len(provider.Keywords)), provider.Desc.GUID.String(), provider.Desc.Name)
	}
	return t.Write(p)
}

func anyEvent(providers []*etw.Provider, wanted filter.Event) bool {
	for _, p := range providers {
		for _, d := range p.Events {
			if isWanted(d, []filter.Event{wanted}) {
				return true
			}
		}
	}
	return false
}

func isWanted(d *etw.EventDesc, wanted []filter.Event) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(e filter.Event) bool { return e.MatchDesc(d) || e.String() == strconv.Itoa(int(d.ID)) })
}

// table prints one line for each event of p.
func (l *listing) table(out *show.Printer, p *etw.Provider) error {
	t := show.NewTable(show.Word("provider").ForPrograms(), show.Num("id"), show.Column{Name: "ver", Number: true}, show.Word("event"), show.Word("level"), show.Word("task/opcode"), show.Word("keywords"), show.Word("fields"))
	for _, d := range p.Events {
		if !isWanted(d, l.wanted) {
			continue
		}
		var fields []string
		for i := range d.Fields {
			fields = append(fields, d.Fields[i].Name)
		}
		t.Add(
			l.title(p), strconv.Itoa(int(d.ID)), strconv.Itoa(int(d.Version)), d.Title(), levelName(p, d.Level),
			taskAndOpcode(d), strings.Join(keywordNames(p, d.Keywords), ","), strings.Join(fields, " "),
		)
	}
	return t.Write(out)
}

// taskAndOpcode returns the names of those that d has.
func taskAndOpcode(d *etw.EventDesc) string {
	if d.OpcodeName == "" {
		return d.TaskName
	}
	return d.TaskName + "/" + d.OpcodeName
}

// describeEvent prints everything that is known of an event.
func describeEvent(w io.Writer, of string, p *etw.Provider, d *etw.EventDesc) {
	id := fmt.Sprintf("event %d, version %d", d.ID, d.Version)
	if d.ID == 0 && d.Named {
		id = "event without an id"
	}
	fmt.Fprintf(w, "%s: %s, of %s\n", cli.Clean(d.Title()), id, cli.Clean(of))
	fmt.Fprintf(w, "  level %s", levelName(p, d.Level))
	if d.TaskName != "" {
		fmt.Fprintf(w, ", task %s", cli.Clean(d.TaskName))
	}
	if d.OpcodeName != "" {
		fmt.Fprintf(w, ", opcode %s", cli.Clean(d.OpcodeName))
	}
	fmt.Fprintf(w, ", keywords 0x%x", d.Keywords)
	if names := keywordNames(p, d.Keywords); len(names) > 0 {
		fmt.Fprintf(w, " %s", cli.Clean(strings.Join(names, ",")))
	}
	fmt.Fprintln(w)
	if d.Message != "" {
		fmt.Fprintf(w, "  message %q\n", d.Message)
	}
	describeFields(w, d.Fields, nil, "  ")
	fmt.Fprintln(w)
}

// describeFields prints one line for each field, and one for each name of a
// value.
func describeFields(w io.Writer, fields []etw.FieldDesc, outer [][]etw.FieldDesc, indent string) {
	scopes := append([][]etw.FieldDesc{fields}, outer...)
	for i := range fields {
		f := &fields[i]
		fmt.Fprintf(w, "%s%s %s\n", indent, cli.Clean(f.Name), cli.Clean(fieldType(f, scopes)))
		if f.Map != nil {
			for _, e := range f.Map.Entries {
				form := "%s  %d = %s\n"
				if f.Map.Flags {
					form = "%s  0x%x = %s\n"
				}
				fmt.Fprintf(w, form, indent, e.Value, cli.Clean(e.Name))
			}
		}
		describeFields(w, f.Fields, scopes, indent+"  ")
	}
}

// fieldType returns the type of a field as a manifest would have it.
func fieldType(f *etw.FieldDesc, scopes [][]etw.FieldDesc) string {
	text := strings.TrimPrefix(f.Type.String(), "win:")
	if f.Length.Kind != etw.SizeNone {
		text += "(" + sizeText(f.Length, scopes) + ")"
	}
	if f.Count.Kind != etw.SizeNone {
		text += "[" + sizeText(f.Count, scopes) + "]"
	}
	if f.Map != nil {
		text += " " + f.Map.Name
	}
	return text
}

// sizeText returns a count or length: a number, the name of a field, or *.
func sizeText(s etw.Size, scopes [][]etw.FieldDesc) string {
	switch s.Kind {
	case etw.SizeConst:
		return strconv.FormatUint(uint64(s.N), 10)
	case etw.SizeField:
		if int(s.Up) < len(scopes) && int(s.N) < len(scopes[s.Up]) {
			return scopes[s.Up][s.N].Name
		}
	}
	return "*"
}

func levelName(p *etw.Provider, level etw.Level) string {
	for _, l := range p.Levels {
		if l.Value == level {
			return l.Name
		}
	}
	if level == 0 {
		return "0"
	}
	return strings.ToLower(level.String())
}

// keywordNames returns the names of the keywords in mask.
func keywordNames(p *etw.Provider, mask uint64) []string {
	names := []string{}
	for _, k := range p.Keywords {
		if k.Mask&mask != 0 {
			names = append(names, k.Name)
		}
	}
	return names
}

// An eventRow is the form of an event in events --json.
type eventRow struct {
	Provider string     `json:"provider"`
	OneOf    []string   `json:"oneOf,omitempty"` // in place of a provider
	GUID     etw.GUID   `json:"guid"`
	ID       uint16     `json:"id"`
	Version  uint8      `json:"version"`
	Event    string     `json:"event"`
	Level    etw.Level  `json:"level"`
	Task     string     `json:"task"`
	Opcode   string     `json:"opcode"`
	Mask     string     `json:"mask"`
	Keywords []string   `json:"keywords"`
	Fields   []fieldRow `json:"fields"`
}

// A fieldRow is the form of a field in events --json.
type fieldRow struct {
	Name   string     `json:"name"`
	Type   string     `json:"type"`
	Count  string     `json:"count,omitempty"`
	Length string     `json:"length,omitempty"`
	Map    string     `json:"map,omitempty"`
	Fields []fieldRow `json:"fields,omitempty"`
}

func fieldRows(fields []etw.FieldDesc, outer [][]etw.FieldDesc) []fieldRow {
	scopes := append([][]etw.FieldDesc{fields}, outer...)
	rows := make([]fieldRow, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		row := fieldRow{Name: f.Name, Type: strings.TrimPrefix(f.Type.String(), "win:")}
		if f.Count.Kind != etw.SizeNone {
			row.Count = sizeText(f.Count, scopes)
		}
		if f.Length.Kind != etw.SizeNone {
			row.Length = sizeText(f.Length, scopes)
		}
		if f.Map != nil {
			row.Map = f.Map.Name
		}
		if len(f.Fields) > 0 {
			row.Fields = fieldRows(f.Fields, scopes)
		}
		rows = append(rows, row)
	}
	return rows
}

func (l *listing) json(out *show.Printer) error {
	list := out.List()
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for _, p := range l.providers {
		for _, d := range p.Events {
			if !isWanted(d, l.wanted) {
				continue
			}
			line.Reset()
			err := enc.Encode(eventRow{
				Provider: p.Desc.Name, OneOf: l.oneOf[p], GUID: p.Desc.GUID, ID: d.ID, Version: d.Version, Event: d.Title(), Level: d.Level,
				Task: d.TaskName, Opcode: d.OpcodeName, Mask: "0x" + strconv.FormatUint(d.Keywords, 16),
				Keywords: keywordNames(p, d.Keywords), Fields: fieldRows(d.Fields, nil),
			})
			if err != nil {
				return err
			}
			b := cli.AppendSafeJSON(list.Item(nil), bytes.TrimSuffix(line.Bytes(), []byte("\n")))
			if _, err := out.Write(list.ItemEnd(b)); err != nil {
				return err
			}
		}
	}
	_, err := out.Write(list.End(nil))
	return err
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newEvents returns the command that lists what is known without a trace.
func newEvents() *cobra.Command {
	var paths []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "events [flags] [PROVIDER [EVENT...]]",
		Short: "List the events that are known",
		Long: `Events lists what can be decoded without a schema in the trace: without arguments
the providers; with a provider its events; with names or patterns of events these
with their fields, and the names of values.

With --json it prints one object for each event, in one line.`,
		Example: `  etw events
  etw events clr
  etw events clr GCStart_V2 'Exception*'
  etw events --manifest MyProvider.man MyProvider`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeProviders(cmd, args, begun)
			}
			return completeEvents(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			known, err := readManifests(cmd, paths)
			if err != nil {
				return err
			}
			more := known.providers
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case len(args) == 0 && !asJSON:
				err = listProviders(out, more)
			case len(args) == 0:
				err = eventsJSON(out, append(builtinProviders(), more...), nil)
			default:
				err = listEvents(out, args, more, asJSON)
			}
			if err != nil {
				return err
			}
			return out.Flush()
		},
	}
	knownFlag(cmd, &paths)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// findProviders returns the known providers that a name, a pattern, a GUID or an
// alias means.
func findProviders(name string, manifests []*etw.Provider) []*etw.Provider {
	want := filter.ParseProvider(name)
	var list []*etw.Provider
	for _, p := range append(builtinProviders(), manifests...) {
		if want.Match(p.Desc.Name, p.Desc.GUID) {
			list = append(list, p)
		}
	}
	return list
}

func unknownProvider(name string, manifests []*etw.Provider) error {
	var names []string
	for _, b := range decode.Builtins {
		names = append(names, b.Alias)
	}
	for _, p := range manifests {
		names = append(names, p.Desc.Name)
	}
	return usagef("provider %q is not known; there are %s, and those of --manifest FILE", name, strings.Join(names, ", "))
}

// listProviders prints one line for each provider.
func listProviders(w io.Writer, manifests []*etw.Provider) error {
	t := newTable("NAME", ">EVENTS", ">KEYWORDS", "GUID", "PROVIDER")
	row := func(alias string, p *etw.Provider) {
		t.add(alias, strconv.Itoa(len(p.Events)), strconv.Itoa(len(p.Keywords)), p.Desc.GUID.String(), p.Desc.Name)
	}
	for _, b := range decode.Builtins {
		row(b.Alias, b.Provider)
	}
	for _, p := range manifests {
		row("", p)
	}
	return t.write(w)
}

// listEvents prints the events that the arguments name.
func listEvents(w io.Writer, args []string, manifests []*etw.Provider, asJSON bool) error {
	providers := findProviders(args[0], manifests)
	if len(providers) == 0 {
		return unknownProvider(args[0], manifests)
	}
	var wanted []filter.Glob
	for _, name := range args[1:] {
		g := filter.Glob(name)
		wanted = append(wanted, g)
		if !anyEvent(providers, []filter.Glob{g}) {
			return usagef("no event of %s is called %q", providers[0].Desc.Name, name)
		}
	}
	if asJSON {
		return eventsJSON(w, providers, wanted)
	}
	for i, p := range providers {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if len(wanted) == 0 {
			if err := eventTable(w, p); err != nil {
				return err
			}
			continue
		}
		for _, d := range p.Events {
			if isWanted(d, wanted) {
				describeEvent(w, p, d)
			}
		}
	}
	return nil
}

func anyEvent(providers []*etw.Provider, wanted []filter.Glob) bool {
	for _, p := range providers {
		for _, d := range p.Events {
			if isWanted(d, wanted) {
				return true
			}
		}
	}
	return false
}

func isWanted(d *etw.EventDesc, wanted []filter.Glob) bool {
	for _, g := range wanted {
		if g.Match(d.Title()) || g.Match(strconv.Itoa(int(d.ID))) {
			return true
		}
	}
	return len(wanted) == 0
}

// eventTable prints one line for each event of p.
func eventTable(w io.Writer, p *etw.Provider) error {
	fmt.Fprintf(w, "%s {%s}\n", p.Desc.Name, p.Desc.GUID)
	t := newTable(">ID", ">VER", "EVENT", "LEVEL", "TASK/OPCODE", "KEYWORDS", "FIELDS")
	for _, d := range p.Events {
		var fields []string
		for i := range d.Fields {
			fields = append(fields, d.Fields[i].Name)
		}
		t.add(
			strconv.Itoa(int(d.ID)), strconv.Itoa(int(d.Version)), d.Title(), levelName(p, d.Level),
			taskAndOpcode(d), strings.Join(keywordNames(p, d.Keywords), ","), strings.Join(fields, " "),
		)
	}
	return t.write(w)
}

// taskAndOpcode returns the names of those that d has.
func taskAndOpcode(d *etw.EventDesc) string {
	if d.OpcodeName == "" {
		return d.TaskName
	}
	return d.TaskName + "/" + d.OpcodeName
}

// describeEvent prints everything that is known of an event.
func describeEvent(w io.Writer, p *etw.Provider, d *etw.EventDesc) {
	fmt.Fprintf(w, "%s: event %d, version %d, of %s\n", d.Title(), d.ID, d.Version, p.Desc.Name)
	fmt.Fprintf(w, "  level %s", levelName(p, d.Level))
	if d.TaskName != "" {
		fmt.Fprintf(w, ", task %s", d.TaskName)
	}
	if d.OpcodeName != "" {
		fmt.Fprintf(w, ", opcode %s", d.OpcodeName)
	}
	fmt.Fprintf(w, ", keywords 0x%x", d.Keywords)
	if names := keywordNames(p, d.Keywords); len(names) > 0 {
		fmt.Fprintf(w, " %s", strings.Join(names, ","))
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
		fmt.Fprintf(w, "%s%s %s\n", indent, f.Name, fieldType(f, scopes))
		if f.Map != nil {
			for _, e := range f.Map.Entries {
				form := "%s  %d = %s\n"
				if f.Map.Flags {
					form = "%s  0x%x = %s\n"
				}
				fmt.Fprintf(w, form, indent, e.Value, e.Name)
			}
		}
		describeFields(w, f.Fields, scopes, indent+"  ")
	}
}

var inTypeNames = map[etw.InType]string{
	etw.InUnicodeString: "UnicodeString", etw.InAnsiString: "AnsiString", etw.InInt8: "Int8", etw.InUInt8: "UInt8",
	etw.InInt16: "Int16", etw.InUInt16: "UInt16", etw.InInt32: "Int32", etw.InUInt32: "UInt32", etw.InInt64: "Int64",
	etw.InUInt64: "UInt64", etw.InFloat: "Float", etw.InDouble: "Double", etw.InBoolean: "Boolean", etw.InBinary: "Binary",
	etw.InGUID: "GUID", etw.InPointer: "Pointer", etw.InFileTime: "FILETIME", etw.InSystemTime: "SYSTEMTIME", etw.InSID: "SID",
	etw.InHexInt32: "HexInt32", etw.InHexInt64: "HexInt64", etw.InStruct: "struct",
	etw.InCountedUnicodeString: "CountedUnicodeString", etw.InCountedAnsiString: "CountedAnsiString", etw.InCountedBinary: "CountedBinary",
}

// fieldType returns the type of a field as a manifest would have it.
func fieldType(f *etw.FieldDesc, scopes [][]etw.FieldDesc) string {
	text := inTypeNames[f.Type]
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

func levelName(p *etw.Provider, level uint8) string {
	for _, l := range p.Levels {
		if l.Value == level {
			return l.Name
		}
	}
	if 0 < level && int(level) < len(levelNames) {
		return levelNames[level]
	}
	return strconv.Itoa(int(level))
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

// An eventRow is what events --json prints of an event.
type eventRow struct {
	Provider string     `json:"provider"`
	GUID     etw.GUID   `json:"guid"`
	ID       uint16     `json:"id"`
	Version  uint8      `json:"version"`
	Event    string     `json:"event"`
	Level    uint8      `json:"level"`
	Task     string     `json:"task"`
	Opcode   string     `json:"opcode"`
	Mask     string     `json:"mask"`
	Keywords []string   `json:"keywords"`
	Fields   []fieldRow `json:"fields"`
}

// A fieldRow is what events --json prints of a field.
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
		row := fieldRow{Name: f.Name, Type: inTypeNames[f.Type]}
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

func eventsJSON(w io.Writer, providers []*etw.Provider, wanted []filter.Glob) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, p := range providers {
		for _, d := range p.Events {
			if !isWanted(d, wanted) {
				continue
			}
			err := enc.Encode(eventRow{
				Provider: p.Desc.Name, GUID: p.Desc.GUID, ID: d.ID, Version: d.Version, Event: d.Title(), Level: d.Level,
				Task: d.TaskName, Opcode: d.OpcodeName, Mask: "0x" + strconv.FormatUint(d.Keywords, 16),
				Keywords: keywordNames(p, d.Keywords), Fields: fieldRows(d.Fields, nil),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

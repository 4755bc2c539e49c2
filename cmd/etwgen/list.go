package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/spf13/cobra"
)

// newList returns the command that lists events.
func newList() *cobra.Command {
	var opts manifest.Options
	var provider string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags] FILE",
		Short: "List the events of a manifest",
		Long: `List prints one line for each event of a manifest, in the order of the file. A
FILE of - is the standard input.

The size is that of the payload in bytes: 18, or 6+ if it varies and 6 is the
least, or 22+/26+ if it is another one with pointers of 8 bytes than of 4.

With --json it prints a document with a schema and rows, an object for each event,
in one line, with the keys that etw events --json has, and three more. The keys id, version and level have
numbers; provider, guid, event, task, opcode, mask, template, size32 and size64
have strings, empty for parts that an event lacks; keywords has an array of
strings; fields has an array of objects with the keys name and type, and where
there is something to say outType, count, length, map and fields. A count or
length is a number, the name of a field, or * for the rest of the payload; the
type of a struct is struct, and its members are in fields. Where --lenient does
not know the layout, there is a last field of type opaque.`,
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := sound(cmd, args[0], opts)
			if err != nil {
				return err
			}
			providers := r.manifest.Providers
			if provider != "" {
				p, err := gen.Select(r.manifest, providerName(provider))
				if err != nil {
					return &exitError{exitUsage, err}
				}
				providers = []*manifest.Provider{p}
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			if asJSON {
				err = listJSON(out, providers)
			} else {
				err = listText(out, providers)
			}
			if err != nil {
				return err
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVar(&opts.Lenient, "lenient", false, "accept dumps of registered providers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&provider, "provider", "", "list only the provider of this `name`, symbol, GUID or number (1 is the first)")
	return cmd
}

// An eventRow is the form of an event in list --json. The keys are those of etw events
// --json, as far as that has them.
type eventRow struct {
	Provider string     `json:"provider"`
	GUID     string     `json:"guid"`
	ID       uint32     `json:"id"`
	Version  uint8      `json:"version"`
	Event    string     `json:"event"`
	Level    uint8      `json:"level"`
	Task     string     `json:"task"`
	Opcode   string     `json:"opcode"`
	Mask     string     `json:"mask"`
	Keywords []string   `json:"keywords"`
	Template string     `json:"template"`
	Size32   string     `json:"size32"`
	Size64   string     `json:"size64"`
	Fields   []fieldRow `json:"fields"`
}

// A fieldRow is the form of a field in list --json.
type fieldRow struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"`
	OutType string     `json:"outType,omitempty"`
	Count   string     `json:"count,omitempty"`
	Length  string     `json:"length,omitempty"`
	Map     string     `json:"map,omitempty"`
	Fields  []fieldRow `json:"fields,omitempty"`
}

// makeRow describes an event.
func makeRow(p *manifest.Provider, e *manifest.Event) eventRow {
	row := eventRow{
		Provider: p.Name,
		GUID:     p.GUID.String(),
		ID:       e.ID,
		Version:  e.Version,
		Mask:     "0x" + strconv.FormatUint(e.Mask(), 16),
		Keywords: []string{},
		Size32:   size(e.Template, 4),
		Size64:   size(e.Template, 8),
		Fields:   []fieldRow{},
	}
	if e.Level != nil {
		row.Level = uint8(e.Level.Value)
	}
	if e.Task != nil {
		row.Task = e.Task.Name
	}
	if e.Opcode != nil {
		row.Opcode = withoutPrefix(e.Opcode.Name)
	}
	row.Event = etw.EventName(e.Symbol, row.Task, row.Opcode, e.Kind(), uint16(e.ID))
	for _, k := range e.Keywords {
		row.Keywords = append(row.Keywords, k.Name)
	}
	if e.Template != nil {
		row.Template = e.Template.ID
		row.Fields = fieldRows(e.Template.Fields)
	}
	return row
}

// withoutPrefix returns a name without the prefix of those that Windows defines.
func withoutPrefix(name string) string { return strings.TrimPrefix(name, "win:") }

// size returns the size of a payload as people read it.
func size(t *manifest.Template, ptr etw.PtrSize) string {
	n, fixed := t.Size(ptr)
	if fixed {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + "+"
}

func fieldRows(fields []*manifest.Field) []fieldRow {
	rows := make([]fieldRow, 0, len(fields))
	for _, f := range fields {
		row := fieldRow{
			Name:    f.Name,
			Type:    withoutPrefix(manifest.TypeName(f.Type)),
			OutType: f.OutType.String(),
			Count:   sizeName(f.Count),
			Length:  sizeName(f.Length),
			Fields:  fieldRows(f.Fields),
		}
		if f.Map != nil {
			row.Map = f.Map.Name
		}
		rows = append(rows, row)
	}
	return rows
}

// sizeName returns a count or a length as a manifest has it.
func sizeName(s manifest.Size) string {
	switch s.Kind {
	case etw.SizeConst:
		return strconv.Itoa(int(s.Const))
	case etw.SizeField:
		return s.Field.Name
	case etw.SizeRest:
		return "*"
	}
	return ""
}

// listJSON prints one line for each event.
func listJSON(w *bufio.Writer, providers []*manifest.Provider) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	before := `{"schema":1,"rows":[` + "\n"
	for _, p := range providers {
		for _, e := range p.Events {
			line.Reset()
			if err := enc.Encode(makeRow(p, e)); err != nil {
				return err
			}
			w.WriteString(before)
			w.Write(command.AppendSafeJSON(nil, bytes.TrimSuffix(line.Bytes(), []byte("\n"))))
			before = ",\n"
		}
	}
	if before != ",\n" { // no event
		w.WriteString(before)
	}
	_, err := w.WriteString("\n]}\n") // the writer keeps the first error
	return err
}

// listText prints a table.
func listText(w io.Writer, providers []*manifest.Provider) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "PROVIDER\tGUID\tID\tVERSION\tEVENT\tLEVEL\tTASK\tOPCODE\tKEYWORDS\tMASK\tTEMPLATE\tSIZE")
	for _, p := range providers {
		for _, e := range p.Events {
			r := makeRow(p, e)
			size := r.Size32
			if r.Size64 != size {
				size += "/" + r.Size64
			}
			level := ""
			if e.Level != nil {
				level = withoutPrefix(e.Level.Name)
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				cell(r.Provider), r.GUID, r.ID, r.Version, cell(r.Event), cell(level), cell(r.Task), cell(r.Opcode),
				cell(strings.Join(r.Keywords, " ")), r.Mask, cell(r.Template), size)
		}
	}
	return t.Flush()
}

// cell returns the text of a cell: an empty one is visible, and none is a command to
// the terminal.
func cell(s string) string {
	if s == "" {
		return "-"
	}
	return command.Clean(s)
}

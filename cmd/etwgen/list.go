package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
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

With --json it prints one array of objects. The keys id and version have
numbers; provider, guid, symbol, level, task, opcode, mask, template, size32 and
size64 have strings, empty for what an event does not have; keywords has an
array of strings; fields has an array of objects with the keys name, inType,
outType, map, count and length, all strings, and fields. A count or length is a
number, the name of a field, or * for the rest of the payload; the inType of a
struct is empty, and its members are in fields. Where --lenient does not know
the layout, there is a last field with the inType opaque.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := readManifest(cmd, args[0], opts)
			if err != nil {
				return err
			}
			providers := m.Providers
			if provider != "" {
				p, err := gen.Select(m, provider)
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
	cmd.Flags().BoolVar(&opts.Lenient, "lenient", false, "accept what dumps of registered providers contain")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&provider, "provider", "", "list only the provider of this `name`, symbol, GUID or number (#1)")
	return cmd
}

// An eventRow is what list --json prints of an event.
type eventRow struct {
	Provider string     `json:"provider"`
	GUID     string     `json:"guid"`
	ID       uint32     `json:"id"`
	Version  uint8      `json:"version"`
	Symbol   string     `json:"symbol"`
	Level    string     `json:"level"`
	Task     string     `json:"task"`
	Opcode   string     `json:"opcode"`
	Keywords []string   `json:"keywords"`
	Mask     string     `json:"mask"`
	Template string     `json:"template"`
	Size32   string     `json:"size32"`
	Size64   string     `json:"size64"`
	Fields   []fieldRow `json:"fields"`
}

// A fieldRow is what list --json prints of a field.
type fieldRow struct {
	Name    string     `json:"name"`
	InType  string     `json:"inType"`
	OutType string     `json:"outType"`
	Map     string     `json:"map"`
	Count   string     `json:"count"`
	Length  string     `json:"length"`
	Fields  []fieldRow `json:"fields"`
}

// makeRow describes an event.
func makeRow(p *manifest.Provider, e *manifest.Event) eventRow {
	row := eventRow{
		Provider: p.Name,
		GUID:     p.GUID.String(),
		ID:       e.ID,
		Version:  e.Version,
		Symbol:   e.Symbol,
		Keywords: []string{},
		Mask:     "0x" + strconv.FormatUint(e.Mask(), 16),
		Size32:   size(e.Template, 4),
		Size64:   size(e.Template, 8),
		Fields:   []fieldRow{},
	}
	if e.Level != nil {
		row.Level = e.Level.Name
	}
	if e.Task != nil {
		row.Task = e.Task.Name
	}
	if e.Opcode != nil {
		row.Opcode = e.Opcode.Name
	}
	for _, k := range e.Keywords {
		row.Keywords = append(row.Keywords, k.Name)
	}
	if e.Template != nil {
		row.Template = e.Template.ID
		row.Fields = fieldRows(e.Template.Fields)
	}
	return row
}

// size returns the size of a payload as people read it.
func size(t *manifest.Template, ptrSize int) string {
	n, fixed := t.Size(ptrSize)
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
			OutType: f.OutType.String(),
			Count:   sizeName(f.Count),
			Length:  sizeName(f.Length),
			Fields:  fieldRows(f.Fields),
		}
		if f.Type != manifest.Struct {
			row.InType = f.Type.String()
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
	case manifest.ConstSize:
		return strconv.Itoa(int(s.Const))
	case manifest.FieldSize:
		return s.Field.Name
	case manifest.RestSize:
		return "*"
	}
	return ""
}

// listJSON prints an array with one line for each event.
func listJSON(w io.Writer, providers []*manifest.Provider) error {
	before := "[\n"
	for _, p := range providers {
		for _, e := range p.Events {
			line, err := json.Marshal(makeRow(p, e))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s%s", before, line); err != nil {
				return err
			}
			before = ",\n"
		}
	}
	if before == "[\n" {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// listText prints a table.
func listText(w io.Writer, providers []*manifest.Provider) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "PROVIDER\tGUID\tID\tVERSION\tSYMBOL\tLEVEL\tTASK\tOPCODE\tKEYWORDS\tMASK\tTEMPLATE\tSIZE")
	for _, p := range providers {
		for _, e := range p.Events {
			r := makeRow(p, e)
			size := r.Size32
			if r.Size64 != size {
				size += "/" + r.Size64
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				r.Provider, r.GUID, r.ID, r.Version, dash(r.Symbol), dash(r.Level), dash(r.Task), dash(r.Opcode),
				dash(strings.Join(r.Keywords, " ")), r.Mask, dash(r.Template), size)
		}
	}
	return t.Flush()
}

// dash makes an empty cell visible.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

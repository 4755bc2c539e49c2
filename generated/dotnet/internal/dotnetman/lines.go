package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/dotnet/internal/table"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// lines returns the lines of the table that a provider comes to.
func lines(p *manifest.Provider, pkg string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "source %s %s %s", p.Name, p.GUID, pkg)
	if p.SelfDescribing {
		b.WriteString(" self-describing")
	}
	b.WriteString("\n")
	for _, k := range p.Keywords {
		if k.Mask&etw.SessionKeywords == 0 {
			fmt.Fprintf(&b, "keyword %s %#x\n", k.Name, k.Mask)
		}
	}
	for _, o := range p.Opcodes {
		fmt.Fprintf(&b, "opcode %s %d\n", o.Name, o.Value)
	}
	for _, t := range p.Tasks {
		if !ofOneEvent(p, t) {
			fmt.Fprintf(&b, "task %s %d\n", t.Name, t.Value)
		}
	}
	for _, m := range p.Maps {
		kind := "map"
		if m.Flags {
			kind = "bits"
		}
		fmt.Fprintf(&b, "%s %s", kind, m.Name)
		for _, e := range m.Entries {
			fmt.Fprintf(&b, " %s=%s", number(m, e.Value), cmp.Or(e.Message, e.Symbol))
		}
		b.WriteString("\n")
	}
	events := slices.Clone(p.Events)
	slices.SortStableFunc(events, func(a, b *manifest.Event) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	for _, e := range events {
		if e.ID != 0 {
			b.WriteString(eventLine(p, e))
		}
	}
	b.WriteString("\n")
	return b.Bytes()
}

// ofOneEvent reports whether .NET made a task because an event has none.
func ofOneEvent(p *manifest.Provider, t *manifest.Task) bool {
	return slices.ContainsFunc(p.Events, func(e *manifest.Event) bool {
		return uint32(t.Value) == 65534-e.ID && strings.HasPrefix(e.Symbol, t.Name)
	})
}

// number returns a value as people write it.
func number(m *manifest.Map, v uint32) string {
	if m.Flags {
		return fmt.Sprintf("%#x", v)
	}
	return fmt.Sprint(int32(v))
}

// eventLine returns the line of an event.
func eventLine(p *manifest.Provider, e *manifest.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", e.ID)
	if e.Version != 0 {
		fmt.Fprintf(&b, ".%d", e.Version)
	}
	fmt.Fprintf(&b, " %s", e.Symbol)
	if e.Level != nil && e.Level.Value != etw.LevelInformational {
		fmt.Fprintf(&b, " %s", table.Levels[e.Level.Value])
	}
	for _, k := range e.Keywords {
		fmt.Fprintf(&b, " +%s", k.Name)
	}
	if e.Task == nil {
		b.WriteString(" @")
	} else if !ofOneEvent(p, e.Task) {
		fmt.Fprintf(&b, " @%s", e.Task.Name)
	}
	opcode, inferred := "Info", "Info"
	if e.Opcode != nil {
		opcode = strings.TrimPrefix(e.Opcode.Name, "win:")
	}
	for _, end := range []string{"Start", "Stop"} {
		if strings.HasSuffix(e.Symbol, end) {
			inferred = end
		}
	}
	if opcode != inferred {
		fmt.Fprintf(&b, " /%s", opcode)
	}
	if e.Template != nil {
		b.WriteString(fieldsText(e.Template.Fields))
	}
	return b.String() + "\n"
}

// fieldsText returns fields without those that hold the length of others.
func fieldsText(fields []*manifest.Field) string {
	var b strings.Builder
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].Length.Field == f {
			continue
		}
		typ := "?" + f.Type.String()
		for short, name := range table.Types {
			if name == f.Type.String() || f.Type == etw.InBool8 && short == "bool" || f.Type == etw.InCountedBinary && short == "bytes" {
				typ = short
			}
		}
		if f.Map != nil {
			typ = f.Map.Name
		}
		fmt.Fprintf(&b, " %s:%s", f.Name, typ)
	}
	return b.String()
}

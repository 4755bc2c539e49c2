package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/dotnet/internal/table"
)

const head = `<?xml version="1.0" encoding="utf-8"?>
<!-- Made by dotnetman of what generated/dotnet knows of this source; the texts are ours. DO NOT EDIT. -->
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"
    xmlns:etwgen="https://github.com/etwgen/etwgen/manifest">
<instrumentation>
<events>
`

// A writer makes a manifest.
type writer struct {
	bytes.Buffer
	*table.Source
	strings []string // ids and texts
}

// xmlOf returns the manifest of a source.
func xmlOf(s *table.Source) []byte {
	w := &writer{Source: s}
	w.WriteString(head)
	describing := ""
	if s.SelfDescribing {
		describing = "self-describing"
	}
	w.line("<provider%s%s%s resourceFileName=\"dotnet\" messageFileName=\"dotnet\"%s%s>", attr("name", s.Name), attr("guid", "{"+s.GUID+"}"),
		attr("symbol", strings.NewReplacer(".", "_", "-", "").Replace(s.Name)), attr("etwgen:events", describing), attr("etwgen:doc", s.Doc))
	w.values("keyword", "mask", s.Keywords)
	w.values("opcode", "value", s.Opcodes)
	w.values("task", "value", tasks(s))
	w.maps()
	w.line(" <templates>")
	for i := range s.Events {
		if e := &s.Events[i]; len(e.Fields) > 0 {
			w.line("  <template%s>", attr("tid", e.Name+"Args"))
			w.fields("   ", e.Fields)
			w.line("  </template>")
		}
	}
	w.line(" </templates>")
	w.line(" <events>")
	for i := range s.Events {
		w.event(&s.Events[i])
	}
	w.line(" </events>\n</provider>\n</events>\n</instrumentation>")
	if len(w.strings) > 0 {
		w.line("<localization>\n<resources culture=\"en-US\">\n <stringTable>")
		for i := 0; i < len(w.strings); i += 2 {
			w.line("  <string%s%s/>", attr("id", w.strings[i]), attr("value", w.strings[i+1]))
		}
		w.line(" </stringTable>\n</resources>\n</localization>")
	}
	w.line("</instrumentationManifest>")
	return w.Bytes()
}

// line writes a line.
func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

// attr returns an attribute with a space in front, or nothing if it is empty.
func attr(name, value string) string {
	if value == "" {
		return ""
	}
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(value)); err != nil {
		panic(err)
	}
	return fmt.Sprintf(" %s=\"%s\"", name, b.String())
}

// values writes declarations of names of numbers.
func (w *writer) values(element, attribute string, list []table.Value) {
	if len(list) == 0 {
		return
	}
	w.line(" <%ss>", element)
	for _, v := range list {
		number := fmt.Sprint(v.Value)
		if attribute == "mask" {
			number = fmt.Sprintf("0x%x", v.Value)
		}
		w.line("  <%s%s%s%s/>", element, attr("name", v.Name), attr(attribute, number), attr("etwgen:doc", v.Doc))
	}
	w.line(" </%ss>", element)
}

// tasks returns the tasks of events.
func tasks(s *table.Source) []table.Value {
	list := slices.Clone(s.Tasks)
	for _, e := range s.Events {
		if e.Task.Name != "" && !slices.ContainsFunc(list, func(v table.Value) bool { return v.Value == e.Task.Value }) {
			list = append(list, e.Task)
		}
	}
	return list
}

func (w *writer) maps() {
	if len(w.Maps) == 0 {
		return
	}
	w.line(" <maps>")
	for _, m := range w.Maps {
		element := "valueMap"
		if m.Bits {
			element = "bitMap"
		}
		w.line("  <%s%s%s%s>", element, attr("name", m.Name), attr("etwgen:name", goName(w.Package, m.Name)), attr("etwgen:doc", m.Doc))
		for _, v := range m.Values {
			id := "map_" + m.Name + "." + v.Name
			w.strings = append(w.strings, id, v.Name)
			w.line("   <map%s%s/>", attr("value", fmt.Sprintf("0x%x", v.Value)), attr("message", "$(string."+id+")"))
		}
		w.line("  </%s>", element)
	}
	w.line(" </maps>")
}

// fields writes fields. Two of manifests come before others: the length of binary
// data, and the number of structs.
func (w *writer) fields(indent string, list []table.Field) {
	for _, f := range list {
		switch {
		case len(f.Fields) > 0:
			count := ""
			if f.Counted {
				count = f.Name + "Count"
				w.line("%s<data%s inType=\"win:UInt16\"/>", indent, attr("name", count))
			}
			w.line("%s<struct%s%s%s>", indent, attr("name", f.Name), attr("count", count), attr("etwgen:doc", f.Doc))
			w.fields(indent+" ", f.Fields)
			w.line("%s</struct>", indent)
		case f.Type == "bytes":
			w.line("%s<data%s inType=\"win:UInt32\"/>", indent, attr("name", f.Name+"Size"))
			w.line("%s<data%s inType=\"win:Binary\"%s%s/>", indent, attr("name", f.Name), attr("length", f.Name+"Size"), attr("etwgen:doc", f.Doc))
		case table.Types[f.Type] != "":
			w.line("%s<data%s%s%s/>", indent, attr("name", f.Name), attr("inType", table.Types[f.Type]), attr("etwgen:doc", f.Doc))
		default:
			w.line("%s<data%s inType=\"win:UInt32\"%s%s/>", indent, attr("name", f.Name), attr("map", f.Type), attr("etwgen:doc", f.Doc))
		}
	}
}

func (w *writer) event(e *table.Event) {
	opcode := e.Opcode.Name
	if e.Opcode.Value == 0 {
		opcode = ""
	} else if slices.Contains(table.Opcodes, e.Opcode) {
		opcode = "win:" + opcode
	}
	var keywords []string
	for _, k := range e.Keywords {
		keywords = append(keywords, k.Name)
	}
	template := ""
	if len(e.Fields) > 0 {
		template = e.Name + "Args"
	}
	w.line("  <event%s%s%s%s%s%s%s%s%s%s/>", attr("value", fmt.Sprint(e.ID)), attr("version", fmt.Sprint(e.Version)), attr("symbol", e.Name),
		attr("level", "win:"+table.Levels[e.Level]), attr("task", e.Task.Name), attr("opcode", opcode), attr("keywords", strings.Join(keywords, " ")),
		attr("template", template), attr("etwgen:name", goName(w.Package, e.Name)), attr("etwgen:doc", e.Doc))
}

// goName returns the Go name of an event or a map whose own name begins with that of its
// package, which Go names do not repeat, or "" if it does not.
func goName(pkg, name string) string {
	if len(name) <= len(pkg) || !strings.EqualFold(name[:len(pkg)], pkg) {
		return ""
	}
	rest := strings.ReplaceAll(name[len(pkg):], "_", "")
	if rest == "" || rest[0] < 'A' || rest[0] > 'Z' {
		return ""
	}
	return rest
}

// overridesOf returns the file beside the manifest that says which events write
// something else, or nil if none does.
func overridesOf(s *table.Source) []byte {
	var b bytes.Buffer
	for _, e := range s.Events {
		if !e.Wrong {
			continue
		}
		fmt.Fprintf(&b, "%s %s", s.Name, e.Name)
		if len(e.Written) == 0 {
			b.WriteString(" none")
		}
		for i, f := range e.Written {
			if i < len(e.Fields) && e.Fields[i].Name == f.Name && e.Fields[i].Type == f.Type {
				fmt.Fprintf(&b, " %s", f.Name)
			} else {
				fmt.Fprintf(&b, " %s=%s", f.Name, table.Types[f.Type])
			}
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return nil
	}
	return append([]byte("# Made by dotnetman: C# widens arguments, or the code forgets them. DO NOT EDIT.\n"), b.Bytes()...)
}

package main

import (
	"bytes"
	"fmt"
	"strings"
)

const head = `<?xml version="1.0" encoding="utf-8"?>
<!--
  The classic events of the Windows kernel, and those that tools add when they
  merge traces: one provider with a task for each class.

  internal/kernelman makes this file from tables of facts; the texts are ours.
  A template's fields carry their documentation for all events that share it.
-->
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"
    xmlns:xs="http://www.w3.org/2001/XMLSchema"
    xmlns:etwgen="https://github.com/etwgen/etwgen/manifest">
  <instrumentation>
    <events>
      <provider name="Windows Kernel" guid="{9e814aad-3204-11d2-9a82-006008a86939}" symbol="WINDOWS_KERNEL"
          resourceFileName="kernel" messageFileName="kernel" etwgen:name="kernel" etwgen:events="classic"
          etwgen:doc="What the Windows kernel logs: processes, threads, images, disks, files, memory, network, samples
          and stacks.">
`

const tail = `    </events>
  </instrumentation>
  <localization>
    <resources culture="en-US">
      <stringTable>
%s      </stringTable>
    </resources>
  </localization>
</instrumentationManifest>
`

// A writer writes lines.
type writer struct{ bytes.Buffer }

func (w *writer) line(indent int, format string, args ...any) {
	fmt.Fprintf(w, "%*s%s\n", indent, "", fmt.Sprintf(format, args...))
}

// manifest returns the manifest.
func (k *kernel) manifest() []byte {
	w := &writer{}
	w.WriteString(head)
	k.writeKeywords(w)
	k.writeTasks(w)
	k.writeMaps(w)
	k.writeTemplates(w)
	k.writeEvents(w)
	w.line(6, "</provider>")
	table := &writer{}
	for i := 0; i < len(k.strings); i += 2 {
		table.line(8, "<string%s%s/>", attribute("id", k.strings[i]), attribute("value", k.strings[i+1]))
	}
	fmt.Fprintf(w, tail, table.String())
	return w.Bytes()
}

// key names an opcode by its number.
func (o *opcode) key() string { return fmt.Sprintf("%s/%d", o.task.name, o.value) }

// writeKeywords writes the EnableFlags as keywords: a session has them instead.
func (k *kernel) writeKeywords(w *writer) {
	w.line(8, "<keywords>")
	for _, f := range k.flags {
		if f.enables() {
			short := title(strings.TrimPrefix(f.name, enablePrefix))
			w.line(10, "<keyword%s%s%s%s/>", attribute("name", f.name), attribute("mask", fmt.Sprintf("0x%x", f.value)),
				attribute("etwgen:name", "Keyword"+short), attribute("etwgen:doc", k.docs.of("flag "+short)))
		}
	}
	w.line(8, "</keywords>")
}

func (k *kernel) writeTasks(w *writer) {
	w.line(8, "<tasks>")
	for i, t := range k.tasks {
		doc := k.docs.of(t.name)
		open := attribute("name", t.name) + attribute("value", fmt.Sprint(i+1)) + attribute("eventGUID", "{"+t.guid+"}") + attribute("etwgen:doc", doc)
		if len(t.opcodes) == 0 {
			w.line(10, "<task%s/>", open)
			continue
		}
		w.line(10, "<task%s>", open)
		w.line(12, "<opcodes>")
		for _, o := range t.opcodes {
			w.line(14, "<opcode%s%s%s/>", attribute("name", o.name), attribute("value", fmt.Sprint(o.value)), attribute("etwgen:name", "Opcode"+o.goName()))
		}
		w.line(12, "</opcodes>")
		w.line(10, "</task>")
	}
	w.line(8, "</tasks>")
}

func (k *kernel) writeMaps(w *writer) {
	w.line(8, "<maps>")
	for _, m := range k.maps {
		tag := "valueMap"
		if m.bits {
			tag = "bitMap"
		}
		w.line(10, "<%s%s%s>", tag, attribute("name", m.name), attribute("etwgen:doc", k.docs.of("map "+m.name)))
		for _, e := range m.entries {
			value := fmt.Sprint(e.value)
			if m.bits {
				value = fmt.Sprintf("0x%x", e.value)
			}
			id := m.name + "." + word(e.name)
			w.line(12, "<map%s%s%s/>", attribute("value", value), attribute("message", "$(string."+id+")"), attribute("etwgen:name", m.constant(e)))
			k.strings = append(k.strings, id, e.name)
		}
		w.line(10, "</%s>", tag)
	}
	w.line(8, "</maps>")
}

func (k *kernel) writeTemplates(w *writer) {
	w.line(8, "<templates>")
	for _, l := range k.layouts {
		if len(l.fields) == 0 {
			continue
		}
		w.line(10, "<template%s>", attribute("tid", l.name))
		for _, c := range l.fields {
			if c.typ != "struct" {
				w.line(12, "<data%s/>", k.attributes(l, "", c))
				continue
			}
			count := attribute("count", c.count)
			if c.count == "rest" {
				count = ` etwgen:count="*"`
			}
			w.line(12, "<struct%s%s%s>", attribute("name", c.name), count, attribute("etwgen:doc", k.docs.of(l.name+"."+c.name, l.task+"."+c.name, "*."+c.name)))
			for _, m := range c.members {
				w.line(14, "<data%s/>", k.attributes(l, c.name+".", m))
			}
			w.line(12, "</struct>")
		}
		w.line(10, "</template>")
	}
	w.line(8, "</templates>")
}

func (k *kernel) writeEvents(w *writer) {
	fields := make(map[string]bool)
	for _, l := range k.layouts {
		fields[l.name] = len(l.fields) > 0
	}
	w.line(8, "<events>")
	for _, t := range k.tasks {
		for _, o := range t.opcodes {
			for _, v := range o.versions {
				template := ""
				if fields[v.layout] {
					template = v.layout
				}
				w.line(10, "<event%s%s%s%s%s%s%s%s/>", attribute("value", fmt.Sprint(o.value)), attribute("version", fmt.Sprint(v.number)),
					attribute("task", t.name), attribute("opcode", o.name), attribute("keywords", o.keywords()), attribute("template", template),
					attribute("etwgen:name", fmt.Sprintf("%sV%d", o.goName(), v.number)), attribute("etwgen:doc", k.eventDoc(o, v)))
			}
		}
	}
	w.line(8, "</events>")
}

// keywords returns the EnableFlags that turn an event on.
func (o *opcode) keywords() string {
	var list []string
	for _, f := range o.flags {
		if strings.HasPrefix(f, enablePrefix) {
			list = append(list, f)
		}
	}
	return strings.Join(list, " ")
}

// eventDoc describes an event, the flag that turns it on, and whether a trace has shown that
// the layout is right.
func (k *kernel) eventDoc(o *opcode, v version) string {
	var text []string
	if doc := k.docs.of(o.task.name + "/" + o.name); doc != "" {
		text = append(text, doc)
	}
	if len(o.flags) > 0 && o.keywords() == "" {
		text = append(text, "Logged with "+strings.Join(o.flags, " or ")+" of the group masks.")
	}
	if o.stack != "" {
		text = append(text, "xperf's name for stacks of it is "+o.stack+".")
	}
	if !v.verified {
		text = append(text, "The layout is that of descriptions; no trace with the event was at hand.")
	}
	return strings.Join(text, " ")
}

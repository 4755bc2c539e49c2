package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A provider is one that the harness makes up.
type provider struct {
	name   string
	maps   []mapping
	events []event
	// more are attributes and elements that only matter for names.
	attrs    string
	elements string
}

// An event is one version of an event.
type event struct {
	id      int
	version int
	symbol  string
	more    string // further attributes
	fields  []field
}

// A mapping names values.
type mapping struct {
	name    string
	flags   bool
	entries []entry
}

type entry struct {
	value uint32
	name  string // the message that is shown
}

// A field is a value of a payload, or a struct of them.
type field struct {
	name   string
	in     string // without win:
	out    string // with its prefix, "" for the default
	mapped *mapping
	length size
	count  size
	fields []field // of a struct
}

// A size is a count or a length: none, a constant, or the value of a field.
type size struct {
	n  int
	of string
}

func (s size) given() bool { return s.n > 0 || s.of != "" }

func (s size) String() string {
	if s.of != "" {
		return s.of
	}
	return strconv.Itoa(s.n)
}

const manifestHead = `<?xml version="1.0" encoding="utf-8"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<events>
`

// manifest writes p as a manifest.
func (p *provider) manifest() []byte {
	var b strings.Builder
	b.WriteString(manifestHead)
	fmt.Fprintf(&b, "<provider name=%s guid=\"{0e1d9b5a-93a3-4c8e-8f0e-1c6f3c2d7a12}\" resourceFileName=\"x.dll\" messageFileName=\"x.dll\"%s>\n", quoted(p.name), p.attrs)
	b.WriteString(p.elements)
	b.WriteString("<maps>\n")
	for i := range p.maps {
		p.maps[i].write(&b)
	}
	b.WriteString("</maps>\n<templates>\n")
	for i := range p.events {
		fmt.Fprintf(&b, "<template tid=\"T%d\">\n", i)
		writeFields(&b, p.events[i].fields)
		b.WriteString("</template>\n")
	}
	b.WriteString("</templates>\n<events>\n")
	for i, e := range p.events {
		fmt.Fprintf(&b, "<event value=\"%d\" version=\"%d\" symbol=%s template=\"T%d\"%s/>\n", e.id, e.version, quoted(e.symbol), i, e.more)
	}
	b.WriteString("</events>\n</provider>\n</events>\n</instrumentation>\n</instrumentationManifest>\n")
	return []byte(b.String())
}

func (m *mapping) write(b *strings.Builder) {
	kind := "valueMap"
	if m.flags {
		kind = "bitMap"
	}
	fmt.Fprintf(b, "<%s name=%s>", kind, quoted(m.name))
	for _, e := range m.entries {
		fmt.Fprintf(b, "<map value=\"%d\" message=%s/>", e.value, quoted(e.name))
	}
	fmt.Fprintf(b, "</%s>\n", kind)
}

func writeFields(b *strings.Builder, fields []field) {
	for _, f := range fields {
		if f.fields != nil {
			fmt.Fprintf(b, "<struct name=%s%s>\n", quoted(f.name), attribute("count", f.count))
			writeFields(b, f.fields)
			b.WriteString("</struct>\n")
			continue
		}
		fmt.Fprintf(b, "<data name=%s inType=\"win:%s\"", quoted(f.name), f.in)
		if f.out != "" {
			fmt.Fprintf(b, " outType=\"%s\"", f.out)
		}
		if f.mapped != nil {
			fmt.Fprintf(b, " map=%s", quoted(f.mapped.name))
		}
		fmt.Fprintf(b, "%s%s/>\n", attribute("length", f.length), attribute("count", f.count))
	}
}

func attribute(name string, s size) string {
	if !s.given() {
		return ""
	}
	return fmt.Sprintf(" %s=%s", name, quoted(s.String()))
}

// quoted returns s as the value of an attribute.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '<' || c == '&' || c == '"' || c < ' ':
			fmt.Fprintf(&b, "&#%d;", c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

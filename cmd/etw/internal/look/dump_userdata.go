package look

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An xmlPart is a piece of the form in which a manifest shows an event: markup, and the
// field behind it.
type xmlPart struct {
	before, open, close string // the last two are the tags of an element that has nothing but the field
	field               int    // -1 if there is none
}

// formOf returns the form of an event, which may stand in another description of it than
// that by which it is decoded: types of events have none.
func (w *xmlWriter) formOf(desc *etw.EventDesc) string {
	for _, p := range w.known {
		if desc.UserData != "" || desc.Provider == nil || p.Desc.GUID != desc.Provider.GUID {
			continue
		}
		for _, e := range p.Events {
			if e.UserData != "" && e.Key() == desc.Key() && len(e.Fields) == len(desc.Fields) {
				return e.UserData
			}
		}
	}
	return desc.UserData
}

// xmlForm returns the parts of a form, nil if the event has the common one.
func xmlForm(desc *etw.EventDesc, form string) (parts []xmlPart) {
	rest, from := form, 0
	for {
		i := strings.IndexByte(rest[from:], '%')
		if i < 0 {
			break
		}
		i += from
		from = i + 1
		n := 0
		for from < len(rest) && '0' <= rest[from] && rest[from] <= '9' && n <= len(desc.Fields) {
			n = 10*n + int(rest[from]-'0')
			from++
		}
		if n < 1 || n > len(desc.Fields) {
			continue // it is text
		}
		p := xmlPart{before: rest[:i], field: n - 1}
		rest, from = rest[from:], 0
		if strings.HasSuffix(p.before, ">") && strings.HasPrefix(rest, "</") {
			tag, end := strings.LastIndexByte(p.before, '<'), strings.IndexByte(rest, '>')+1
			p.before, p.open, p.close, rest = p.before[:tag], p.before[tag:], rest[:end], rest[end:]
		}
		parts = append(parts, p)
	}
	if rest != "" {
		parts = append(parts, xmlPart{before: rest, field: -1})
	}
	return parts
}

// userData appends an event in the form of its manifest. An element that has nothing but an
// array is there once for each of its values.
func (w *xmlWriter) userData(b []byte, values etw.Described, p *xmlPlan) []byte {
	b = append(b, "\t<UserData>\n\t\t"...)
	for i := range p.form {
		part := &p.form[i]
		b = append(b, part.before...)
		if part.field < 0 {
			continue
		}
		d, v := &p.desc.Fields[part.field], values.FieldValue(part.field)
		if v.Kind() == etw.ValueArray && part.open != "" {
			for elem := range v.Elements() {
				b = append(w.plain(append(b, part.open...), d, elem), part.close...)
			}
			continue
		}
		b = append(b, part.open...)
		if v.Kind() != etw.ValueNone {
			b = w.plain(b, d, v)
		}
		b = append(b, part.close...)
	}
	return append(b, "\n\t</UserData>\n"...)
}

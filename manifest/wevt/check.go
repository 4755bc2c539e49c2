package wevt

import (
	"fmt"
	"math"
	"unicode/utf16"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// check finds parts without a binary form.
func (e *encoder) check(m *manifest.Manifest) {
	if len(m.Providers) > maxProviders {
		e.refuse(m.Providers[maxProviders].Pos, "a resource holds at most %d providers; put the others into a manifest of their own", maxProviders)
	}
	for _, p := range m.Providers {
		if p.Classic {
			e.refuse(p.Pos, "provider %q has classic events, which no resource describes", p.Name)
			continue
		}
		declared := make(map[any]bool)
		for _, t := range p.Tasks {
			declared[t] = true
			for _, o := range t.Opcodes {
				declared[o] = true
			}
		}
		for _, o := range p.Opcodes {
			declared[o] = true
		}
		for _, l := range p.Levels {
			declared[l] = true
		}
		for _, ev := range p.Events {
			e.checkEvent(ev, declared)
		}
		for _, t := range p.Templates {
			e.checkFields(t.Fields)
			e.checkWidths(t)
		}
	}
}

func (e *encoder) refuse(at manifest.Pos, format string, args ...any) {
	e.errors = append(e.errors, &manifest.Error{Pos: at, Msg: fmt.Sprintf(format, args...)})
}

// checkEvent finds references of an event that only lenient mode accepts.
func (e *encoder) checkEvent(ev *manifest.Event, declared map[any]bool) {
	switch {
	case ev.Undispatched != "":
		e.refuse(ev.Pos, "event %d cannot be compiled: %s", ev.ID, ev.Undispatched)
	case ev.TraceName != "":
		e.refuse(ev.Pos, "event %q has a name in place of an id, for which a resource has no place", ev.TraceName)
	case ev.Overridden != nil:
		e.refuse(ev.Pos, "event %d writes other fields than its template declares, for which a resource has no place", ev.ID)
	case ev.Task != nil && !declared[ev.Task] && !isStandard(ev.Task.Name):
		e.refuse(ev.Pos, "event %d has task %q, which is not declared", ev.ID, ev.Task.Name)
	case ev.Opcode != nil && !declared[ev.Opcode] && !isStandard(ev.Opcode.Name):
		e.refuse(ev.Pos, "event %d has opcode %q, which is not declared", ev.ID, ev.Opcode.Name)
	case ev.Level != nil && !declared[ev.Level] && !isStandard(ev.Level.Name):
		e.refuse(ev.Pos, "event %d has level %q, which is not declared", ev.ID, ev.Level.Name)
	}
}

// checkFields finds fields that only etwgen understands.
func (e *encoder) checkFields(fields []*manifest.Field) {
	for _, f := range fields {
		switch {
		case f.Type == manifest.Opaque:
			e.refuse(f.Pos, "the layout is unknown from field %q on: %s", f.Name, f.Opaque)
		case f.Type > etw.InCountedBinary && f.Type != etw.InStruct:
			e.refuse(f.Pos, "field %q has type %s, for which Windows has no number in a resource", f.Name, f.Type)
		case f.When != etw.When{}:
			e.refuse(f.Pos, "field %q has an etwgen:when, for which a resource has no place", f.Name)
		case f.Count.Kind == etw.SizeRest:
			e.refuse(f.Pos, "field %q has etwgen:count=\"*\", for which a resource has no place", f.Name)
		case f.Length.Kind == etw.SizeRest:
			e.refuse(f.Pos, "field %q takes the rest of the payload, for which a resource has no place", f.Name)
		}
		e.checkFields(f.Fields)
	}
}

// checkWidths finds parts longer than the numbers of a resource can say: fields of a
// template, and its layout for display.
func (e *encoder) checkWidths(t *manifest.Template) {
	if n := len(flatten(t)); n > math.MaxUint16 {
		e.refuse(t.Pos, "template %q has %d fields; a resource has room for %d", t.ID, n, math.MaxUint16)
	}
	for _, f := range t.Fields {
		e.checkText(f.Pos, f.Name)
	}
	for _, el := range t.UserData {
		e.checkElement(t.Pos, el)
	}
}

func (e *encoder) checkElement(at manifest.Pos, el *manifest.Element) {
	e.checkText(at, el.Name)
	e.checkText(at, el.Text)
	for _, a := range el.Attrs {
		e.checkText(at, a.Name)
		e.checkText(at, a.Value)
	}
	for _, c := range el.Children {
		e.checkElement(at, c)
	}
}

func (e *encoder) checkText(at manifest.Pos, s string) {
	if len(s) <= math.MaxUint16 {
		return
	}
	if n := len(utf16.Encode([]rune(s))); n > math.MaxUint16 {
		e.refuse(at, "%.20q... has %d characters; a resource has room for %d", s, n, math.MaxUint16)
	}
}

package rewrite

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A plan knows which fields are to be redacted, by their names.
type plan struct {
	names  []string
	met    map[string]bool // names of which there are fields
	fields map[*etw.EventDesc]map[*etw.FieldDesc]bool
}

func newPlan(names []string) plan {
	return plan{names, make(map[string]bool), make(map[*etw.EventDesc]map[*etw.FieldDesc]bool)}
}

// of returns the fields of an event that are to be redacted, none of them a struct. It
// is an error if one of them says how much there is of another: without it nothing
// behind it could be read.
func (p *plan) of(desc *etw.EventDesc) (map[*etw.FieldDesc]bool, error) {
	if fields, ok := p.fields[desc]; ok {
		return fields, nil
	}
	m := fieldMarker{plan: p, measured: make(map[*etw.FieldDesc]*etw.FieldDesc), marked: make(map[*etw.FieldDesc]bool)}
	m.measure([][]etw.FieldDesc{desc.Fields})
	if err := m.mark(desc, desc.Fields, nil, false); err != nil {
		return nil, err
	}
	p.fields[desc] = m.marked
	return m.marked, nil
}

// takes reports whether one of some names is that of a field to be redacted.
func (p *plan) takes(names []string) bool {
	taken := false
	for _, name := range names {
		taken = p.named([]string{name}) || taken
	}
	return taken
}

// named reports whether a field is to be redacted for its name. Trail has those of the
// structs that it is in, and then its own.
func (p *plan) named(trail []string) bool {
	named := false
	for _, name := range p.names {
		for i := range trail {
			if strings.EqualFold(name, strings.Join(trail[i:], ".")) {
				p.met[name], named = true, true
			}
		}
	}
	return named
}

// Unmatched returns the names of fields that no event has: none that was redacted, and
// none of some others that the trace has. Among are all events that were searched.
func (x *Redactor) Unmatched(others []*etw.EventDesc) (names []string, among []*etw.EventDesc) {
	p := &x.plan
	for _, desc := range others {
		_, _ = p.of(desc) // an error, that a field must stay, does not matter there
	}
	for desc := range p.fields {
		among = append(among, desc)
	}
	for _, name := range p.names {
		if !p.met[name] && len(among) > 0 {
			names = append(names, name)
		}
	}
	return names, among
}

// A fieldMarker finds the fields of one event that are to be redacted.
type fieldMarker struct {
	plan     *plan
	measured map[*etw.FieldDesc]*etw.FieldDesc // by the field that says how much there is
	marked   map[*etw.FieldDesc]bool
}

// measure notes which fields say how much there is of others. Scopes are the fields of
// the event, of a struct in it, and so on.
func (m *fieldMarker) measure(scopes [][]etw.FieldDesc) {
	fields := scopes[len(scopes)-1]
	for i := range fields {
		f := &fields[i]
		for _, size := range []etw.Size{f.Count, f.Length} {
			at := len(scopes) - 1 - int(size.Up)
			if size.Kind == etw.SizeField && at >= 0 && int(size.N) < len(scopes[at]) {
				m.measured[&scopes[at][size.N]] = f
			}
		}
		if f.Type == etw.InStruct {
			m.measure(append(scopes[:len(scopes):len(scopes)], f.Fields))
		}
	}
}

// mark marks the fields to be redacted, and all in structs that are. In these, counts and
// lengths of other fields stay.
func (m *fieldMarker) mark(desc *etw.EventDesc, fields []etw.FieldDesc, trail []string, within bool) error {
	for i := range fields {
		f := &fields[i]
		path := append(trail[:len(trail):len(trail)], f.Name)
		named := m.plan.named(path)
		of := m.measured[f]
		switch {
		case f.Type == etw.InStruct:
			if err := m.mark(desc, f.Fields, path, within || named); err != nil {
				return err
			}
		case named && of != nil:
			return fmt.Errorf("%s: in events %s this field says how much there is of %s, which nobody could read without it; redact that one", f.Name, desc.Name, of.Name)
		case named || within && of == nil:
			m.marked[f] = true
		}
	}
	return nil
}

package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An UnknownField is the error for a field that no event has.
type UnknownField struct {
	Name  string
	Known []string // names that there are, sorted
}

// Error says that no event has the field.
func (e *UnknownField) Error() string { return fmt.Sprintf("no event has a field %q", e.Name) }

// Check reports whether one of the events has the field that w names, of a type
// that can be compared with its value.
func (w *Where) Check(descs []*etw.EventDesc) error {
	fields := FindField(descs, w.path)
	if len(fields) == 0 {
		return &UnknownField{strings.Join(w.path, "."), FieldNames(descs)}
	}
	var trouble error
	for _, f := range fields {
		if trouble = w.suits(f); trouble == nil {
			return nil
		}
	}
	return trouble
}

// FindField returns all fields of that path, one name or several with dots in
// between.
func FindField(descs []*etw.EventDesc, path []string) []*etw.FieldDesc {
	var found []*etw.FieldDesc
	for _, d := range descs {
		found = append(found, findIn(d.Fields, path)...)
	}
	return found
}

func findIn(fields []etw.FieldDesc, path []string) []*etw.FieldDesc {
	var found []*etw.FieldDesc
	for i := range fields {
		f := &fields[i]
		switch {
		case !strings.EqualFold(f.Name, path[0]):
		case len(path) == 1:
			found = append(found, f)
		default:
			found = append(found, findIn(f.Fields, path[1:])...)
		}
	}
	return found
}

// FieldNames returns the names of the fields of events, and of the members of
// those that are structs, sorted.
func FieldNames(descs []*etw.EventDesc) []string {
	var names []string
	var add func(prefix string, fields []etw.FieldDesc)
	add = func(prefix string, fields []etw.FieldDesc) {
		for i := range fields {
			if fields[i].Name != "" {
				names = append(names, prefix+fields[i].Name)
				add(prefix+fields[i].Name+".", fields[i].Fields)
			}
		}
	}
	for _, d := range descs {
		add("", d.Fields)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// suits reports whether values of the field d compare with the value of w.
func (w *Where) suits(d *etw.FieldDesc) error {
	name := strings.Join(w.path, ".")
	switch {
	case d.Type == etw.InStruct:
		return fmt.Errorf("%s is a struct: name one of its members, such as %s.%s", name, name, firstName(d.Fields))
	case w.value.pattern != nil:
		return nil
	}
	switch Class(d) {
	case ClassNumber:
		return w.suitsNumber(d, name)
	case ClassGUID:
		if w.value.guid == nil {
			return fmt.Errorf("%s is a GUID, and %q is not one", name, w.text)
		}
	case ClassTime:
		if w.value.time == nil {
			return fmt.Errorf("%s is a time, and %q is not one such as 2024-05-01T10:00:00Z", name, w.text)
		}
	}
	return nil
}

func firstName(fields []etw.FieldDesc) string {
	if len(fields) == 0 {
		return "Member"
	}
	return fields[0].Name
}

// suitsNumber reports whether w compares with a number or a stand-in for one.
func (w *Where) suitsNumber(d *etw.FieldDesc, name string) error {
	if w.value.isNumber {
		return nil
	}
	if ordered := w.op != "=" && w.op != "!="; ordered {
		return fmt.Errorf("%s is a number, and %q is not one", name, w.text)
	}
	switch {
	case d.Map != nil:
		for part := range strings.SplitSeq(w.text, "|") {
			known := func(e etw.MapEntry) bool { return strings.EqualFold(e.Name, strings.TrimSpace(part)) }
			if _, isNumber := parseNumber(part); !isNumber && !slices.ContainsFunc(d.Map.Entries, known) {
				return fmt.Errorf("%s has no value called %q; there are %s", name, part, entryNames(d.Map))
			}
		}
		return nil
	case d.Out == etw.OutIPv4, d.Out == etw.OutString:
		return nil
	case d.Out == etw.OutBoolean || d.Type == etw.InBoolean || d.Type == etw.InBool8:
		if strings.EqualFold(w.text, "true") || strings.EqualFold(w.text, "false") {
			return nil
		}
		return fmt.Errorf("%s is true or false, and not %q", name, w.text)
	}
	return fmt.Errorf("%s is a number, and %q is not one", name, w.text)
}

func entryNames(m *etw.MapDesc) string {
	var names []string
	for _, e := range m.Entries {
		if names = append(names, e.Name); len(names) == 20 && len(m.Entries) > 20 {
			names = append(names, fmt.Sprintf("%d more", len(m.Entries)-20))
			break
		}
	}
	return strings.Join(names, ", ")
}

// A TypeClass says how the values of a field compare.
type TypeClass uint8

// The classes of types.
const (
	ClassText TypeClass = iota
	ClassNumber
	ClassGUID
	ClassTime
)

// Class returns how the values of field d compare.
func Class(d *etw.FieldDesc) TypeClass {
	switch d.Type {
	case etw.InGUID:
		return ClassGUID
	case etw.InFileTime:
		return ClassTime
	case etw.InInt8, etw.InUInt8, etw.InInt16, etw.InUInt16, etw.InInt32, etw.InUInt32, etw.InInt64, etw.InUInt64,
		etw.InFloat, etw.InDouble, etw.InBoolean, etw.InPointer, etw.InHexInt32, etw.InHexInt64, etw.InVarInt, etw.InVarUint, etw.InBool8:
		return ClassNumber
	}
	return ClassText
}

// Package dyn reads events that are described by the trace itself, such as those of
// an EventSource, by the names of their fields.
package dyn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Reader decodes records one at a time. The zero Reader is ready for use.
type Reader struct {
	dynamic etw.Dynamic
}

// Read decodes a record, and reports whether any of it could be.
func (d *Reader) Read(r *etw.Record) bool { return r.Schema != nil && d.ReadAs(r.Schema, r) }

// ReadAs is Read for a record that has a certain layout, whatever the trace says.
func (d *Reader) ReadAs(desc *etw.EventDesc, r *etw.Record) bool {
	_, err := d.dynamic.DecodeLoose(desc, r.Payload, r.PointerSize)
	return err == nil || len(desc.Fields) > 0 && d.dynamic.FieldValue(0).Kind() != etw.ValueNone
}

// Value returns a field, or none.
func (d *Reader) Value(name string) etw.Value {
	v, _ := d.dynamic.Field(name)
	return v
}

// Member returns the member of a struct, or none.
func Member(v etw.Value, name string) etw.Value {
	desc := v.Desc()
	if v.Kind() != etw.ValueStruct || desc == nil {
		return etw.Value{}
	}
	for i, m := range v.Members() {
		if desc.Fields[i].Name == name {
			return m
		}
	}
	return etw.Value{}
}

// First returns the value of the first field, or none.
func (d *Reader) First() etw.Value {
	if len(d.dynamic.EventDesc().Fields) == 0 {
		return etw.Value{}
	}
	return d.dynamic.FieldValue(0)
}

// FirstText returns the name and the value of the first field of text, or nothing.
func (d *Reader) FirstText() (name, text string) {
	for name, v := range d.dynamic.Fields() {
		if v.Kind() == etw.ValueUTF16 || v.Kind() == etw.ValueANSI {
			return name, v.Text()
		}
	}
	return "", ""
}

// AnyText returns the first of the names, in any case, that a field of text has, and its value.
func (d *Reader) AnyText(names []string) (name, text string) {
	best := len(names)
	for field, v := range d.dynamic.Fields() {
		if v.Kind() != etw.ValueUTF16 && v.Kind() != etw.ValueANSI {
			continue
		}
		i := slices.IndexFunc(names[:best], func(name string) bool { return strings.EqualFold(name, field) })
		if i >= 0 {
			best, name, text = i, names[i], v.Text()
		}
	}
	return name, text
}

// AnyFloat returns the number of the first of the names, in any case, that a field has; or unknown.
func (d *Reader) AnyFloat(names []string) (n measure.Float) {
	best := len(names)
	for field, v := range d.dynamic.Fields() {
		i := slices.IndexFunc(names[:best], func(name string) bool { return strings.EqualFold(name, field) })
		if x := Float(v); i >= 0 && !x.IsZero() {
			best, n = i, x
		}
	}
	return n
}

// Text returns a field as text, or "".
func (d *Reader) Text(name string) string { return d.Value(name).Text() }

// Float returns a number, or one that text says in the manner of .NET's invariant
// culture, or unknown.
func (d *Reader) Float(name string) measure.Float { return Float(d.Value(name)) }

// Float returns a value as a number, or unknown.
func Float(v etw.Value) measure.Float {
	switch v.Kind() {
	case etw.ValueInt:
		return measure.Known(float64(v.Int()))
	case etw.ValueUint, etw.ValuePointer:
		return measure.Known(float64(v.Uint()))
	case etw.ValueFloat:
		return measure.Known(v.Float())
	case etw.ValueFloat32: // as the digits that it is written with
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return measure.Known(f)
	case etw.ValueUTF16, etw.ValueANSI:
		if f, err := strconv.ParseFloat(v.Text(), 64); err == nil {
			return measure.Known(f)
		}
	}
	return measure.Float{}
}

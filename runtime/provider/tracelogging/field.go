package tracelogging

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A field is one of a struct that is written.
type field struct {
	desc    etw.FieldDesc
	in, out byte // as TraceLogging numbers them
	shape   shape
	count   int // of a fixed array
	members []field
	offset  uintptr
	encode  encode
}

// A shape says how often a field has a value.
type shape uint8

const (
	oneOf shape = iota
	fixed       // an array
	slice
)

// maxDepth bounds how deep structs lie in each other, as those who read them do.
const maxDepth = 16

// structFields returns the fields of a struct that are written. It lies in the structs
// of outer.
func structFields(t reflect.Type, outer []reflect.Type) ([]field, error) {
	if len(outer) == maxDepth || slices.Contains(outer, t) {
		return nil, fmt.Errorf("%v lies in itself, or too deep in others", t)
	}
	outer = append(outer, t)
	list := []field{}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("etw")
		name, style, _ := strings.Cut(tag, ",")
		if name == "-" && style == "" {
			continue
		}
		if sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct && !isScalar(sf.Type) {
			inner, err := structFields(sf.Type, outer)
			if err != nil {
				return nil, fmt.Errorf("%s.%w", sf.Name, err)
			}
			for _, f := range inner {
				f.offset += sf.Offset
				list = append(list, f)
			}
			continue
		}
		if !sf.IsExported() {
			continue
		}
		name = cmp.Or(name, sf.Name)
		f, err := newField(sf.Type, style, outer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sf.Name, err)
		}
		f.desc.Name, f.offset = name, sf.Offset
		list = append(list, f)
	}
	return list, nil
}

// newField returns a field of a type that is written in a style.
func newField(t reflect.Type, style string, outer []reflect.Type) (field, error) {
	if f, err := single(t, style, outer); err == nil || !isList(t) {
		return f, err
	}
	f, err := single(t.Elem(), style, outer)
	switch {
	case err != nil:
		return f, err
	case f.in == inBinary:
		return f, fmt.Errorf("a list of %v cannot be written", t.Elem())
	}
	size, one := t.Elem().Size(), f.encode
	if t.Kind() == reflect.Slice {
		f.shape, f.encode = slice, encodeSlice(size, one)
		f.desc.Count = etw.Size{Kind: etw.SizePrefix}
		return f, nil
	}
	if f.count = t.Len(); f.count == 0 || f.count > math.MaxUint16 {
		return f, fmt.Errorf("an array of %d elements cannot be written", f.count)
	}
	f.shape, f.encode = fixed, encodeArray(f.count, size, one)
	f.desc.Count = etw.Size{Kind: etw.SizeConst, N: uint32(f.count)}
	return f, nil
}

// isList reports whether t is a slice or an array.
func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

// single returns a field of one value.
func single(t reflect.Type, style string, outer []reflect.Type) (field, error) {
	if s, ok := scalars[t]; ok {
		return s.field(style)
	}
	if s, ok := kinds[t.Kind()]; ok {
		return s.field(style)
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return binaryScalar.field(style)
	case t.Kind() != reflect.Struct:
		return field{}, fmt.Errorf("a %v cannot be written", t)
	case style != "":
		return field{}, fmt.Errorf("a %v cannot be written as %q", t, style)
	}
	members, err := structFields(t, outer)
	if err != nil {
		return field{}, err
	}
	if len(members) == 0 {
		return field{}, fmt.Errorf("%v has no fields to write", t)
	}
	f := field{in: inStruct, members: members, encode: inOrder(members), desc: etw.FieldDesc{Type: etw.InStruct}}
	for _, m := range members {
		f.desc.Fields = append(f.desc.Fields, m.desc)
	}
	return f, nil
}

// isScalar reports whether a struct is written as one value.
func isScalar(t reflect.Type) bool {
	_, ok := scalars[t]
	return ok
}

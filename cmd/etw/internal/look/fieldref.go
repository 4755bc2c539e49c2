package look

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A fieldRef finds the values of a field by its name, in events of any kind.
type fieldRef struct {
	path  []string
	known []fieldPlace // by the index of the event
}

// A fieldPlace is where events of one kind have the field.
type fieldPlace struct {
	desc  *etw.EventDesc
	at    int // in the fields, or -1
	ptr   etw.PtrSize
	fixed frames.FixedNumber // for that size of pointers
}

func newFieldRef(name string) *fieldRef { return &fieldRef{path: strings.Split(name, ".")} }

// check checks that some event has the field.
func (f *fieldRef) check(descs []*etw.EventDesc) error {
	if len(filter.FindField(descs, f.path)) > 0 {
		return nil
	}
	return &filter.UnknownField{Name: strings.Join(f.path, "."), Known: filter.FieldNames(descs)}
}

// place returns where an event has the field, or for a longer path that which it
// begins with. It is nil if the event has none.
func (f *fieldRef) place(s *pick.Shot) *fieldPlace {
	if s.Values == nil {
		return nil
	}
	for s.Event.Index >= len(f.known) {
		f.known = append(f.known, fieldPlace{})
	}
	p := &f.known[s.Event.Index]
	if desc := s.Values.EventDesc(); p.desc != desc || p.ptr != s.PointerSize {
		*p = fieldPlace{desc: desc, ptr: s.PointerSize}
		p.at = slices.IndexFunc(desc.Fields, func(d etw.FieldDesc) bool { return strings.EqualFold(d.Name, f.path[0]) })
		if p.at >= 0 && len(f.path) == 1 {
			p.fixed = frames.FixedNumbers(desc, p.ptr)[p.at]
		}
	}
	if p.at < 0 {
		return nil
	}
	return p
}

// find returns the field of an event, or for a longer path that which it begins
// with. It reports false if the event has none.
func (f *fieldRef) find(s *pick.Shot) (*etw.FieldDesc, etw.Value, bool) {
	p := f.place(s)
	if p == nil {
		return nil, etw.Value{}, false
	}
	v := s.Values.FieldValue(p.at)
	return &p.desc.Fields[p.at], v, v.Kind() != etw.ValueNone
}

// each calls do for each number that the field has: one, or the elements of an
// array.
func (f *fieldRef) each(s *pick.Shot, do func(number)) {
	p := f.place(s)
	if p == nil {
		return
	}
	if n, ok := p.fixed.Load(s); ok {
		do(number{float64(n), n, unsigned})
		return
	}
	d, v, ok := f.find(s)
	if !ok {
		return
	}
	if n, ok := numberOf(v); ok && len(f.path) == 1 {
		do(n)
		return
	}
	eachValue(d, v, f.path[1:], func(_ *etw.FieldDesc, v etw.Value) {
		if n, ok := numberOf(v); ok {
			do(n)
		}
	})
}

// eachValue follows the rest of a path from the value v of field d.
func eachValue(d *etw.FieldDesc, v etw.Value, path []string, do func(*etw.FieldDesc, etw.Value)) {
	switch v.Kind() {
	case etw.ValueArray:
		for elem := range v.Elements() {
			eachValue(d, elem, path, do)
		}
	case etw.ValueStruct:
		for i, m := range v.Members() {
			if len(path) > 0 && strings.EqualFold(d.Fields[i].Name, path[0]) {
				eachValue(&d.Fields[i], m, path[1:], do)
			}
		}
	default:
		if len(path) == 0 {
			do(d, v)
		}
	}
}

// value returns the first number that the field has.
func (f *fieldRef) value(s *pick.Shot) (first number, ok bool) {
	f.each(s, func(n number) {
		if !ok {
			first, ok = n, true
		}
	})
	return first, ok
}

// appendKey appends a key that tells values apart.
func (f *fieldRef) appendKey(b []byte, s *pick.Shot) ([]byte, bool) {
	if p := f.place(s); p != nil {
		if n, ok := p.fixed.Load(s); ok {
			return binary.LittleEndian.AppendUint64(b, n), true
		}
	}
	d, v, ok := f.find(s)
	if !ok {
		return b, false
	}
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint, etw.ValueBool, etw.ValuePointer:
		return binary.LittleEndian.AppendUint64(b, v.Uint()), true
	case etw.ValueFloat, etw.ValueFloat32:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), true
	case etw.ValueUTF16, etw.ValueANSI, etw.ValueBinary, etw.ValueSID:
		p := v.Bytes()
		return append(binary.AppendUvarint(b, uint64(len(p))), p...), true
	}
	mark := len(b)
	b = append(b, f.plain(d, v)...)
	return binary.AppendUvarint(b, uint64(len(b)-mark)), true
}

// text returns the value for people.
func (f *fieldRef) text(s *pick.Shot) string {
	d, v, ok := f.find(s)
	if !ok {
		return ""
	}
	return f.plain(d, v)
}

func (f *fieldRef) plain(d *etw.FieldDesc, v etw.Value) string {
	if len(f.path) == 1 {
		return string(etw.AppendFieldPlain(nil, d, v))
	}
	var parts []string
	eachValue(d, v, f.path[1:], func(d *etw.FieldDesc, v etw.Value) {
		parts = append(parts, string(etw.AppendFieldPlain(nil, d, v)))
	})
	return strings.Join(parts, " ")
}

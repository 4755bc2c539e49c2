package schema

import (
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Widths finds out how wide the numbers of a kind of events are that .NET's EventPipe
// declares. All events of the kind are alike. It must not be used by several goroutines
// at once.
//
// The declarations of numbers by .NET are not always those of its payloads. A bool has one
// code, and 4 bytes in the events of an EventSource with a manifest, 1 in those that
// describe themselves. Methods of an EventSource that pass their arguments to a WriteEvent
// with other parameters write the types of these: small integers and enums in 4 bytes, or
// all integers in 8. No bit tells, but payloads do: fields take exactly all of them, and a
// bool is 0 or 1.
type Widths struct {
	tries int // payloads that fitted in no way
}

// WidthsOf returns the Widths of events that are declared with fields, or nil if all
// widths are certain.
func WidthsOf(fields []etw.FieldDesc) *Widths {
	if mayDiffer(fields) || mayBeLongs(fields) {
		return new(Widths)
	}
	return nil
}

// maxTries is how many payloads are tried, so that a kind of events that fits in no
// way costs no time for ever.
const maxTries = 32

// wideBool is the type that bools of 4 bytes have while they are tried: none of a
// list of fields has it.
const wideBool = etw.InHexInt32

// A retyping replaces types, for all fields of an event.
type retyping func(etw.InType) etw.InType

func boolsAsWide(t etw.InType) etw.InType {
	if t == etw.InBoolean {
		return wideBool
	}
	return t
}

func boolsAsBytes(t etw.InType) etw.InType {
	if t == etw.InBoolean {
		return etw.InBool8
	}
	return t
}

func smallAsInts(t etw.InType) etw.InType {
	switch t {
	case etw.InInt8, etw.InInt16:
		return etw.InInt32
	case etw.InUInt8, etw.InUInt16:
		return etw.InUInt32
	}
	return t
}

func allAsLongs(t etw.InType) etw.InType {
	switch t = smallAsInts(t); t {
	case etw.InInt32:
		return etw.InInt64
	case etw.InUInt32:
		return etw.InUInt64
	}
	return t
}

// mayDiffer reports whether fields have bools or small numbers.
func mayDiffer(fields []etw.FieldDesc) bool {
	return slices.ContainsFunc(fields, func(f etw.FieldDesc) bool {
		return f.Type == etw.InBoolean || smallAsInts(f.Type) != f.Type || WidthsOf(f.Fields) != nil
	})
}

// mayBeLongs reports whether an event is one of few integers. More of them, or texts,
// would fit by accident.
func mayBeLongs(fields []etw.FieldDesc) bool {
	other := func(f etw.FieldDesc) bool {
		t := allAsLongs(f.Type)
		return f.Count.Kind != etw.SizeNone || t != etw.InInt64 && t != etw.InUInt64
	}
	return len(fields) <= 3 && len(fields) > 0 && !slices.ContainsFunc(fields, other)
}

func retyped(fields []etw.FieldDesc, f retyping) []etw.FieldDesc {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Type = f(fields[i].Type)
		if len(fields[i].Fields) > 0 {
			fields[i].Fields = retyped(fields[i].Fields, f)
		}
	}
	return fields
}

// Describe replaces the Schema of r, a declared one, by one with the widths that fit its
// payload. As long as none fits, the declared one stays. Describe reports whether the
// Schema is now that of all events of the kind, so that it need not be asked again.
func (w *Widths) Describe(r *etw.Record) (found bool) {
	w.tries++
	tries := []retyping{boolsAsWide, boolsAsBytes, smallAsInts}
	if mayBeLongs(r.Schema.Fields) {
		tries = append(tries, allAsLongs)
	}
	for i, f := range tries {
		d := *r.Schema
		d.Fields = retyped(d.Fields, f)
		if !fits(&d, r) {
			continue
		}
		if i > 0 {
			r.Schema = &d
		}
		return true
	}
	return w.tries >= maxTries
}

// fits reports whether fields take all of a payload, and wide bools in them are bools.
func fits(d *etw.EventDesc, rec *etw.Record) bool {
	var e etw.Dynamic
	n, err := e.Decode(d, rec.Payload, rec.PointerSize)
	if err != nil || n != len(rec.Payload) {
		return false
	}
	for i := range d.Fields {
		if !validBools(e.FieldValue(i)) {
			return false
		}
	}
	return true
}

// validBools reports whether the wide bools in a value are 0 or 1.
func validBools(v etw.Value) bool {
	switch v.Kind() {
	case etw.ValueStruct:
		for _, m := range v.Members() {
			if !validBools(m) {
				return false
			}
		}
	case etw.ValueArray:
		for m := range v.Elements() {
			if !validBools(m) {
				return false
			}
		}
	default:
		d := v.Desc()
		return d == nil || d.Type != wideBool || v.Uint() <= 1
	}
	return true
}

package otlp

import (
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// fields gives the fields of an event as further attributes. Attributes must not be
// called alike: where fields are, the later ones get a number.
func fields(s Sink, values etw.Described) {
	list := values.EventDesc().Fields
	for i := range list {
		if v := values.FieldValue(i); v.Kind() != etw.ValueNone {
			value(s, keyOf(list, i), &list[i], v)
		}
	}
}

// keyOf returns the key of field i.
func keyOf(fields []etw.FieldDesc, i int) string {
	name := fields[i].Name
	if name == "" {
		return emptyAttribute + strconv.Itoa(i+1)
	}
	for before := range i {
		if fields[before].Name == name {
			return name + "_" + strconv.Itoa(i+1)
		}
	}
	return name
}

// value gives the value of the field d.
func value(s Sink, key string, d *etw.FieldDesc, v etw.Value) {
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint:
		if d.Map != nil { // by its name, or in digits, but always as text
			s.Text(key, string(etw.AppendFieldPlain(nil, d, v)))
			return
		}
		s.Int(key, v.Int())
	case etw.ValuePointer:
		s.Int(key, v.Int())
	case etw.ValueBool:
		s.Bool(key, v.Bool())
	case etw.ValueFloat, etw.ValueFloat32:
		s.Float(key, v.Float())
	case etw.ValueUTF16, etw.ValueANSI:
		s.Text(key, v.Text())
	case etw.ValueBinary:
		s.Bytes(key, v.Bytes())
	case etw.ValueArray:
		s.Array(key)
		for e := range v.Elements() {
			value(s, "", d, e)
		}
		s.End()
	case etw.ValueStruct:
		s.Map(key)
		for i, member := range v.Members() {
			if i < len(d.Fields) && member.Kind() != etw.ValueNone {
				value(s, keyOf(d.Fields, i), &d.Fields[i], member)
			}
		}
		s.End()
	case etw.ValueNone:
		s.None(key)
	default:
		s.Text(key, v.String())
	}
}

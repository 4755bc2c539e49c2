package otlp

import (
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// appendFields appends the fields of an event as further attributes. Attributes must
// not be called alike: where fields are, the later ones get a number.
func appendFields(b []byte, values etw.Described) []byte {
	fields := values.EventDesc().Fields
	for i := range fields {
		v := values.FieldValue(i)
		if v.Kind() == etw.ValueNone {
			continue
		}
		b = append(b, ',')
		b = appendKey(b, keyOf(fields, i))
		b = append(appendValue(b, &fields[i], v), '}')
	}
	return b
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

// appendValue appends the value of the field d.
func appendValue(b []byte, d *etw.FieldDesc, v etw.Value) []byte {
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint:
		if d.Map != nil { // by its name, or in digits, but always as text
			return appendText(b, string(etw.AppendFieldPlain(nil, d, v)))
		}
		return appendInt(b, v.Int())
	case etw.ValuePointer:
		return appendInt(b, v.Int())
	case etw.ValueBool:
		return appendBool(b, v.Bool())
	case etw.ValueFloat, etw.ValueFloat32:
		return appendFloat(b, v.Float())
	case etw.ValueUTF16, etw.ValueANSI:
		return appendText(b, v.Text())
	case etw.ValueBinary:
		return appendBytes(b, v.Bytes())
	case etw.ValueArray:
		return appendArray(b, d, v)
	case etw.ValueStruct:
		return appendStruct(b, d, v)
	case etw.ValueNone:
		return append(b, "{}"...)
	}
	return appendText(b, v.String())
}

func appendArray(b []byte, d *etw.FieldDesc, v etw.Value) []byte {
	b = append(b, `{"arrayValue":{"values":[`...)
	first := true
	for e := range v.Elements() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendValue(b, d, e)
	}
	return append(b, "]}}"...)
}

func appendStruct(b []byte, d *etw.FieldDesc, v etw.Value) []byte {
	b = append(b, `{"kvlistValue":{"values":[`...)
	first := true
	for i, member := range v.Members() {
		if i >= len(d.Fields) || member.Kind() == etw.ValueNone {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendKey(b, keyOf(d.Fields, i))
		b = append(appendValue(b, &d.Fields[i], member), '}')
	}
	return append(b, "]}}"...)
}

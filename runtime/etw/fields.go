package etw

import (
	"iter"
	"log/slog"
)

// Field returns the value of the field of that name, and false if the event has
// none, or is nil. Together with [Value.Any], [Value.Text] and [Value.String] it serves
// programs that know events by name only.
func Field(e Described, name string) (Value, bool) {
	for n, v := range Fields(e) {
		if n == name {
			return v, true
		}
	}
	return Value{}, false
}

// Fields iterates over the names and values of the fields of an event. A field
// without a name is called after its index: field0, field1. Fields that were not
// decoded, or that the payload does not have, are left out. An event that is nil,
// as [Decoder.Decode] returns it where nothing describes a record, has none.
func Fields(e Described) iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if e == nil {
			return
		}
		fields := e.EventDesc().Fields
		for i := range fields {
			v := e.FieldValue(i)
			if v.of(&fields[i]); v.kind != ValueNone && !yield(fieldName(fields, i), v) {
				return
			}
		}
	}
}

// Field returns the value of the field of that name: see [Field].
func (e *Dynamic) Field(name string) (Value, bool) { return Field(e, name) }

// Fields iterates over the names and values of the fields: see [Fields].
func (e *Dynamic) Fields() iter.Seq2[string, Value] { return Fields(e) }

// isText reports whether v is shown as text.
func (v Value) isText() bool {
	return v.kind == ValueUTF16 || v.kind == ValueANSI || v.kind == ValueBinary && v.field().Out.isText()
}

// Text returns a value of text, and "" for other kinds. Bytes are text where the
// event says so.
func (v Value) Text() string {
	if v.isText() {
		return v.String()
	}
	return ""
}

// Any returns v as a value of Go that shares no memory with the payload: int64,
// uint64, float64, float32, bool, string, []byte, [Pointer], [GUID], [FileTime],
// [SystemTime] and, for a SID or a decimal, its text. An array is an []any, a
// struct a map[string]any, and none is nil.
func (v Value) Any() any {
	switch v.kind {
	case ValueInt:
		return v.Int()
	case ValueUint:
		return v.Uint()
	case ValueFloat:
		return v.Float()
	case ValueFloat32:
		return float32(v.Float())
	case ValueBool:
		return v.Bool()
	case ValuePointer:
		if v.field().isQuantity() {
			return v.num
		}
		return Pointer(v.num)
	case ValueGUID:
		return v.GUID()
	case ValueFileTime:
		return v.FileTime()
	case ValueSystemTime:
		return v.SystemTime()
	case ValueBinary:
		if !v.isText() {
			return append([]byte{}, v.p...)
		}
	case ValueArray:
		list := make([]any, 0, v.Len())
		for elem := range v.Elements() {
			list = append(list, elem.Any())
		}
		return list
	case ValueStruct:
		m := make(map[string]any, v.Len())
		for i, member := range v.Members() {
			if member.kind == ValueNone {
				continue
			}
			m[fieldName(v.desc.Fields, i)] = member.Any()
		}
		return m
	case ValueNone:
		return nil
	}
	return v.String()
}

// String returns v as text for people, as [AppendText] shows it, but text that
// stands alone is not quoted. Values that have names are shown by them where v
// knows its field: see [Value.Desc].
func (v Value) String() string { return string(appendPlain(nil, v)) }

// MarshalJSON returns v as [AppendJSON] shows it.
func (v Value) MarshalJSON() ([]byte, error) { return jsonValue(nil, v, EnumNames), nil }

// LogValue returns v as [LogValue] shows it.
func (v Value) LogValue() slog.Value { return logValue(v) }

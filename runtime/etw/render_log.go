package etw

import (
	"log/slog"
	"strconv"
)

// LogValue returns the fields of an event as a group of log attributes, which
// share no memory with the payload.
func LogValue(e Described) slog.Value {
	attrs := make([]slog.Attr, 0, len(e.EventDesc().Fields))
	for name, v := range Fields(e) {
		attrs = append(attrs, slog.Attr{Key: name, Value: logValue(v)})
	}
	return slog.GroupValue(attrs...)
}

func logValue(v Value) slog.Value {
	switch v.kind {
	case ValueStruct:
		attrs := make([]slog.Attr, 0, v.Len())
		for i, m := range v.Members() {
			if m.kind != ValueNone {
				attrs = append(attrs, slog.Attr{Key: fieldName(v.desc.Fields, i), Value: logValue(m)})
			}
		}
		return slog.GroupValue(attrs...)
	case ValueFileTime:
		if t := v.FileTime().Time(); t.Year() >= 0 && t.Year() < 10000 { // which slog can write
			return slog.TimeValue(t)
		}
	case ValueBool:
		return slog.BoolValue(v.num != 0)
	case ValueArray:
		return slog.StringValue(string(appendValue(nil, v)))
	}
	b, form := appendScalar(nil, &v)
	if form == numberForm {
		return logNumber(v.kind, string(b))
	}
	return slog.StringValue(string(b))
}

// logNumber returns the number or Boolean that JSON shows as text.
func logNumber(kind ValueKind, text string) slog.Value {
	if kind == ValueFloat || kind == ValueFloat32 {
		f, _ := strconv.ParseFloat(text, 64)
		return slog.Float64Value(f)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return slog.Int64Value(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return slog.Uint64Value(n)
	}
	return slog.BoolValue(text == "true")
}

package etw

import (
	"log/slog"
)

// LogValue returns the fields of an event as a group of log attributes.
func LogValue(e Described) slog.Value {
	d := e.EventDesc()
	attrs := make([]slog.Attr, 0, len(d.Fields))
	for i := range d.Fields {
		if v := e.FieldValue(i); v.kind != NoValue {
			attrs = append(attrs, slog.Attr{Key: fieldName(d.Fields, i), Value: logValue(&d.Fields[i], v)})
		}
	}
	return slog.GroupValue(attrs...)
}

func logValue(d *FieldDesc, v Value) slog.Value {
	switch v.kind {
	case StructValueKind:
		var attrs []slog.Attr
		for i, m := range v.Members() {
			attrs = append(attrs, slog.Attr{Key: fieldName(d.Fields, i), Value: logValue(&d.Fields[i], m)})
		}
		return slog.GroupValue(attrs...)
	case FileTimeValueKind:
		if t := v.FileTime().Time(); t.Year() < 10000 { // which slog can write
			return slog.TimeValue(t)
		}
	case BoolValueKind:
		return slog.BoolValue(v.num != 0)
	case ArrayValueKind:
		return slog.StringValue(string(textValue(nil, d, v)))
	}
	b, form := appendScalar(nil, d, v)
	if form == numberForm {
		switch {
		case v.kind == IntValueKind && d.Out != OutPort && d.Out != OutBoolean:
			return slog.Int64Value(int64(v.num))
		case v.kind == UintValueKind && d.Out != OutPort && d.Out != OutBoolean:
			return slog.Uint64Value(v.num)
		case v.kind == FloatValueKind || v.kind == Float32ValueKind:
			return slog.Float64Value(v.Float())
		}
	}
	return slog.StringValue(string(b))
}

package etw

import "unicode/utf8"

// An EnumStyle is a form in which JSON shows values that have names.
type EnumStyle uint8

// The forms of named values.
const (
	EnumNames   EnumStyle = iota // "AllocSmall"; a value without a name is a number
	EnumObjects                  // {"value":0,"name":"AllocSmall"}
	EnumNumbers                  // 0
)

// AppendJSON appends the fields of an event as a JSON object, in their order.
// Integers of 64 bits are exact. The result is valid JSON whatever the payload
// held.
func AppendJSON(b []byte, e Described) ([]byte, error) {
	return AppendFieldsJSON(b, e, EnumNames), nil
}

// AppendFieldsJSON is AppendJSON with a choice of how to show named values.
func AppendFieldsJSON(b []byte, e Described, enums EnumStyle) []byte {
	d := e.EventDesc()
	b = append(b, '{')
	first := true
	for i := range d.Fields {
		v := e.FieldValue(i)
		if v.kind == NoValue {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = AppendJSONString(b, fieldName(d.Fields, i))
		b = append(b, ':')
		b = jsonValue(b, &d.Fields[i], v, enums)
	}
	return append(b, '}')
}

// jsonValue appends a value as JSON.
func jsonValue(b []byte, d *FieldDesc, v Value, enums EnumStyle) []byte {
	switch v.kind {
	case NoValue:
		return append(b, "null"...)
	case ArrayValueKind:
		if s, ok := characters(d, v); ok {
			return jsonValue(b, d, s, enums)
		}
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = jsonValue(b, d, elem, enums)
		}
		return append(b, ']')
	case StructValueKind:
		b = append(b, '{')
		for i, m := range v.Members() {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSONString(b, fieldName(d.Fields, i))
			b = append(b, ':')
			b = jsonValue(b, &d.Fields[i], m, enums)
		}
		return append(b, '}')
	case IntValueKind, UintValueKind:
		if d.Map != nil && enums != EnumNames {
			return jsonEnum(b, d, v, enums)
		}
	}
	mark := len(b)
	b = append(b, '"')
	b, form := appendScalar(b, d, v)
	if form == numberForm {
		return append(b[:mark], b[mark+1:]...)
	}
	return closeJSONString(b, mark)
}

// closeJSONString ends the string that b holds, as it is, after the quote at
// mark. Nearly all need no escapes, and so no copy.
func closeJSONString(b []byte, mark int) []byte {
	plain := true
	for _, c := range b[mark+1:] {
		if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			plain = false
			break
		}
	}
	if plain && utf8.Valid(b[mark+1:]) {
		return append(b, '"')
	}
	s := string(b[mark+1:])
	return AppendJSONString(b[:mark], s)
}

// jsonEnum appends a named value in a form other than its name.
func jsonEnum(b []byte, d *FieldDesc, v Value, enums EnumStyle) []byte {
	if enums == EnumNumbers {
		return appendInteger(b, v)
	}
	b = append(b, `{"value":`...)
	b = appendInteger(b, v)
	b = append(b, `,"name":`...)
	mark := len(b)
	b = append(b, '"')
	b, _ = appendNumber(b, d, v)
	return append(closeJSONString(b, mark), '}')
}

// AppendJSONString appends s as a JSON string. What is not valid UTF-8 becomes
// U+FFFD.
func AppendJSONString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n - 1
		}
		i++
	}
	return append(b, '"')
}

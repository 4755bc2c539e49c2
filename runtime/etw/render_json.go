package etw

import (
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
	fields := e.EventDesc().Fields
	b = append(b, '{')
	first := true
	for i := range fields {
		v := e.FieldValue(i)
		if v.kind == ValueNone {
			continue
		}
		v.of(&fields[i])
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(AppendJSONString(b, UniqueName(fields, i)), ':')
		b = jsonValue(b, v, enums)
	}
	return append(b, '}')
}

// AppendFieldJSON appends the value v of the field d as [AppendFieldsJSON] shows
// it.
func AppendFieldJSON(b []byte, d *FieldDesc, v Value, enums EnumStyle) []byte {
	v.of(d)
	return jsonValue(b, v, enums)
}

// jsonValue appends a value as JSON.
func jsonValue(b []byte, v Value, enums EnumStyle) []byte {
	switch v.kind {
	case ValueNone:
		return append(b, "null"...)
	case ValueArray:
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = jsonValue(b, elem, enums)
		}
		return append(b, ']')
	case ValueStruct:
		b = append(b, '{')
		first := true
		for i, m := range v.Members() {
			if m.kind == ValueNone {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(AppendJSONString(b, UniqueName(v.desc.Fields, i)), ':')
			b = jsonValue(b, m, enums)
		}
		return append(b, '}')
	case ValueInt, ValueUint:
		if enums != EnumNames && v.field().Map != nil {
			return jsonEnum(b, &v, enums)
		}
	}
	mark := len(b)
	b = append(b, '"')
	b, form := appendScalar(b, &v)
	if form == numberForm {
		return append(b[:mark], b[mark+1:]...)
	}
	return closeJSONString(b, mark)
}

// UniqueName returns the name of field i for a place where two must not be the
// same, as the keys of an object: the name alone, or with the index if an earlier
// field has it, too. A field without a name is called after its index: field0.
func UniqueName(fields []FieldDesc, i int) string {
	name := fieldName(fields, i)
	if !hasName(fields[:i], name) {
		return name
	}
	name += "_" + strconv.Itoa(i)
	for hasName(fields, name) {
		name += "_"
	}
	return name
}

func hasName(fields []FieldDesc, name string) bool {
	for i := range fields {
		if fields[i].Name == name {
			return true
		}
	}
	return false
}

// closeJSONString ends the string that b holds, as it is, after the quote at
// mark. Nearly all need no escapes, and so no copy.
func closeJSONString(b []byte, mark int) []byte {
	plain := true
	for _, c := range b[mark+1:] {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return append(b, '"')
	}
	s := string(b[mark+1:])
	return AppendJSONString(b[:mark], s)
}

// jsonEnum appends a named value in a form other than its name.
func jsonEnum(b []byte, v *Value, enums EnumStyle) []byte {
	if enums == EnumNumbers {
		return appendInteger(b, v)
	}
	b = append(b, `{"value":`...)
	b = appendInteger(b, v)
	b = append(b, `,"name":`...)
	mark := len(b)
	b = append(b, '"')
	b, _ = appendNumber(b, v)
	return append(closeJSONString(b, mark), '}')
}

// AppendJSONString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD. Characters that
// do not show, among them those that control a terminal or the direction of text, are
// escaped.
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
			if unicode.IsPrint(r) && !unicode.Is(ignorable, r) || r == utf8.RuneError {
				b = utf8.AppendRune(b, r)
			} else {
				b = appendEscaped(b, r)
			}
			i += n - 1
		}
		i++
	}
	return append(b, '"')
}

// ignorable are the characters that are of a visible kind but show nothing.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}},
}

// appendEscaped appends r as one or two escapes of UTF-16.
func appendEscaped(b []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		b = append(b, '\\', 'u')
		b = appendHex(b, uint64(unit), 4)
	}
	return b
}

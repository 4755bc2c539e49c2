package etw

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendText appends an event as a line for people: its name, then its fields
// as [AppendFieldsText] shows them.
func AppendText(b []byte, e Described) []byte {
	b = append(b, e.EventDesc().Title()...)
	name := len(b)
	b = AppendFieldsText(append(b, ' '), e)
	if len(b) == name+1 {
		return b[:name]
	}
	return b
}

// AppendFieldsText appends the fields of an event as name=value, with spaces in
// between. Text is quoted where it would be hard to tell where it ends.
func AppendFieldsText(b []byte, e Described) []byte {
	fields := e.EventDesc().Fields
	first := true
	for i := range fields {
		v := e.FieldValue(i)
		if v.kind == ValueNone {
			continue
		}
		v.of(&fields[i])
		if !first {
			b = append(b, ' ')
		}
		first = false
		b = append(append(b, fieldName(fields, i)...), '=')
		b = appendValue(b, v)
	}
	return b
}

// AppendFieldText appends the value v of the field d as [AppendFieldsText] shows
// it.
func AppendFieldText(b []byte, d *FieldDesc, v Value) []byte {
	v.of(d)
	return appendValue(b, v)
}

// AppendFieldPlain is AppendFieldText, but text that stands alone is not quoted.
func AppendFieldPlain(b []byte, d *FieldDesc, v Value) []byte {
	v.of(d)
	return appendPlain(b, v)
}

// fieldName returns the name of field i. Schemas from traces may lack it.
func fieldName(fields []FieldDesc, i int) string {
	if fields[i].Name != "" {
		return fields[i].Name
	}
	return "field" + strconv.Itoa(i)
}

// appendValue appends a value for people.
func appendValue(b []byte, v Value) []byte {
	switch v.kind {
	case ValueArray:
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ' ')
			}
			first = false
			b = appendValue(b, elem)
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
				b = append(b, ' ')
			}
			first = false
			b = append(append(b, fieldName(v.desc.Fields, i)...), '=')
			b = appendValue(b, m)
		}
		return append(b, '}')
	}
	mark := len(b)
	b, form := appendScalar(b, &v)
	if form == stringForm && !bare(b[mark:]) {
		s := string(b[mark:])
		b = strconv.AppendQuote(b[:mark], s)
	}
	return b
}

// appendPlain is appendValue without quotes around text that stands alone.
func appendPlain(b []byte, v Value) []byte {
	if v.kind == ValueArray || v.kind == ValueStruct {
		return appendValue(b, v)
	}
	b, _ = appendScalar(b, &v)
	return b
}

// bare reports whether s can stand in a line without quotes.
func bare(s []byte) bool {
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRune(s[i:])
		switch {
		case c <= ' ' || c == '"' || c == '=' || c == utf8.RuneError || !unicode.IsPrint(c):
			return false
		case i == 0 && (c == '[' || c == '{'):
			return false
		}
		i += n
	}
	return len(s) > 0
}

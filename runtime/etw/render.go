package etw

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendText appends an event as a line for people: its name, then its fields
// as name=value.
func AppendText(b []byte, e Described) []byte {
	d := e.EventDesc()
	b = append(b, d.Title()...)
	for i := range d.Fields {
		if v := e.FieldValue(i); v.kind != NoValue {
			b = append(b, ' ')
			b = append(b, fieldName(d.Fields, i)...)
			b = append(b, '=')
			b = textValue(b, &d.Fields[i], v)
		}
	}
	return b
}

// AppendFieldText appends the value v of a field as AppendText shows it.
func AppendFieldText(b []byte, d *FieldDesc, v Value) []byte { return textValue(b, d, v) }

// fieldName returns the name of field i. Schemas from traces may lack it.
func fieldName(fields []FieldDesc, i int) string {
	if fields[i].Name != "" {
		return fields[i].Name
	}
	return "field" + strconv.Itoa(i)
}

// textValue appends a value for people.
func textValue(b []byte, d *FieldDesc, v Value) []byte {
	switch v.kind {
	case ArrayValueKind:
		if s, ok := characters(d, v); ok {
			return textValue(b, d, s)
		}
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ' ')
			}
			first = false
			b = textValue(b, d, elem)
		}
		return append(b, ']')
	case StructValueKind:
		b = append(b, '{')
		for i, m := range v.Members() {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(b, fieldName(d.Fields, i)...)
			b = append(b, '=')
			b = textValue(b, &d.Fields[i], m)
		}
		return append(b, '}')
	}
	mark := len(b)
	b, form := appendScalar(b, d, v)
	if form == stringForm && !bare(b[mark:]) {
		s := string(b[mark:])
		b = strconv.AppendQuote(b[:mark], s)
	}
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

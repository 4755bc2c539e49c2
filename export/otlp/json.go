package otlp

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// An Attribute is a name with a string, a bool, an int64 or a float64.
type Attribute struct {
	Key   string
	Value any
}

const hexDigits = "0123456789abcdef"

// appendString appends s as JSON has it. Invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, "\ufffd"...)
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// appendKey begins an attribute, of which the value follows.
func appendKey(b []byte, key string) []byte {
	b = append(b, `{"key":`...)
	b = appendString(b, key)
	return append(b, `,"value":`...)
}

func appendText(b []byte, s string) []byte {
	b = append(b, `{"stringValue":`...)
	return append(appendString(b, s), '}')
}

func appendInt(b []byte, v int64) []byte {
	b = append(b, `{"intValue":"`...)
	return append(strconv.AppendInt(b, v, 10), `"}`...)
}

func appendBool(b []byte, v bool) []byte {
	b = append(b, `{"boolValue":`...)
	return append(strconv.AppendBool(b, v), '}')
}

func appendFloat(b []byte, v float64) []byte {
	b = append(b, `{"doubleValue":`...)
	return append(appendNumber(b, v), '}')
}

// appendNumber appends a number, of which JSON has no infinite ones.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func appendBytes(b, v []byte) []byte {
	b = append(b, `{"bytesValue":"`...)
	return append(base64.StdEncoding.AppendEncode(b, v), `"}`...)
}

// appendAttributes appends a list of attributes.
func appendAttributes(b []byte, list []Attribute) []byte {
	b = append(b, `"attributes":[`...)
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKey(b, a.Key)
		switch v := a.Value.(type) {
		case string:
			b = appendText(b, v)
		case bool:
			b = appendBool(b, v)
		case int64:
			b = appendInt(b, v)
		case float64:
			b = appendFloat(b, v)
		default:
			b = append(b, "{}"...)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendResource appends the source of a list of things.
func appendResource(b []byte, resource []Attribute) []byte {
	b = append(b, `{"resource":{`...)
	b = appendAttributes(b, resource)
	return append(b, '}')
}

// appendHex appends an id as lower-case letters and digits.
func appendHex(b, id []byte) []byte {
	b = append(b, '"')
	for _, c := range id {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(b, '"')
}

// appendNanos appends a time in nanoseconds since 1970, as text.
func appendNanos(b []byte, name string, nanos int64) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":"`...)
	return append(strconv.AppendInt(b, max(nanos, 0), 10), '"')
}

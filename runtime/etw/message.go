package etw

// maxMessage is how long a message may be before no more values are put into it.
const maxMessage = 64 << 10

// AppendMessage appends the message of an event for people, with the values of its fields in the
// places that Windows names %1, %2 and so on: the first field is %1. It appends nothing for an
// event without a message; a place for which there is no field stays as it is. Values beyond
// 64 KiB of a message are left out: messages of hostile manifests may have thousands.
func AppendMessage(b []byte, e Described) []byte {
	d, begin := e.EventDesc(), len(b)
	for text := d.Message; text != ""; {
		if text[0] != '%' || len(text) == 1 {
			b, text = append(b, text[0]), text[1:]
			continue
		}
		n, rest := insert(text[1:])
		switch {
		case n > 0 && n <= len(d.Fields):
			if v := e.FieldValue(n - 1); v.kind != ValueNone && len(b)-begin < maxMessage {
				b = AppendFieldPlain(b, &d.Fields[n-1], v)
			}
			text = rest
		case n > 0:
			b, text = append(b, text[:len(text)-len(rest)]...), rest
		default:
			b, text = appendEscape(b, text[1]), text[2:]
		}
	}
	return b
}

// insert reads the number behind a % and, between exclamation marks, the form of the value, which
// its type says better. It returns 0 where there is no number.
func insert(text string) (n int, rest string) {
	i := 0
	for i < len(text) && i < 2 && text[i] >= '0' && text[i] <= '9' { // 99 is the last
		n, i = 10*n+int(text[i]-'0'), i+1
	}
	rest = text[i:]
	if n > 0 && rest != "" && rest[0] == '!' {
		for j := 1; j < len(rest); j++ {
			if rest[j] == '!' {
				return n, rest[j+1:]
			}
		}
	}
	return n, rest
}

// appendEscape appends the character that a % and another one stand for.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'b':
		return append(b, ' ')
	case '0': // the end of the line, which has no meaning here
		return b
	}
	return append(b, c) // %%, %., %!
}

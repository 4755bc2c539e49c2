package eventsource

import (
	"strconv"
	"strings"
)

// escapes has the escapes of characters in the texts of events.
var escapes = map[byte]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;", '\'': "&apos;", '"': "&quot;",
	'\r': "%r", '\n': "%n", '\t': "%t", '%': "%%",
}

// translate makes a message with inserts of the form {0} one with inserts of the form
// %1, as manifests have them.
func (b *builder) translate(text, event string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '{' || c == '}':
			if i+1 < len(text) && text[i+1] == c {
				out.WriteByte(c)
				i += 2
				continue
			}
			if c == '}' {
				out.WriteByte(c)
				i++
				continue
			}
			end := i + 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			if end == len(text) || text[end] != '}' {
				b.complain(false, "Event %s specifies an illegal or unsupported formatting message (\"%s\").", event, text)
				out.WriteString(text[i:end])
				i = end
				continue
			}
			n, _ := strconv.ParseInt("0"+text[i+1:end], 10, 32)
			out.WriteString("%" + strconv.FormatInt(b.insert(n, event), 10))
			if i = end + 1; i < len(text) && text[i] == '!' {
				out.WriteString("%!")
				i++
			}
		case escapes[c] != "":
			out.WriteString(escapes[c])
			i++
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}

// insert returns the number of the field that an insert means. The sizes of binary
// data are fields of which the message does not know.
func (b *builder) insert(n int64, event string) int64 {
	for _, size := range b.blobs[event] {
		if n < int64(size) {
			break
		}
		n++
	}
	return n + 1
}

package gen

import (
	"strings"
	"unicode"
)

// plainMessage turns a message of a manifest into text: it names the fields
// that inserts stand for and resolves the escapes.
func plainMessage(msg string, fields []*field) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(msg, '%')
		if i < 0 || i+1 == len(msg) {
			b.WriteString(msg)
			break
		}
		b.WriteString(msg[:i])
		msg = msg[i+1:]
		n := 0
		for n < 2 && n < len(msg) && '0' <= msg[n] && msg[n] <= '9' {
			n++
		}
		if n > 0 {
			index := 0
			for _, c := range msg[:n] {
				index = 10*index + int(c-'0')
			}
			msg = withoutFormat(msg[n:])
			if index >= 1 && index <= len(fields) {
				b.WriteString("{" + fields[index-1].goName + "}")
			}
			continue
		}
		switch c := msg[0]; c {
		case 'n', 'r':
			b.WriteByte('\n')
		case 't', 'b':
			b.WriteByte(' ')
		case '%', '.', '!', ' ', '\\':
			b.WriteByte(c)
		default: // no escape, just a percent sign
			b.WriteByte('%')
			continue
		}
		msg = msg[1:]
	}
	return strings.TrimSpace(b.String())
}

// withoutFormat drops the format that may follow the number of an insert, as the
// !08x! of %1!08x!.
func withoutFormat(msg string) string {
	after, ok := strings.CutPrefix(msg, "!")
	if !ok {
		return msg
	}
	format, rest, ok := strings.Cut(after, "!")
	if !ok || strings.ContainsFunc(format, func(c rune) bool { return !isAlnum(c) && !strings.ContainsRune(".#+-", c) }) {
		return msg
	}
	return rest
}

// saysMore reports whether the message of an event says more than the names of
// its fields and the given names do.
func saysMore(msg string, fields []*field, names ...string) bool {
	known := make(map[string]bool)
	for _, f := range fields {
		known[letters(f.m.Name)] = true
		known[letters(f.goName)] = true
	}
	for _, name := range names {
		known[letters(name)] = true
	}
	if known[letters(msg)] || msg == "NONE" {
		return false
	}
	for word := range strings.FieldsFuncSeq(msg, func(c rune) bool {
		return !isAlnum(c) && c != '_'
	}) {
		if !known[letters(word)] {
			return true
		}
	}
	return false
}

// letters returns the letters and digits of s in lower case.
func letters(s string) string {
	return strings.Map(func(c rune) rune {
		if isAlnum(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, s)
}

// joinAnd returns a list as part of a sentence.
func joinAnd(list []string) string { return joinWith(list, "and") }

// joinWith returns a list as part of a sentence, with a word before the last of it.
func joinWith(list []string, word string) string {
	switch n := len(list); n {
	case 1:
		return list[0]
	case 2:
		return list[0] + " " + word + " " + list[1]
	default:
		return strings.Join(list[:n-1], ", ") + ", " + word + " " + list[n-1]
	}
}

// oneLine returns text without line breaks and other control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		// A byte order mark within a file is not Go, and controls of the direction of
		// text would show the code around them in another order.
		return unicode.IsSpace(c) || unicode.IsControl(c) || c == unicode.ReplacementChar || c == '\ufeff' || unicode.Is(unicode.Bidi_Control, c)
	}), " ")
}

package manifest

import (
	"regexp"
	"sync"
)

// Dumps of registered providers have texts as they are, with quotes and less-than signs
// that XML has other words for. Each element of such a dump begins a line and ends one.
var (
	dumpElement   = pattern(`(?ms)^[ \t]*<[A-Za-z][A-Za-z:]*[ \t]+[A-Za-z:]+="(?:.*?")?[ \t]*/?>[ \t]*\r?$`)
	dumpAttribute = pattern(`(?:^[ \t]*<[A-Za-z:]+|")[ \t\r\n]+[A-Za-z:]+="`)
	dumpEnd       = pattern(`"[ \t]*/?>[ \t]*\r?$`)
	entity        = pattern(`^&(?:[a-z]+|#[0-9]+|#x[0-9a-fA-F]+);`)
)

// pattern returns a pattern that is compiled when it is first asked for.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// escapeDump returns data with the values of attributes escaped.
func escapeDump(data []byte) []byte {
	return dumpElement().ReplaceAllFunc(data, func(element []byte) []byte {
		end := dumpEnd().FindIndex(element)
		starts := dumpAttribute().FindAllIndex(element, -1)
		if end == nil || len(starts) == 0 {
			return element
		}
		out := append([]byte(nil), element[:starts[0][1]]...)
		for i, s := range starts {
			until, next := end[0], end[0]
			if i+1 < len(starts) {
				until, next = starts[i+1][0], starts[i+1][1]
			}
			if until < s[1] {
				return element
			}
			out = appendEscaped(out, element[s[1]:until])
			out = append(out, element[until:next]...)
		}
		return append(out, element[end[0]:]...)
	})
}

// appendEscaped appends a value as XML has it, of which parts may be escaped already.
func appendEscaped(out, value []byte) []byte {
	for i, c := range value {
		switch {
		case c == '<':
			out = append(out, "&lt;"...)
		case c == '"':
			out = append(out, "&quot;"...)
		case c == '&' && !entity().Match(value[i:min(len(value), i+maxEntity)]):
			out = append(out, "&amp;"...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// maxEntity is how long an entity is at most.
const maxEntity = 12

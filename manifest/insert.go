package manifest

import "strings"

// checkInserts checks the message of an event: that each %1, %2, ... is a field
// of it, and that there is no % in front of anything else that has no meaning.
func (p *parser) checkInserts(n *node, e *Event, fields int) {
	if p.opts.Lenient || e.Message == "" {
		return
	}
	highest, stray := inserts(e.Message)
	if highest > fields {
		p.doubt(n, "the message of event %d has an insert %%%d, but the event has %s; correct the number", e.ID, highest, plural(fields, "field"))
	}
	if stray == "" {
		return
	}
	// The fault is in the string, which may be the message of many events.
	at := n
	if s, ok := p.strings.byID[e.MessageID]; ok {
		at = s.node
	}
	if !p.strings.checked[at] {
		p.strings.checked[at] = true
		p.doubt(at, "%s in a message has no meaning and is shown as it is; write %%%% for a percent sign", quote(stray))
	}
}

// inserts returns the highest insert of a message, and the first % sequence
// without a meaning.
func inserts(msg string) (highest int, stray string) {
	for {
		i := strings.IndexByte(msg, '%')
		if i < 0 {
			return highest, stray
		}
		msg = msg[i+1:]
		n := 0
		for n < 2 && n < len(msg) && '0' <= msg[n] && msg[n] <= '9' {
			n++
		}
		switch {
		case n > 0:
			v := 0
			for _, c := range msg[:n] {
				v = v*10 + int(c-'0')
			}
			highest = max(highest, v)
			msg = msg[n:]
		case msg == "":
			if stray == "" {
				stray = "%"
			}
		case strings.IndexByte(`%nrtb.! \`, msg[0]) >= 0:
			msg = msg[1:]
		default:
			if stray == "" {
				stray = "%" + firstRune(msg)
			}
		}
	}
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

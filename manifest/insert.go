package manifest

import (
	"strconv"
	"strings"
)

// insertions are the fields that a message inserts.
type insertions struct {
	highest int    // the highest number of a field
	stray   string // the first % in front of what has no meaning
}

// checkInserts checks the message of an event: that each %1, %2, ... is a field
// of it, and that there is no % in front of anything else that has no meaning.
func (p *parser) checkInserts(n *node, e *Event) {
	if p.opts.Lenient || e.Message == "" || e.Template == nil && n.attr("template") != "" {
		return // of a template that is not declared nothing more is to be said
	}
	fields := 0
	if e.Template != nil {
		fields = e.Template.Declared
	}
	// The fault may be in a string, which may be the message of many events.
	at := n
	if s, ok := p.strings.byID[e.MessageID]; ok {
		at = s.node
	}
	found, known := p.strings.inserts[at]
	if !known {
		found = findInsertions(e.Message)
		p.strings.inserts[at] = found
		if found.stray != "" {
			p.doubt(at, "%s in a message has no meaning and is shown as is; write %%%% for a percent sign", quote(found.stray))
		}
	}
	if found.highest > fields {
		p.doubt(n, "the message of event %d inserts %%%d, but the event has %s; correct the number", e.ID, found.highest, plural(fields, "field"))
	}
}

// findInsertions reads a message.
func findInsertions(msg string) insertions {
	var found insertions
	for {
		i := strings.IndexByte(msg, '%')
		if i < 0 {
			return found
		}
		msg = msg[i+1:]
		digits := 0
		for digits < 2 && digits < len(msg) && '0' <= msg[digits] && msg[digits] <= '9' {
			digits++
		}
		switch {
		case digits > 0:
			n, _ := strconv.Atoi(msg[:digits])
			found.highest = max(found.highest, n)
			msg = msg[digits:]
		case msg != "" && strings.IndexByte(`%nrtb.! \`, msg[0]) >= 0:
			msg = msg[1:]
		case found.stray == "":
			found.stray = "%" + firstRune(msg)
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

package main

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A textWriter prints an event as a line for people.
type textWriter struct {
	stacks  bool
	payload bool
	color   bool

	names []string // provider and event, by the index of the event
	width int      // of the column of names: that of the longest so far
}

// Codes of terminals.
const (
	colorName  = "\x1b[1m"  // bold
	colorError = "\x1b[31m" // red
	colorEnd   = "\x1b[0m"
)

// Names are padded to a width that most have, and the longest do not set.
const (
	nameWidth    = 40
	maxNameWidth = 64
)

// shownBytes is how much a line shows of what was not decoded.
const shownBytes = 64

func (w *textWriter) begin(b []byte) []byte {
	w.width = nameWidth
	return append(b, "          MS     PID     TID CPU  EVENT\n"...)
}

func (w *textWriter) append(b []byte, s *shot) []byte {
	mark := len(b)
	b = padLeft(appendMS(b, s.elapsed), mark, 12)
	b = appendColumn(b, s.ProcessID, 8)
	b = appendColumn(b, s.ThreadID, 8)
	b = appendColumn(b, int64(s.Processor), 4)
	b = append(b, ' ', ' ')
	name := w.name(s)
	if w.color {
		b = append(b, colorName...)
	}
	b = append(b, name...)
	if w.color {
		b = append(b, colorEnd...)
	}
	mark = len(b)
	b = w.details(b, s)
	if len(b) > mark {
		b = padBefore(b, mark, w.width-utf8.RuneCountInString(name)+1)
	}
	b = append(b, '\n')
	if w.stacks {
		for address := range s.Stack.All() {
			b = append(b, "                      "...)
			b = append(appendHex(b, address), '\n')
		}
	}
	return b
}

// name returns the name of the event and its provider.
func (w *textWriter) name(s *shot) string {
	i := s.event.Index
	for i >= len(w.names) {
		w.names = append(w.names, "")
	}
	if w.names[i] == "" {
		e := s.event
		w.names[i] = clean(e.Provider + "/" + e.Name)
		if n := len(e.Provider); len(e.Name) > n && e.Name[:n] == e.Provider && e.Name[n] == '/' {
			w.names[i] = clean(e.Name) // that of the provider is in it
		}
	}
	name := w.names[i]
	if n := utf8.RuneCountInString(name); n > w.width {
		w.width = min(n, maxNameWidth)
	}
	return name
}

// details appends fields, payload and error, each after a space.
func (w *textWriter) details(b []byte, s *shot) []byte {
	if s.values != nil {
		mark := len(b)
		b = cleanFrom(appendFields(b, s.values), mark)
	}
	switch {
	case w.payload:
		b = appendBytes(b, " payload=", s.Payload, len(s.Payload))
	case len(s.rest) == len(s.Payload):
		b = appendBytes(b, " payload=", s.rest, shownBytes)
	default:
		b = appendBytes(b, " rest=", s.rest, shownBytes)
	}
	if problem := s.problem(); problem != "" {
		b = append(b, ' ')
		if w.color {
			b = append(b, colorError...)
		}
		b = append(append(append(b, '['), clean(problem)...), ']')
		if w.color {
			b = append(b, colorEnd...)
		}
	}
	return b
}

// appendBytes appends the first bytes of p in hexadecimal, if there are any.
func appendBytes(b []byte, name string, p []byte, limit int) []byte {
	if len(p) == 0 {
		return b
	}
	b = append(b, name...)
	b = hex.AppendEncode(b, p[:min(limit, len(p))])
	if len(p) > limit {
		b = strconv.AppendInt(append(b, "...("...), int64(len(p)), 10)
		b = append(b, " bytes)"...)
	}
	return b
}

// appendFields appends values as name=value.
func appendFields(b []byte, e etw.Described) []byte {
	fields := e.EventDesc().Fields
	for i := range fields {
		v := e.FieldValue(i)
		if v.Kind() == etw.NoValue {
			continue
		}
		b = append(b, ' ')
		if name := fields[i].Name; name != "" {
			b = append(b, name...)
		} else {
			b = strconv.AppendInt(append(b, "field"...), int64(i), 10)
		}
		b = append(b, '=')
		b = etw.AppendFieldText(b, &fields[i], v)
	}
	return b
}

// appendColumn appends a number, aligned to the right.
func appendColumn(b []byte, n int64, width int) []byte {
	mark := len(b)
	return padLeft(strconv.AppendInt(b, n, 10), mark, width)
}

// padLeft pads what was appended since mark to a width.
func padLeft(b []byte, mark, width int) []byte {
	return padBefore(b, mark, width-(len(b)-mark))
}

// padBefore inserts n spaces at mark.
func padBefore(b []byte, mark, n int) []byte {
	if n <= 0 {
		return b
	}
	for range n {
		b = append(b, ' ')
	}
	copy(b[mark+n:], b[mark:])
	for i := range n {
		b[mark+i] = ' '
	}
	return b
}

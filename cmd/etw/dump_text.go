package main

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A textWriter prints an event as a line for people.
type textWriter struct {
	printer *printer
	stacks  bool
	names   *boundStacks // nil if frames are shown as addresses
	payload bool
	only    []string // fields, all if it is nil
	enums   etw.EnumStyle
	time    string
	zone    *time.Location

	file    bool // which file an event is from is shown
	process bool // and the name of its process
	thread  bool
	cpu     bool
	width   int // of the column of titles
	brief   int // what it is with brief titles
	short   bool
	owner   int // width of the columns of processes and threads
	titles  []string
	plans   []textPlan // by the index of the event
	before  time.Duration
	begun   bool
}

// A textPlan has the names of the fields of an event, as they are shown: "" for
// those that are not.
type textPlan struct {
	desc   *etw.EventDesc
	labels []string
}

// shownBytes is how much a line shows of what was not decoded.
const shownBytes = 64

func newTextWriter(s *dumpStyle, sel *selector, m *meeting) *textWriter {
	w := &textWriter{
		stacks: s.stacks, names: s.names, payload: s.payload, only: s.fields, enums: enumStyles[s.enums], time: s.time, zone: sel.zone,
		file: m.several, cpu: m.processor, width: m.width, brief: m.brief, owner: leastOwner,
	}
	if w.width == 0 {
		w.width = streamName
	}
	w.width = min(max(w.width, leastName), mostName)
	w.process, w.thread = m.names.widest.process > 0 && len(m.processes) > 1, m.names.widest.thread > 0
	w.owner = min(max(w.owner, m.names.widest.process, m.names.widest.thread), mostOwner)
	if m.glance && m.kernel && m.names.widest.process == 0 { // they are listed at the end
		w.process, w.owner = true, mostOwner
	}
	return w
}

func (w *textWriter) begin(b []byte) []byte {
	if p := w.printer; p.width > 0 && p.width < narrowLine { // what happened matters more than where
		w.owner, w.cpu = min(w.owner, narrowOwner), false
	}
	heads := [...]struct {
		shown bool
		text  string
		width int
	}{
		{w.time == timeRelative, "MS", timeWidth},
		{w.time == timeDelta, "DELTA MS", timeWidth},
		{w.time == timeAbsolute, "TIME (" + w.zone.String() + ")", dateWidth},
		{w.file, "  FILE", -fileWidth - 2},
		{w.process, "  PROCESS", -w.owner - 2},
		{!w.process, "PID", idWidth},
		{w.thread, "  THREAD", -w.owner - 2},
		{!w.thread, "TID", idWidth},
		{w.cpu, "CPU", 4},
	}
	line, width := "", 0
	for _, h := range heads {
		if !h.shown {
			continue
		}
		pad := strings.Repeat(" ", max(0, max(h.width, -h.width)-len(h.text)))
		if h.width > 0 {
			line += pad + h.text
		} else {
			line += h.text + pad
		}
		width += max(h.width, -h.width)
	}
	line += "  EVENT"
	if w.printer.width > 0 { // titles get less than half of what is left
		if room := max(leastName, (w.printer.width-width-2)*2/5); room < w.width {
			w.width, w.short = min(max(w.brief, leastName), room), true
		}
	}
	return append(w.printer.paint(b, colorBold, line), '\n')
}

func (w *textWriter) end(b []byte) []byte { return b }

func (w *textWriter) append(b []byte, s *shot) []byte {
	b = w.appendTime(b, s)
	if w.file {
		b = appendLeft(append(b, ' ', ' '), shorten(clean(s.File), fileWidth), fileWidth)
	}
	b = w.appendID(b, w.process, s.process, s.ProcessID)
	b = w.appendID(b, w.thread, s.thread, s.ThreadID)
	if w.cpu {
		b = appendColumn(b, int64(s.Processor), 4)
	}
	b = append(b, ' ', ' ')
	title := w.title(s)
	b = w.printer.paint(b, levelColor(s.Level), title)
	if details := w.details(nil, s); len(details) > 0 {
		pad := max(0, w.width-textWidth(title)) + 2
		for range pad {
			b = append(b, ' ')
		}
		b = append(b, details...)
	}
	if problem := s.problem(); problem != "" {
		b = w.printer.paint(append(b, ' '), colorRed, "["+clean(problem)+"]")
	}
	b = append(b, '\n')
	if w.stacks {
		namer := w.names.namer(s.Record)
		for i := range s.Stack.Len() {
			b = append(b, "                      "...)
			b = append(appendFrame(b, namer, s.Record, i), '\n')
		}
	}
	return b
}

// leastProvider is how much of the name of a provider is worth to be shown.
const leastProvider = 8

// shortTitle is a title that fits: the name of the event is what matters most.
func (w *textWriter) shortTitle(e *etw.EventInfo) string {
	title, name := briefTitle(e), clean(e.Name)
	switch room := w.width - textWidth(name) - 1; {
	case textWidth(title) <= w.width:
		return title
	case room >= leastProvider && name != title:
		return shorten(clean(e.Provider), room) + "/" + name
	}
	return shorten(name, w.width)
}

// levelColor returns the colour of the name of an event.
func levelColor(l etw.Level) string {
	switch l {
	case etw.LevelCritical, etw.LevelError:
		return colorRed
	case etw.LevelWarning:
		return colorYellow
	case etw.LevelVerbose:
		return colorDim
	}
	return colorBold
}

func (w *textWriter) appendTime(b []byte, s *shot) []byte {
	mark := len(b)
	switch w.time {
	case timeAbsolute:
		b = s.Clock.FileTime(s.Timestamp).Time().In(w.zone).AppendFormat(b, "2006-01-02 15:04:05.0000000")
		return padLeft(b, mark, dateWidth)
	case timeDelta:
		if !w.begun {
			w.begun, w.before = true, s.elapsed
		}
		b = appendMS(b, s.elapsed-w.before)
		w.before = s.elapsed
	default:
		b = appendMS(b, s.elapsed)
	}
	return padLeft(b, mark, timeWidth)
}

// appendID appends the number of a process or thread, with its name if there is a
// column for names.
func (w *textWriter) appendID(b []byte, named bool, name string, id int64) []byte {
	if !named {
		return appendColumn(b, id, idWidth)
	}
	text := strconv.FormatInt(id, 10)
	if name != "" {
		text = shorten(clean(name), w.owner-len(text)-2) + "(" + text + ")"
	}
	return appendLeft(append(b, ' ', ' '), text, w.owner)
}

// title returns the name of the event and its provider. If that is too long, the
// provider gives way.
func (w *textWriter) title(s *shot) string {
	for s.event.Index >= len(w.titles) {
		w.titles = append(w.titles, "")
	}
	title := &w.titles[s.event.Index]
	if *title == "" {
		*title = eventTitle(s.event)
		if w.short {
			*title = w.shortTitle(s.event)
		}
	}
	return *title
}

// details appends fields and payload, with spaces in between.
func (w *textWriter) details(b []byte, s *shot) []byte {
	if s.values != nil {
		b = cleanFrom(w.fields(b, s), 0)
	}
	switch {
	case w.payload:
		b = appendBytes(b, "payload=", s.Payload, len(s.Payload))
	case len(s.rest) == len(s.Payload):
		b = appendBytes(b, "payload=", s.rest, shownBytes)
	default:
		b = appendBytes(b, "rest=", s.rest, shownBytes)
	}
	return b
}

// fields appends name=value for each field.
func (w *textWriter) fields(b []byte, s *shot) []byte {
	p := w.plan(s)
	for i, label := range p.labels {
		v := s.values.FieldValue(i)
		if label == "" || v.Kind() == etw.ValueNone {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, label...)
		d := &p.desc.Fields[i]
		if w.enums != etw.EnumNames && d.Map != nil {
			b = etw.AppendFieldJSON(b, d, v, etw.EnumNumbers)
		} else {
			b = etw.AppendFieldText(b, d, v)
		}
	}
	return b
}

func (w *textWriter) plan(s *shot) *textPlan {
	for s.event.Index >= len(w.plans) {
		w.plans = append(w.plans, textPlan{})
	}
	p := &w.plans[s.event.Index]
	if desc := s.values.EventDesc(); p.desc != desc {
		*p = textPlan{desc: desc}
		for _, key := range fieldKeys(desc.Fields) {
			if !isOneOf(key, w.only) {
				p.labels = append(p.labels, "")
				continue
			}
			p.labels = append(p.labels, key+"=")
		}
	}
	return p
}

// isOneOf reports whether a field is one of those that are asked for.
func isOneOf(key string, only []string) bool {
	return only == nil || slices.ContainsFunc(only, func(f string) bool { return strings.EqualFold(f, key) })
}

// appendBytes appends the first bytes of p in hexadecimal, if there are any.
func appendBytes(b []byte, name string, p []byte, limit int) []byte {
	if len(p) == 0 {
		return b
	}
	if len(b) > 0 {
		b = append(b, ' ')
	}
	b = append(b, name...)
	b = hex.AppendEncode(b, p[:min(limit, len(p))])
	if len(p) > limit {
		b = strconv.AppendInt(append(b, "...("...), int64(len(p)), 10)
		b = append(b, " bytes)"...)
	}
	return b
}

// appendColumn appends a space and a number, aligned to the right.
func appendColumn(b []byte, n int64, width int) []byte {
	b = append(b, ' ')
	mark := len(b)
	return padLeft(strconv.AppendInt(b, n, 10), mark, width-1)
}

// appendLeft appends a text, padded to a width.
func appendLeft(b []byte, text string, width int) []byte {
	b = append(b, text...)
	for range width - textWidth(text) {
		b = append(b, ' ')
	}
	return b
}

// padLeft pads what was appended since mark to a width.
func padLeft(b []byte, mark, width int) []byte {
	n := width - (len(b) - mark)
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

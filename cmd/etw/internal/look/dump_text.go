package look

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A textWriter prints an event as a line for people.
type textWriter struct {
	printer  *show.Printer
	stacks   bool
	names    *frames.BoundStacks // nil if frames are shown as addresses
	payload  bool
	messages *messenger
	only     []string // fields, all if it is nil
	enums    etw.EnumStyle
	time     string
	zone     *time.Location

	file    bool // which file an event is from is shown
	process bool // and the name of its process
	thread  bool
	cpu     bool
	id      bool
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

// eventWidth is that of the column of the numbers of events.
const eventWidth = 7

// shownBytes is how much a line shows of undecoded bytes.
const shownBytes = 64

func newTextWriter(s *dumpStyle, sel *pick.Selector, m *pick.Meeting) *textWriter {
	w := &textWriter{
		stacks: s.stacks, names: s.names, payload: s.payload, messages: s.messages, only: s.fields, enums: enumStyles[s.enums], time: s.time, zone: sel.Zone,
		file: m.Several, cpu: m.Processor, id: true, width: m.Width, brief: m.Brief, owner: pick.LeastOwner,
	}
	w.width = cmp.Or(w.width, pick.StreamName)
	w.width = min(max(w.width, pick.LeastName), pick.MostName)
	w.process, w.thread = m.Names.Widest.Process > 0 && len(m.Processes) > 1, m.Names.Widest.Thread > 0
	w.owner = min(max(w.owner, m.Names.Widest.Process, m.Names.Widest.Thread), pick.MostOwner)
	if m.Glance && m.Kernel && m.Names.Widest.Process == 0 { // they are listed at the end
		w.process, w.owner = true, pick.MostOwner
	}
	return w
}

func (w *textWriter) begin(b []byte) []byte {
	if p := w.printer; p.Width > 0 && p.Width < pick.NarrowLine { // what happened matters more than where
		w.owner, w.cpu = min(w.owner, pick.NarrowOwner), false
	}
	heads := [...]struct {
		shown bool
		text  string
		width int
	}{
		{w.time == timeRelative, "MS", pick.TimeWidth},
		{w.time == timeDelta, "DELTA MS", pick.TimeWidth},
		{w.time == timeAbsolute, "TIME (" + w.zone.String() + ")", pick.DateWidth},
		{w.file, "  FILE", -pick.FileWidth - 2},
		{w.process, "  PROCESS", -w.owner - 2},
		{!w.process, "PID", pick.IdWidth},
		{w.thread, "  THREAD", -w.owner - 2},
		{!w.thread, "TID", pick.IdWidth},
		{w.cpu, "CPU", 4},
		{w.id, "ID", eventWidth},
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
	if w.printer.Width > 0 { // titles get less than half of what is left
		if room := max(pick.LeastName, (w.printer.Width-width-2)*2/5); room < w.width {
			w.width, w.short = min(max(w.brief, pick.LeastName), room), true
		}
	}
	return append(w.printer.Paint(b, show.ColorBold, line), '\n')
}

func (w *textWriter) end(b []byte) []byte { return b }

func (w *textWriter) append(b []byte, s *pick.Shot) []byte {
	b = w.appendTime(b, s)
	if w.file {
		b = appendLeft(append(b, ' ', ' '), show.Shorten(cli.Clean(s.File), pick.FileWidth), pick.FileWidth)
	}
	b = w.appendID(b, w.process, s.Process, s.ProcessID)
	b = w.appendID(b, w.thread, s.Thread, s.ThreadID)
	if w.cpu {
		b = appendColumn(b, int64(s.Processor), 4)
	}
	if w.id {
		b = appendNumber(b, s.Record)
	}
	b = append(b, ' ', ' ')
	title := w.title(s)
	b = w.printer.Paint(b, levelColor(s.Level), title)
	if details := w.details(nil, s); len(details) > 0 {
		pad := max(0, w.width-show.TextWidth(title)) + 2
		for range pad {
			b = append(b, ' ')
		}
		b = append(b, details...)
	}
	if problem := s.Problem(); problem != "" {
		b = w.printer.Paint(append(b, ' '), show.ColorRed, "["+cli.Clean(problem)+"]")
	}
	b = append(b, '\n')
	for line := range strings.Lines(w.message(s)) {
		b = append(append(append(b, "                      "...), cli.Clean(strings.TrimRight(line, "\r\n"))...), '\n')
	}
	if w.stacks {
		namer := w.names.Namer(s.Record)
		for i := range s.Stack.Len() {
			b = append(b, "                      "...)
			b = append(frames.AppendFrame(b, namer, s.Record, i), '\n')
		}
	}
	return b
}

// leastProvider is how much of the name of a provider is worth to be shown.
const leastProvider = 8

// shortTitle is a title that fits: the name of the event matters most.
func (w *textWriter) shortTitle(e *etw.EventInfo) string {
	title, name := pick.BriefTitle(e), cli.Clean(e.Name)
	switch room := w.width - show.TextWidth(name) - 1; {
	case show.TextWidth(title) <= w.width:
		return title
	case room >= leastProvider && name != title:
		return show.Shorten(cli.Clean(e.Provider), room) + "/" + name
	}
	return show.Shorten(name, w.width)
}

// levelColor returns the colour of the name of an event.
func levelColor(l etw.Level) string {
	switch l {
	case etw.LevelCritical, etw.LevelError:
		return show.ColorRed
	case etw.LevelWarning:
		return show.ColorYellow
	case etw.LevelVerbose:
		return show.ColorDim
	}
	return show.ColorBold
}

func (w *textWriter) appendTime(b []byte, s *pick.Shot) []byte {
	mark := len(b)
	switch w.time {
	case timeAbsolute:
		b = s.Clock.FileTime(s.Timestamp).Time().In(w.zone).AppendFormat(b, "2006-01-02 15:04:05.0000000")
		return padLeft(b, mark, pick.DateWidth)
	case timeDelta:
		if !w.begun {
			w.begun, w.before = true, s.Elapsed
		}
		b = show.AppendMS(b, s.Elapsed-w.before)
		w.before = s.Elapsed
	default:
		b = show.AppendMS(b, s.Elapsed)
	}
	return padLeft(b, mark, pick.TimeWidth)
}

// appendID appends the number of a process or thread, with its name if there is a
// column for names.
func (w *textWriter) appendID(b []byte, named bool, name string, id int64) []byte {
	if !named {
		return appendColumn(b, id, pick.IdWidth)
	}
	text := strconv.FormatInt(id, 10)
	if name != "" {
		text = show.Shorten(cli.Clean(name), w.owner-len(text)-2) + "(" + text + ")"
	}
	return appendLeft(append(b, ' ', ' '), text, w.owner)
}

// title returns the name of the event and its provider. If that is too long, the
// provider gives way.
func (w *textWriter) title(s *pick.Shot) string {
	for s.Event.Index >= len(w.titles) {
		w.titles = append(w.titles, "")
	}
	title := &w.titles[s.Event.Index]
	if *title == "" {
		*title = pick.EventTitle(s.Event)
		if w.short {
			*title = w.shortTitle(s.Event)
		}
	}
	return *title
}

// inPlace reports whether the text of an event stands in place of its fields, which it has.
func (w *textWriter) inPlace(s *pick.Shot) bool { return s.Kind == etw.KindMessage && w.only == nil }

// message returns the lines below an event.
func (w *textWriter) message(s *pick.Shot) string {
	if s.Kind == etw.KindMessage && (w.only == nil || w.messages == nil) { // fields alone are asked for
		return ""
	}
	return string(w.messages.append(nil, s))
}

// details appends fields and payload, with spaces in between.
func (w *textWriter) details(b []byte, s *pick.Shot) []byte {
	switch {
	case s.Values == nil:
	case w.inPlace(s):
		b = append(b, cli.Clean(string(w.messages.append(nil, s)))...)
	default:
		b = cli.CleanFrom(w.fields(b, s), 0)
		b = appendOperation(b, s)
	}
	switch {
	case w.payload:
		b = appendBytes(b, "payload=", s.Payload, len(s.Payload))
	case len(s.Rest) == len(s.Payload):
		b = appendBytes(b, "payload=", s.Rest, shownBytes)
	default:
		b = appendBytes(b, "rest=", s.Rest, shownBytes)
	}
	return b
}

// pathDesc is the form in which the path of a file is shown, with quotes as all texts.
var pathDesc = etw.FieldDesc{Name: "path", Type: etw.InUnicodeString}

// appendOperation appends the file of an operation, and how long that took.
func appendOperation(b []byte, s *pick.Shot) []byte {
	if s.Path != "" {
		b = etw.AppendFieldText(append(b, " path="...), &pathDesc, etw.UTF16Value(etw.AppendUTF16(nil, cli.Clean(s.Path))))
	}
	if s.Took >= 0 {
		b = show.AppendMS(append(b, " elapsedMs="...), s.Took)
	}
	return b
}

// fields appends name=value for each field.
func (w *textWriter) fields(b []byte, s *pick.Shot) []byte {
	p := w.plan(s)
	for i, label := range p.labels {
		v := s.Values.FieldValue(i)
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

func (w *textWriter) plan(s *pick.Shot) *textPlan {
	for s.Event.Index >= len(w.plans) {
		w.plans = append(w.plans, textPlan{})
	}
	p := &w.plans[s.Event.Index]
	if desc := s.Values.EventDesc(); p.desc != desc {
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

// appendNumber appends the number of an event, which those of classes do not have.
func appendNumber(b []byte, r *etw.Record) []byte {
	if r.Kind == etw.KindManifest {
		return appendColumn(b, int64(r.ID), eventWidth)
	}
	return appendLeft(b, "", eventWidth)
}

// appendLeft appends a text, padded to a width.
func appendLeft(b []byte, text string, width int) []byte {
	b = append(b, text...)
	for range width - show.TextWidth(text) {
		b = append(b, ' ')
	}
	return b
}

// padLeft pads the text appended since mark to a width.
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

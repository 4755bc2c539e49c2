package otlp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Logs collects events as log records, to be written many at once. It must not be
// used by several goroutines at once.
type Logs struct {
	resource []Attribute
	scopes   map[string]*scope
	order    []*scope
	count    int
	size     int
	names    map[*etw.EventInfo]eventName
	sink     jsonSink
}

// A scope is the records of one provider.
type scope struct {
	name    string
	records []byte
}

// An eventName is the name of log records that are events of one kind.
type eventName struct{ of, name string }

// NewLogs returns an empty collection. Resource is the source of the events, such as the
// host.
func NewLogs(resource ...Attribute) *Logs {
	return &Logs{resource: resource, scopes: make(map[string]*scope), names: make(map[*etw.EventInfo]eventName)}
}

// Count returns the number of log records, and Size about how many bytes they take.
func (l *Logs) Count() int { return l.count }

// Size returns about how many bytes the log records take.
func (l *Logs) Size() int { return l.size }

// Add adds an event: the record, the description of its kind, and its fields, which may be
// nil.
func (l *Logs) Add(rec *etw.Record, event *etw.EventInfo, values etw.Described) {
	s := l.scopes[event.Provider]
	if s == nil {
		s = &scope{name: event.Provider}
		l.scopes[event.Provider] = s
	}
	if len(s.records) == 0 {
		l.order = append(l.order, s)
	} else {
		s.records = append(s.records, ',')
	}
	before := len(s.records)
	s.records = l.appendRecord(s.records, rec, event, values)
	l.size += len(s.records) - before
	l.count++
}

// nameOf returns the name of log records of a kind of events.
func (l *Logs) nameOf(e *etw.EventInfo) string {
	n, ok := l.names[e]
	if !ok || n.of != e.Name {
		n = eventName{e.Name, EventName(e)}
		l.names[e] = n
	}
	return n.name
}

// EventName returns the name of log records of a kind of events: provider and event,
// of which the version is no part.
func EventName(e *etw.EventInfo) string {
	name := e.Name
	if i := strings.LastIndex(name, "_V"); i > 0 && i+2 < len(name) && strings.Trim(name[i+2:], "0123456789") == "" {
		name = name[:i]
	}
	if strings.HasPrefix(name, e.Provider+"/") {
		return name
	}
	return e.Provider + "/" + name
}

// AppendJSON appends all log records as one LogsData, without a line feed.
func (l *Logs) AppendJSON(b []byte) []byte {
	b = append(b, `{"resourceLogs":[`...)
	b = appendResource(b, l.resource)
	b = append(b, `,"scopeLogs":[`...)
	for i, s := range l.order {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"scope":{"name":`...)
		b = appendString(b, s.name)
		b = append(b, `},"logRecords":[`...)
		b = append(b, s.records...)
		b = append(b, "]}"...)
	}
	return append(b, "]}]}"...)
}

// Reset forgets the log records.
func (l *Logs) Reset() {
	for _, s := range l.order {
		s.records = s.records[:0]
	}
	l.order, l.count, l.size = l.order[:0], 0, 0
}

// The numbers and the names of severities, by the level.
var (
	severities     = [...]uint8{0, 21, 17, 13, 9, 5}
	severityTexts  = [...]string{"LOG_ALWAYS", "CRITICAL", "ERROR", "WARNING", "INFORMATIONAL", "VERBOSE"}
	traceID        = etw.ExtendedType(0x100) // of package nettrace
	spanID         = etw.ExtendedType(0x101)
	fileTimeUnix   = int64(116444736000000000)
	nanosPerTick   = int64(100)
	emptyAttribute = "field"
)

// UnixNano returns the time of a record in nanoseconds since 1970, to the precision of its
// clock.
func UnixNano(rec *etw.Record) int64 {
	if rec.Clock == nil {
		return 0
	}
	return (int64(rec.Clock.Start)-fileTimeUnix)*nanosPerTick + int64(rec.Elapsed())
}

// Severity returns the number and the text of a level: 0 is one that is not specified,
// as those are that are always logged.
func Severity(level etw.Level) (number int, text string) {
	if int(level) < len(severities) {
		return int(severities[level]), severityTexts[level]
	}
	return 0, ""
}

// TraceContext returns the ids of W3C trace context that a record has, of 16 and of 8
// bytes, or nil.
func TraceContext(rec *etw.Record) (trace, span []byte) {
	for i := range rec.Extended {
		switch item := &rec.Extended[i]; item.Type {
		case traceID:
			trace = item.Data
		case spanID:
			span = item.Data
		}
	}
	return trace, span
}

// Attributes gives a sink the attributes of an event: those of its header, and its fields,
// which may be nil.
func Attributes(s Sink, rec *etw.Record, event *etw.EventInfo, values etw.Described) {
	header(s, rec, event)
	if values != nil {
		fields(s, values)
	}
}

// appendRecord appends one log record.
func (l *Logs) appendRecord(b []byte, rec *etw.Record, event *etw.EventInfo, values etw.Described) []byte {
	b = append(b, '{')
	b = appendNanos(b, "timeUnixNano", UnixNano(rec))
	if n, text := Severity(rec.Level); text != "" {
		if n > 0 {
			b = append(b, `,"severityNumber":`...)
			b = strconv.AppendInt(b, int64(n), 10)
		}
		b = append(b, `,"severityText":"`...)
		b = append(append(b, text...), '"')
	}
	b = append(b, `,"eventName":`...)
	b = appendString(b, l.nameOf(event))
	trace, span := TraceContext(rec)
	if trace != nil {
		b = appendHex(append(b, `,"traceId":`...), trace)
	}
	if span != nil {
		b = appendHex(append(b, `,"spanId":`...), span)
	}
	l.sink.b, l.sink.first, l.sink.lists = append(b, `,"attributes":[`...), true, l.sink.lists[:0]
	Attributes(&l.sink, rec, event, values)
	b, l.sink.b = l.sink.b, nil
	return append(b, "]}"...)
}

// header gives the values of the header of an event.
func header(s Sink, rec *etw.Record, event *etw.EventInfo) {
	s.GUID("etw.provider.id", rec.Provider)
	opcode, task := rec.Opcode, rec.Task
	if d := event.Desc; d != nil && rec.Kind == etw.KindManifest {
		opcode = cmp.Or(opcode, d.Opcode)
		task = cmp.Or(task, d.Task)
	}
	if rec.Kind != etw.KindClassic {
		s.Int("etw.event.id", int64(rec.ID))
	}
	s.Int("etw.version", int64(rec.Version))
	s.Int("etw.opcode", int64(opcode))
	s.Int("etw.level", int64(rec.Level))
	if task != 0 {
		s.Int("etw.task", int64(task))
	}
	if rec.Channel != 0 {
		s.Int("etw.channel", int64(rec.Channel))
	}
	if rec.Keywords != 0 {
		s.Int("etw.keywords", int64(rec.Keywords))
	}
	if rec.ProcessID >= 0 {
		s.Int("etw.process.id", rec.ProcessID)
	}
	if rec.ThreadID >= 0 {
		s.Int("etw.thread.id", rec.ThreadID)
	}
	if rec.Processor >= 0 {
		s.Int("etw.cpu", int64(rec.Processor))
	}
	if !rec.ActivityID.IsZero() {
		s.GUID("etw.activity.id", rec.ActivityID)
	}
	if !rec.RelatedActivityID.IsZero() {
		s.GUID("etw.related_activity.id", rec.RelatedActivityID)
	}
}

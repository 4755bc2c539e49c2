package flow

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/etw"
)

// logs collects events as log records, by the mapping of package otlp.
type logs struct {
	out      OutputConfig
	resource []otlp.Attribute
	data     plog.Logs
	scopes   map[string]plog.LogRecordSlice
	all      plog.ScopeLogsSlice
	names    map[*etw.EventInfo]called
	sink     pdataSink
	count    int
}

// A called is the name of log records that are events of one kind, whose own name may become
// known late.
type called struct{ of, name string }

func newLogs(out OutputConfig, resource []otlp.Attribute) *logs {
	l := &logs{out: out, resource: resource, names: make(map[*etw.EventInfo]called), sink: pdataSink{max: out.MaxAttributeSize}}
	l.reset()
	return l
}

// reset forgets the log records, which may be somebody else's now.
func (l *logs) reset() {
	l.data = plog.NewLogs()
	of := l.data.ResourceLogs().AppendEmpty()
	put(of.Resource().Attributes(), l.resource)
	l.all = of.ScopeLogs()
	l.scopes = make(map[string]plog.LogRecordSlice)
	l.count, l.sink.size = 0, 0
}

// put puts attributes into a map.
func put(m pcommon.Map, list []otlp.Attribute) {
	m.EnsureCapacity(len(list))
	for _, a := range list {
		switch v := a.Value.(type) {
		case string:
			m.PutStr(a.Key, valid(v))
		case int64:
			m.PutInt(a.Key, v)
		case bool:
			m.PutBool(a.Key, v)
		case float64:
			m.PutDouble(a.Key, v)
		}
	}
}

// scope returns the log records of a provider.
func (l *logs) scope(name string) plog.LogRecordSlice {
	s, ok := l.scopes[name]
	if !ok {
		of := l.all.AppendEmpty()
		of.Scope().SetName(valid(name))
		s = of.LogRecords()
		l.scopes[name] = s
	}
	return s
}

// add adds an event. Values may be nil.
func (l *logs) add(rec *etw.Record, event *etw.EventInfo, values etw.Described) {
	r := l.scope(event.Provider).AppendEmpty()
	r.SetTimestamp(pcommon.Timestamp(max(otlp.UnixNano(rec), 0)))
	number, text := otlp.Severity(rec.Level)
	r.SetSeverityNumber(plog.SeverityNumber(number))
	r.SetSeverityText(text)
	r.SetEventName(l.nameOf(event))
	trace, span := otlp.TraceContext(rec)
	if len(trace) == 16 {
		r.SetTraceID(pcommon.TraceID(trace))
	}
	if len(span) == 8 {
		r.SetSpanID(pcommon.SpanID(span))
	}
	m := r.Attributes()
	fields := 0
	if values != nil {
		fields = len(values.EventDesc().Fields)
	}
	m.EnsureCapacity(fields + 10)
	l.sink.begin(m)
	otlp.Attributes(&l.sink, rec, event, values)
	if values == nil && len(rec.Payload) > 0 {
		l.sink.Bytes("etw.payload", rec.Payload)
	}
	if l.out.Stacks == "addresses" && rec.Stack.Len() > 0 {
		l.sink.Text("code.stacktrace", stackText(rec))
	}
	l.count++
	l.sink.size += 32
}

// stackText returns the addresses of a call stack, a line each.
func stackText(rec *etw.Record) string {
	var b strings.Builder
	for address := range rec.Stack.All() {
		b.WriteString("0x")
		b.WriteString(strconv.FormatUint(address, 16))
		b.WriteByte('\n')
	}
	return b.String()
}

// nameOf returns the name of log records of a kind of events.
func (l *logs) nameOf(e *etw.EventInfo) string {
	n, ok := l.names[e]
	if !ok || n.of != e.Name {
		name := otlp.EventName(e)
		if l.out.EventName == "plain" {
			name = strings.TrimPrefix(name, e.Provider+"/")
		}
		n = called{of: e.Name, name: valid(name)}
		l.names[e] = n
	}
	return n.name
}

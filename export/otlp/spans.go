package otlp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/requests"
)

// Spans collects activities as spans, to be written many at once: give its Add to
// [requests.Analysis.OnEnd]. Their scopes are the ActivitySources, where they are known,
// else the providers. Activities without ids of W3C trace context are left out.
type Spans struct {
	// Start is when the trace starts, which the times of activities count from.
	Start time.Time
	// Resource is the source of the spans; the process is an attribute of each.
	Resource []Attribute

	scopes map[string]*scope
	order  []*scope
	count  int
	size   int
}

// Count returns the number of spans.
func (s *Spans) Count() int { return s.count }

// Size returns about how many bytes the spans take.
func (s *Spans) Size() int { return s.size }

// Add adds an activity of a process.
func (s *Spans) Add(pid int64, provider, task string, a requests.Activity) {
	if len(a.TraceID) != 32 || len(a.SpanID) != 16 {
		return
	}
	if s.scopes == nil {
		s.scopes = make(map[string]*scope)
	}
	name := cmp.Or(a.Source, provider)
	of := s.scopes[name]
	if of == nil {
		of = &scope{name: name}
		s.scopes[name] = of
	}
	if len(of.records) == 0 {
		s.order = append(s.order, of)
	} else {
		of.records = append(of.records, ',')
	}
	before := len(of.records)
	of.records = s.append(of.records, pid, task, &a)
	s.size += len(of.records) - before
	s.count++
}

// append appends a span.
func (s *Spans) append(b []byte, pid int64, task string, a *requests.Activity) []byte {
	begin := s.Start.UnixNano() + int64(a.StartMS*1e6)
	b = appendString(append(b, `{"traceId":`...), a.TraceID)
	b = appendString(append(b, `,"spanId":`...), a.SpanID)
	if len(a.ParentSpanID) == 16 && a.ParentSpanID != "0000000000000000" {
		b = appendString(append(b, `,"parentSpanId":`...), a.ParentSpanID)
	}
	name := a.Name
	name = cmp.Or(name, task)
	b = appendString(append(b, `,"name":`...), name)
	b = append(strconv.AppendInt(append(b, `,"kind":`...), int64(kindOf(task, a.Kind)), 10), ',')
	b = appendNanos(b, "startTimeUnixNano", begin)
	b = appendNanos(append(b, ','), "endTimeUnixNano", begin+int64(a.DurationMS*1e6))
	list := []Attribute{{"etw.task.name", task}, {"etw.process.id", pid}, {"etw.thread.id", a.Thread}}
	if n, err := strconv.ParseInt(a.Status, 10, 64); err == nil {
		list = append(list, Attribute{"http.response.status_code", n})
	}
	b = appendAttributes(append(b, ','), append(list, causesOf(a.Causes)...))
	switch {
	case a.OK: // the word of the program is final
		b = append(b, `,"status":{"code":1}`...)
	case a.Failed:
		b = append(b, `,"status":{"code":2}`...)
	}
	return append(b, '}')
}

// causesOf returns where the time of a span went: milliseconds by cause, which add up to how
// long it took, and the work of threads for it in parallel and after its end. There is no
// attribute where there was no such time.
func causesOf(c *requests.Causes) (list []Attribute) {
	if c == nil {
		return nil
	}
	add := func(name string, ms float64) {
		if ms > 0 {
			list = append(list, Attribute{"etw.cause." + name + "_ms", ms})
		}
	}
	for name, ms := range c.Parts() {
		add(name, ms)
	}
	add("parallel", c.ParallelMS)
	add("late", c.LateMS)
	return list
}

// kinds are those of spans, by their numbers.
var kinds = []string{"", "Internal", "Server", "Client", "Producer", "Consumer"}

// kindOf returns the number of a kind. Requests of .NET's own server and client have
// one also where the trace does not say it; of others it is internal.
func kindOf(task, kind string) int {
	switch i := slices.Index(kinds, kind); {
	case i > 0:
		return i
	case strings.HasSuffix(task, "HttpRequestIn"):
		return 2
	case strings.HasSuffix(task, "HttpRequestOut"):
		return 3
	}
	return 1
}

// AppendJSON appends all spans as one TracesData, without a line feed.
func (s *Spans) AppendJSON(b []byte) []byte {
	b = append(b, `{"resourceSpans":[`...)
	b = appendResource(b, slices.Clone(s.Resource))
	b = append(b, `,"scopeSpans":[`...)
	for i, of := range s.order {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"scope":{"name":`...), of.name)
		b = append(append(append(b, `},"spans":[`...), of.records...), "]}"...)
	}
	return append(b, "]}]}"...)
}

// Reset forgets the spans.
func (s *Spans) Reset() {
	for _, of := range s.order {
		of.records = of.records[:0]
	}
	s.order, s.count, s.size = s.order[:0], 0, 0
}

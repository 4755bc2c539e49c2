package spans_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/spans"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A told is a process that tells of its activities.
type told struct {
	*testtrace.Script
	at time.Duration
}

// works has a thread work for an activity, for a millisecond.
func (s *told) works(thread int64, id etw.GUID) {
	s.Record(s.at, thread, &etw.Record{Provider: etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"), ProviderName: "System.Threading.Tasks.TplEventSource",
		ID: 25, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: id[:]})
	s.at += time.Millisecond
}

// begins has a span begin, of which the process says pairs.
func (s *told) begins(thread int64, task string, id, parent etw.GUID, pairs ...string) {
	text := func(name string) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: etw.InUnicodeString} }
	r := &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "Microsoft-Diagnostics-DiagnosticSource", Kind: etw.KindManifest, Opcode: etw.OpcodeStart, PointerSize: etw.Ptr64,
		Schema: &etw.EventDesc{Name: "ActivityStart", TaskName: task, Fields: []etw.FieldDesc{text("SourceName"), text("ActivityName"),
			{Name: "Arguments", Type: etw.InStruct, Fields: []etw.FieldDesc{text("Key"), text("Value")}, Count: etw.Size{Kind: etw.SizeConst, N: uint32(len(pairs) / 2)}}}}}
	for _, t := range append([]string{"Shop", "Order"}, pairs...) {
		for _, c := range t + "\x00" {
			r.Payload = append(r.Payload, byte(c), 0)
		}
	}
	s.Activity, s.Related = id, parent
	s.Record(s.at, thread, r)
	s.Activity, s.Related = etw.GUID{}, etw.GUID{}
	s.at += time.Millisecond
}

// TestSpans has each moment of a thread be of the span that it works for then: the innermost
// one with ids, on whatever thread, and none before, between and after.
func TestSpans(t *testing.T) {
	var mux etw.Mux
	a := spans.New(&mux)
	s := &told{Script: testtrace.NewScript(t, &mux)}
	order, inner, other, plain := actid.Make(1, 0x11), actid.Make(1, 0x11, 1), actid.Make(1, 0x12), actid.Make(1, 0x13)
	trace, first, second := strings.Repeat("0a", 16), strings.Repeat("0b", 8), strings.Repeat("0c", 8)

	s.works(1, order)                                                          // 0 to 1 ms, and on
	s.begins(1, "Order", order, etw.GUID{}, "TraceId", trace, "SpanId", first) // to 2
	s.works(2, order)                                                          // to 3, and on
	s.works(1, inner)                                                          // to 4
	s.begins(1, "Item", inner, order, "TraceId", strings.Repeat("00", 16), "SpanId", second)
	s.works(1, other) // from 5 to 6
	s.begins(1, "Order", other, etw.GUID{}, "TraceId", trace, "SpanId", second)
	s.works(1, etw.GUID{}) // from 7 to 8 for nobody
	s.works(2, plain)      // from 8 on
	s.begins(2, "Order", plain, etw.GUID{})
	a.Finish()
	for _, test := range []struct {
		thread int64
		at     time.Duration
		span   string
	}{
		{1, 500, first}, {1, 2900, first}, {1, 3500, first}, {1, 4900, first}, {1, 5500, second}, {1, 6900, second}, {1, 7500, ""}, {1, -1, ""},
		{2, 1900, ""}, {2, 2500, first}, {2, 7900, first}, {2, 8500, ""}, {2, 99e6, ""}, {3, 2500, ""},
	} {
		id, ok := a.At(1, test.thread, spans.Begin(a)+int64(test.at*time.Microsecond))
		if want := (spans.ID{Trace: trace, Span: test.span}); ok != (test.span != "") || ok && id != want {
			t.Errorf("thread %d after %v: %v, want %q", test.thread, test.at*time.Microsecond, id, test.span)
		}
	}
	if _, ok := a.At(2, 1, spans.Begin(a)+500e3); ok {
		t.Error("another process has the span")
	}
}

// The trace and the span of each exception.
func ExampleAnalysis() {
	t, err := trace.Open("app.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	a := spans.New(&mux)
	thrown := exceptions.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	a.Finish()
	for _, list := range thrown.Samples() {
		for s := range list.All() {
			if id, ok := a.At(s.Process, s.Thread, s.Time); ok {
				fmt.Println(id.Trace, id.Span)
			}
		}
	}
}

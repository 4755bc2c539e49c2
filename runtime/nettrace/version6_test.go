package nettrace_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

func TestVersion6Threads(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{Keys: [][2]string{{"ProcessId", "55"}}})
	w.Metadata(clrRow(1, 10))
	w.Threads(
		nettracetest.Thread{Index: 1, Name: "worker", ThreadID: 1001},
		nettracetest.Thread{Index: 1 << 40, ProcessID: 77, Keys: [][2]string{{"k", "v"}}},
		nettracetest.Thread{Index: 3, ProcessID: math.MaxUint32, ThreadID: math.MaxUint64},
	)
	w.Events(
		nettracetest.Event{Metadata: 1, Thread: 1},
		nettracetest.Event{Metadata: 1, Thread: 1 << 40},
		nettracetest.Event{Metadata: 1, Thread: 9},
		nettracetest.Event{Metadata: 1, Thread: 3},
	)
	w.End()
	want := []struct {
		pid, tid int64
		thread   nettrace.Thread
	}{
		{55, 1001, nettrace.Thread{Index: 1, Name: "worker", ProcessID: 55, ThreadID: 1001}},
		{77, -1, nettrace.Thread{Index: 1 << 40, ProcessID: 77, ThreadID: -1, Keys: []nettrace.KeyValue{{Key: "k", Value: "v"}}}},
		{55, -1, nettrace.Thread{Index: 9, ProcessID: 55, ThreadID: -1}},
		{-1, -1, nettrace.Thread{Index: 3, ProcessID: -1, ThreadID: -1}},
	}
	for _, opts := range orders {
		r := testio.Reader(t, nettrace.NewReader, w.Bytes(), opts...)
		var rec etw.Record
		for i, c := range want {
			if err := r.Next(&rec); err != nil || rec.ProcessID != c.pid || rec.ThreadID != c.tid {
				t.Errorf("event %d: process %d, thread %d, %v", i, rec.ProcessID, rec.ThreadID, err)
			}
			if diff := cmp.Diff(&c.thread, r.Origin().Thread); diff != "" {
				t.Errorf("event %d: %s", i, diff)
			}
		}
		if r.Stats().UnknownThreads != 1 {
			t.Errorf("stats %+v", r.Stats())
		}
	}
}

// Without a process id in the header, threads that do not say have none.
func TestVersion6SeveralProcesses(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Threads(nettracetest.Thread{Index: 1}, nettracetest.Thread{Index: 2, ProcessID: 8, ThreadID: 9})
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1}, nettracetest.Event{Metadata: 1, Thread: 2})
	w.End()
	recs, r := mustRead(t, w.Bytes())
	if r.Header().ProcessID != -1 || recs[0].ProcessID != -1 || recs[1].ProcessID != 8 || recs[1].ThreadID != 9 {
		t.Errorf("header %d, records %d and %d/%d", r.Header().ProcessID, recs[0].ProcessID, recs[1].ProcessID, recs[1].ThreadID)
	}
}

// A removed thread stays known to events that are held back.
func TestVersion6RemovedThreads(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Threads(nettracetest.Thread{Index: 1, ThreadID: 101}, nettracetest.Thread{Index: 2, ThreadID: 102})
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: 10}, nettracetest.Event{Metadata: 1, Thread: 2, Time: 20})
	w.RemoveThreads(1)
	w.SequencePoint(30, 0, nil)
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 40}, nettracetest.Event{Metadata: 1, Thread: 1, Time: 50})
	w.SequencePoint(60, 1, nil)
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 70})
	w.End()
	for _, opts := range orders {
		recs, r := mustRead(t, w.Bytes(), opts...)
		var got []int64
		for _, rec := range recs {
			got = append(got, rec.ThreadID)
		}
		if diff := cmp.Diff([]int64{101, 102, 102, -1, -1}, got); diff != "" {
			t.Error(diff)
		}
		if r.Stats().UnknownThreads != 2 {
			t.Errorf("stats %+v", r.Stats())
		}
	}
}

func TestVersion6Labels(t *testing.T) {
	a, b, trace := etw.GUID{1}, etw.GUID{2}, etw.GUID{3}
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Threads(nettracetest.Thread{Index: 1})
	w.Labels(1,
		[]nettracetest.Label{{Kind: 1, GUID: a}, {Kind: 2, GUID: b}},
		[]nettracetest.Label{{Kind: 3, GUID: trace}, {Kind: 4, Value: 0x0102030405060708}, {Kind: 5, Key: "city", Text: "Zürich"}, {Kind: 6, Key: "n", Value: -300}},
		[]nettracetest.Label{{Kind: 7, Value: 2}, {Kind: 8, Value: 0xf0}, {Kind: 9, Value: 5}, {Kind: 10, Value: 7}},
		[]nettracetest.Label{{Kind: 7, Value: 0}, {Kind: 9, Value: 0}},
	)
	e := nettracetest.Event{Metadata: 1, Thread: 1}
	var events []nettracetest.Event
	for _, n := range []uint32{1, 2, 3, 4, 0, 5} {
		e.Labels = n
		events = append(events, e)
	}
	w.Events(events...)
	w.SequencePoint(10, 0, nil)
	e.Labels, e.Time = 1, 20
	w.Events(e)
	w.End()
	recs, r := mustRead(t, w.Bytes())
	if recs[0].ActivityID != a || recs[0].RelatedActivityID != b || recs[0].Extended != nil {
		t.Errorf("activities: %+v", recs[0])
	}
	items := recs[1].Extended
	if !recs[1].ActivityID.IsZero() || len(items) != 4 || items[0].Type != nettrace.ExtTraceID || etw.GUID(items[0].Data) != trace ||
		items[1].Type != nettrace.ExtSpanID || !bytes.Equal(items[1].Data, []byte{8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Fatalf("items: %+v", items)
	}
	if name, value, ok := nettrace.ParseLabel(items[2]); name != "city" || value != "Zürich" || !ok {
		t.Errorf("label %s: %v", name, value)
	}
	if name, value, ok := nettrace.ParseLabel(items[3]); name != "n" || value != int64(-300) || !ok {
		t.Errorf("label %s: %v", name, value)
	}
	if _, _, ok := nettrace.ParseLabel(items[0]); ok {
		t.Error("a trace id is no label")
	}
	if x := recs[2]; x.Opcode != 2 || x.Keywords != 0xf0 || x.Level != 5 || x.Version != 7 {
		t.Errorf("overrides: %+v", x)
	}
	if x := recs[3]; x.Opcode != 0 || x.Keywords != 1 || x.Level != 0 || x.Version != 2 {
		t.Errorf("overrides with 0: %+v", x)
	}
	if x := recs[4]; x.Level != 4 || x.Extended != nil || !x.ActivityID.IsZero() {
		t.Errorf("no labels: %+v", x)
	}
	// List 5 never was there, and list 1 was forgotten.
	if s := r.Stats(); s.UnknownLabels != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestVersion6MetadataItems(t *testing.T) {
	guid := etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{
		ID: 1, Provider: "P", EventID: 5, Name: "E", Version: 3, Level: 4, Keywords: 0x80,
		Tags: []nettracetest.Tag{
			nettracetest.OpcodeTag(9), nettracetest.GUIDTag(guid), nettracetest.MessageTag("hello %1"),
			{Kind: 5, Data: []byte("\x04text")}, {Kind: 6, Data: []byte("\x01k\x01v")}, {Kind: 99, Data: []byte("no length")},
		},
		Rest: []byte("reserved"),
	})
	w.Events(nettracetest.Event{Metadata: 1})
	w.SequencePoint(10, 2, nil)
	w.Events(nettracetest.Event{Metadata: 1, Time: 20})
	w.End()
	recs, r := mustRead(t, w.Bytes())
	a := recs[0]
	if a.Provider != guid || a.ID != 5 || a.Version != 3 || a.Level != 4 || a.Keywords != 0x80 || a.Opcode != 9 || a.Schema.Message != "hello %1" || a.Schema.Provider.GUID != guid {
		t.Errorf("record %+v", a)
	}
	if !recs[1].Provider.IsZero() || r.Stats().UnknownMetadata != 1 {
		t.Error("the metadata was not forgotten")
	}
}

// The only known writer of version 6 marks every event as a sort point, and
// gives all fields in every header.
func TestVersion6EverySortPoint(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Threads(nettracetest.Thread{Index: 1})
	var events []nettracetest.Event
	for i := range 100 {
		events = append(events, nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(i), SortPoint: true})
	}
	w.Events(events...)
	w.End()
	recs, _ := mustRead(t, w.Bytes(), nettrace.WithSortLimit(0))
	if len(recs) != 100 {
		t.Errorf("%d records", len(recs))
	}
}

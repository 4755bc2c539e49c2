package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// Each test here is named for a trap of the format.

func TestTimeDeltasCanBeNegative(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(
		nettracetest.Event{Metadata: 1, Thread: 1, Time: 1000},
		nettracetest.Event{Metadata: 1, Thread: 2, Time: 400},
		nettracetest.Event{Metadata: 1, Thread: 2, Time: -7},
		nettracetest.Event{Metadata: 1, Thread: 2, Time: 1 << 62},
	)
	w.End()
	recs, _ := mustRead(t, w.Bytes(), nettrace.WithFileOrder())
	if got := times(recs); !slices.Equal(got, []int64{1000, 400, -7, 1 << 62}) {
		t.Errorf("times %v", got)
	}
}

// decode decodes the payload of rec by its own schema and checks that nothing is
// left.
func decode(t *testing.T, rec *etw.Record) *etw.Dynamic {
	t.Helper()
	d := new(etw.Dynamic)
	n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize)
	if err != nil || n != len(rec.Payload) {
		t.Fatalf("decoded %d of %d bytes: %v", n, len(rec.Payload), err)
	}
	return d
}

func TestDateTimeHasEightBytes(t *testing.T) {
	when := etw.FileTimeOf(time.Date(2020, 2, 29, 12, 34, 56, 789e6, time.UTC))
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "P", EventID: 1, Name: "E", Fields: []nettracetest.Field{{Name: "when", Type: 16}, {Name: "n", Type: 9}}})
	w.Events(nettracetest.Event{Metadata: 1, Payload: append(binary.LittleEndian.AppendUint64(nil, uint64(when)), 5, 0, 0, 0)})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if d := decode(t, recs[0]); d.FieldValue(0).FileTime().String() != "2020-02-29T12:34:56.7890000Z" || d.FieldValue(1).Int() != 5 {
		t.Errorf("fields %v %v", d.FieldValue(0), d.FieldValue(1))
	}
}

func TestDecimalIsWrittenAsDouble(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "P", EventID: 1, Name: "E", Fields: []nettracetest.Field{{Name: "amount", Type: 15}}})
	w.Events(nettracetest.Event{Metadata: 1, Payload: []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if d := decode(t, recs[0]); d.FieldValue(0).Float() != 1.5 {
		t.Errorf("amount %v", d.FieldValue(0))
	}
}

func TestSortBitOfPlainHeadersIsInverted(t *testing.T) {
	for _, version := range []int{4, 6} {
		w := nettracetest.NewWriter(version, nettracetest.Trace{})
		w.Plain = true
		w.Metadata(clrRow(1, 10))
		w.Events(nettracetest.Event{Metadata: 1, SortPoint: true}, nettracetest.Event{Metadata: 1})
		w.End()
		r := testio.Reader(t, nettrace.NewReader, w.Bytes())
		var rec etw.Record
		for _, want := range []bool{true, false} {
			if err := r.Next(&rec); err != nil || r.Origin().SortPoint != want || r.Origin().MetadataID != 1 {
				t.Errorf("version %d: %+v, %v", version, r.Origin(), err)
			}
		}
	}
}

// The data of a block starts at a multiple of 4 in the stream, whatever comes
// before it.
func TestAlignmentCountsFromTheStart(t *testing.T) {
	for shift := range 4 {
		w := nettracetest.NewWriter(4, nettracetest.Trace{})
		w.Object("Padding"+"xyz"[:shift%4], nil)
		w.Metadata(clrRow(1, 10))
		w.Stacks(1, []uint64{uint64(shift)})
		w.Events(nettracetest.Event{Metadata: 1, Stack: 1, Payload: make([]byte, shift)})
		w.End()
		recs, r, _ := readStream(t, w.Bytes())
		if s := r.Stats(); s.UnknownBlocks != 1 || s.Damage.Count != 1 {
			t.Fatalf("stats %+v", s)
		}
		if len(recs) != 1 || recs[0].ID != 10 || recs[0].Stack.At(0) != uint64(shift) {
			t.Errorf("shift %d: %+v", shift, recs)
		}
	}
}

func TestMissingEndMarker(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		data := smallTrace(version)
		want, _ := mustRead(t, data)
		end := len(data) - 1
		if version == 6 {
			end = len(data) - 4
		}
		for _, opts := range orders {
			recs, r, err := readStream(t, data[:end], opts...)
			if !errors.Is(err, nettrace.ErrNotStopped) || len(recs) != len(want) || r.Stats().Stopped {
				t.Errorf("version %d: %d of %d records, %v", version, len(recs), len(want), err)
			}
		}
	}
}

func TestStackNumbersStartOver(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Stacks(1, []uint64{11}, []uint64{22, 23})
	w.Stacks(3, []uint64{33})
	w.Events(
		nettracetest.Event{Metadata: 1, Time: 1, Stack: 2},
		nettracetest.Event{Metadata: 1, Time: 2, Stack: 3},
		nettracetest.Event{Metadata: 1, Time: 3},
	)
	w.SequencePoint(10, 0, nil)
	w.Stacks(1, []uint64{44})
	w.Events(nettracetest.Event{Metadata: 1, Time: 11, Stack: 1}, nettracetest.Event{Metadata: 1, Time: 12, Stack: 2})
	w.End()
	want := [][]uint64{{22, 23}, {33}, nil, {44}, nil}
	for _, opts := range orders {
		recs, r := mustRead(t, w.Bytes(), opts...)
		for i, rec := range recs {
			if got := slices.Collect(rec.Stack.All()); !slices.Equal(got, want[i]) {
				t.Errorf("event %d: stack %d, want %d", i, got, want[i])
			}
		}
		if r.Stats().UnknownStacks != 1 {
			t.Errorf("stats %+v", r.Stats())
		}
	}
}

// TestNumbersStartOverUnsaid is about a sequence point that is lost: events before it refer
// to the tables from before the numbers started over.
func TestNumbersStartOverUnsaid(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Threads(nettracetest.Thread{Index: 1, ThreadID: 7})
	for i := range uint64(3) {
		w.Stacks(1, []uint64{10 + i}, []uint64{20 + i})
		w.Labels(1, []nettracetest.Label{{Kind: 7, Value: int64(30 + i)}})
		w.Events(
			nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(2 * i), Stack: 1},
			nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(2*i + 1), Stack: 2, Labels: 1},
		)
	}
	w.End()
	for _, opts := range orders {
		recs, _ := mustRead(t, w.Bytes(), opts...)
		for i, rec := range recs {
			round, second := i/2, i%2
			want := uint64(10*(1+second) + round)
			if got := slices.Collect(rec.Stack.All()); !slices.Equal(got, []uint64{want}) {
				t.Errorf("event %d: stack %d, want %d", i, got, want)
			}
			if second == 1 && rec.Opcode != etw.Opcode(30+round) {
				t.Errorf("event %d: opcode %d, want %d, of its label", i, rec.Opcode, 30+round)
			}
		}
		if len(recs) != 6 {
			t.Errorf("%d events, want 6", len(recs))
		}
	}
}

func TestStackNumbersNeedNotBeDense(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Stacks(4000000000, []uint64{1}, []uint64{2})
	w.Stacks(1<<32-1, []uint64{3})
	w.Events(nettracetest.Event{Metadata: 1, Stack: 4000000001}, nettracetest.Event{Metadata: 1, Stack: 1<<32 - 1})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if recs[0].Stack.At(0) != 2 || recs[1].Stack.At(0) != 3 {
		t.Errorf("stacks %v %v", recs[0].Stack, recs[1].Stack)
	}
}

func TestUnknownProcessor(t *testing.T) {
	for _, version := range []int{4, 6} {
		w := nettracetest.NewWriter(version, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		w.Events(nettracetest.Event{Metadata: 1, Processor: 0}, nettracetest.Event{Metadata: 1, Processor: 1}, nettracetest.Event{Metadata: 1, Processor: 64})
		w.End()
		recs, _ := mustRead(t, w.Bytes())
		for i, want := range []int32{-1, 0, 63} {
			if recs[i].Processor != want {
				t.Errorf("version %d: processor %d, want %d", version, recs[i].Processor, want)
			}
		}
	}
}

func TestEventIDsRepeatAcrossProviders(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	rundown := clrRow(2, 146)
	rundown.Provider += "Rundown"
	w.Metadata(clrRow(1, 146), rundown)
	w.Events(nettracetest.Event{Metadata: 2}, nettracetest.Event{Metadata: 1})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if recs[0].Key() != (etw.Key{Provider: rundownGUID, ID: 146, Version: 2}) || recs[1].Key() != (etw.Key{Provider: clrGUID, ID: 146, Version: 2}) {
		t.Errorf("keys %v %v", recs[0].Key(), recs[1].Key())
	}
}

// A rundown is one thread's, in many blocks and without a sort point. Another
// thread may still have older events, so nothing of it may be delivered before
// the end.
func TestRundownWithoutSortPoints(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: 1, SortPoint: true})
	var want []int64
	want = append(want, 1)
	at := int64(1)
	for range 50 {
		var events []nettracetest.Event
		for range 20 {
			at += 10
			events = append(events, nettracetest.Event{Metadata: 1, Thread: 1, Time: at})
			want = append(want, at)
		}
		w.Events(events...)
	}
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 5}, nettracetest.Event{Metadata: 1, Thread: 2, Time: 6000})
	want = append(want, 5, 6000)
	slices.Sort(want)
	w.SequencePoint(at, 0, nil)
	w.End()
	recs, r := mustRead(t, w.Bytes())
	if got := times(recs); !slices.Equal(got, want) {
		t.Errorf("times %v", got)
	}
	if r.Stats().OutOfOrder != 0 {
		t.Errorf("stats %+v", r.Stats())
	}
}

// Profilers write payloads that their own metadata does not describe: here a
// bool of one byte that is declared with four, and an array without its count.
func TestWrongMetadataOfAProfiler(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{
		ID: 1, Provider: "My-Profiler", EventID: 1, Name: "Sampled",
		Tags:    []nettracetest.Tag{{Kind: 2}},
		Fields2: []nettracetest.Field{{Name: "id", Type: 9}, {Name: "ids", Type: 19, Elem: &nettracetest.Field{Type: 11}}, {Name: "last", Type: 3}},
	})
	payload := []byte{7, 0, 0, 0, 200, 200, 1}
	w.Events(nettracetest.Event{Metadata: 1, Payload: payload})
	w.End()
	recs, r := mustRead(t, w.Bytes())
	var d etw.Dynamic
	if _, err := d.Decode(recs[0].Schema, recs[0].Payload, recs[0].PointerSize); err == nil {
		t.Fatal("the payload decodes although it should not")
	}
	d.DecodeLoose(recs[0].Schema, recs[0].Payload, recs[0].PointerSize)
	if d.FieldValue(0).Int() != 7 || !bytes.Equal(d.Rest(), payload[4:]) {
		t.Errorf("kept %v and % x", d.FieldValue(0), d.Rest())
	}
	if s := r.Stats(); s.BadFields != 0 || s.BadMetadata != 0 {
		t.Errorf("stats %+v", s)
	}
}

// In a compressed header the sequence number depends on the metadata id of the
// same event, not on that of the one before.
func TestMetadataIDComesBeforeTheSequence(t *testing.T) {
	b := binary.LittleEndian.AppendUint16(nil, 20)
	b = append(b, 1, 0)
	b = append(b, make([]byte, 16)...)
	b = append(b, 0x01|0x02, 1, 0, 5, 0, 10) // metadata 1, sequence 1, thread 5
	b = append(b, 0x01, 2, 10)               // metadata 2: sequence 2
	b = append(b, 0x02, 0, 5, 0, 10)         // sequence 3, as it should be
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10), clrRow(2, 11))
	w.Object("EventBlock", b)
	w.End()
	r := testio.Reader(t, nettrace.NewReader, w.Bytes())
	var rec etw.Record
	for i := range 3 {
		if err := r.Next(&rec); err != nil || r.Origin().Sequence != uint32(i+1) {
			t.Fatalf("event %d has number %d: %v", i, r.Origin().Sequence, err)
		}
	}
	if r.Stats().Lost != 0 {
		t.Errorf("stats %+v", r.Stats())
	}
}

// The state of compressed headers does not outlive the block.
func TestHeadersStartOverInEachBlock(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	full := nettracetest.Event{
		Metadata: 1, Time: 1000, Thread: 1 << 40, Capture: 9, Processor: 3, Stack: 5, Payload: []byte("p"),
		Activity: etw.GUID{1}, Related: etw.GUID{2},
	}
	w.Events(full)
	w.Events(nettracetest.Event{Metadata: 1, Time: 2000})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if a := recs[0]; a.ThreadID != 1<<40 || a.ActivityID != (etw.GUID{1}) || a.RelatedActivityID != (etw.GUID{2}) {
		t.Errorf("record %+v", a)
	}
	if b := recs[1]; b.ThreadID != 0 || b.Processor != -1 || !b.ActivityID.IsZero() || len(b.Payload) != 0 {
		t.Errorf("record %+v", b)
	}
}

// The size in a plain header may or may not count padding after the payload.
func TestPaddingAfterPlainPayloads(t *testing.T) {
	for _, padding := range []int{0, 3} {
		w := nettracetest.NewWriter(4, nettracetest.Trace{})
		w.Plain = true
		w.Metadata(clrRow(1, 10))
		b := binary.LittleEndian.AppendUint16(nil, 20)
		b = append(b, make([]byte, 18)...)
		for i := range 2 {
			h := make([]byte, 80)
			binary.LittleEndian.PutUint32(h, uint32(76+1+padding))
			binary.LittleEndian.PutUint32(h[4:], 1|1<<31)
			binary.LittleEndian.PutUint64(h[36:], uint64(i+1))
			binary.LittleEndian.PutUint32(h[76:], 1)
			b = append(append(b, h...), byte(i))
			b = append(b, make([]byte, padding)...)
		}
		w.Object("EventBlock", b)
		w.End()
		recs, _ := mustRead(t, w.Bytes())
		if len(recs) != 2 || recs[1].Timestamp != 2 || recs[1].Payload[0] != 1 {
			t.Errorf("padding %d: %+v", padding, recs)
		}
	}
}

// The thread that an event is about and the one that logged it differ for
// samples.
func TestThreadIsNotTheCaptureThread(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Microsoft-DotNETCore-SampleProfiler"})
	w.Events(nettracetest.Event{Metadata: 1, Thread: 20, Capture: 10, Payload: []byte{2, 0, 0, 0}})
	w.End()
	r := testio.Reader(t, nettrace.NewReader, w.Bytes())
	var rec etw.Record
	if err := r.Next(&rec); err != nil || rec.ThreadID != 20 || r.Origin().CaptureThread != 10 {
		t.Errorf("thread %d of %d: %v", rec.ThreadID, r.Origin().CaptureThread, err)
	}
	if got := string(etw.AppendText(nil, decode(t, &rec))); got != "ThreadSample Type=Managed" {
		t.Error(got)
	}
}

// Everything that was whole before a cut is delivered, in either order, and the
// error says where the stream ends.
func TestTruncation(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		data := smallTrace(version)
		for _, opts := range orders {
			want, _ := mustRead(t, data, opts...)
			last := 0
			for n := range data {
				recs, _, err := readStream(t, data[:n], opts...)
				if err == nil || errors.Is(err, io.EOF) || errors.Is(err, nettrace.ErrDamaged) {
					t.Fatalf("version %d, %d of %d bytes: %v", version, n, len(data), err)
				}
				pos := new(etw.Damage)
				if !errors.As(err, &pos) || pos.Offset > int64(n) {
					t.Fatalf("version %d, %d bytes: offset %d", version, n, pos.Offset)
				}
				if len(recs) < last {
					t.Fatalf("version %d: %d records of %d bytes, %d of fewer", version, len(recs), n, last)
				}
				last = len(recs)
				if opts != nil {
					for i, rec := range recs {
						if rec.Timestamp != want[i].Timestamp || !bytes.Equal(rec.Payload, want[i].Payload) {
							t.Fatalf("version %d, %d bytes: record %d differs", version, n, i)
						}
					}
				}
			}
			if last != len(want) {
				t.Errorf("version %d: %d of %d records without the end marker", version, last, len(want))
			}
		}
	}
}

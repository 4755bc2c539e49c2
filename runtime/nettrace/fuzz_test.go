package nettrace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// FuzzReader holds the invariants of any input: it ends with an error that says why, sorting
// loses and invents nothing, and delivered events can be decoded and rendered.
func FuzzReader(f *testing.F) {
	for _, version := range []int{3, 4, 6} {
		f.Add(smallTrace(version))
	}
	f.Add(describedTrace(4))
	f.Add(describedTrace(6))
	seeds := recorded(f)
	if dir, err := filepath.Glob("../../../shared/corpus/nettrace/*.net*[ef]"); err == nil {
		seeds = append(seeds, dir...)
	}
	for _, path := range seeds {
		if fi, err := os.Stat(path); err == nil && fi.Size() < 16<<10 {
			data := testio.Read(f, path)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inOrder := fuzzRead(t, data, nettrace.WithFileOrder())
		for _, limit := range []int64{100, 1 << 20} {
			sorted := fuzzRead(t, data, nettrace.WithSortLimit(limit))
			// A stack that stands behind its event is found where events wait.
			if sorted.stacks >= inOrder.stacks {
				sorted.stacks = inOrder.stacks
			}
			if sorted != inOrder {
				t.Errorf("in order %+v, sorted %+v", inOrder, sorted)
			}
		}
	})
}

// A digest of a stream that does not depend on the order of its events.
type streamSum struct {
	events, bytes, stacks int
	times                 int64
	lost                  int64
}

func fuzzRead(t *testing.T, data []byte, opts ...nettrace.Option) (sum streamSum) {
	r, err := nettrace.NewReader(bytes.NewReader(data), opts...)
	if err != nil {
		return sum
	}
	var rec etw.Record
	var d etw.Dynamic
	var text []byte
	for {
		err := r.Next(&rec)
		if err != nil {
			if err != io.EOF && !errors.As(err, new(*etw.Damage)) && !errors.Is(err, nettrace.ErrSortLimit) {
				t.Errorf("an error without an offset: %v", err)
			}
			if err != io.EOF && r.Next(&rec) != io.EOF {
				t.Error("no end after the error")
			}
			break
		}
		sum.events++
		sum.bytes += len(rec.Payload)
		sum.stacks += rec.Stack.Len()
		sum.times += rec.Timestamp
		if rec.Schema != nil {
			if n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize); n > len(rec.Payload) || err != nil && n != 0 {
				t.Errorf("decoded %d of %d bytes: %v", n, len(rec.Payload), err)
			}
			d.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize)
			text = etw.AppendText(text[:0], &d)
		}
		for _, item := range rec.Extended {
			nettrace.ParseLabel(item)
		}
	}
	if sum.events > len(data) {
		t.Errorf("%d events in %d bytes", sum.events, len(data))
	}
	sum.lost = r.Stats().Lost
	return sum
}

// describedTrace is a stream whose metadata has all there is.
func describedTrace(version int) []byte {
	inner := nettracetest.Field{Name: "in", Type: 1, Fields: fields{{Name: "a", Type: 9}, {Name: "b", Type: 18}}}
	rows := []nettracetest.Row{
		{ID: 1, Provider: "P", EventID: 1, Name: "ScalarsStart", Fields: scalars},
		{ID: 2, Provider: "P", EventID: 2, Name: "Nested", Fields: fields{inner}},
	}
	if version == 4 {
		rows = append(rows, nettracetest.Row{ID: 3, Provider: "P", EventID: 3, Name: "Arrays", Tags: []nettracetest.Tag{nettracetest.OpcodeTag(3), {Kind: 2}},
			Fields2: fields{{Name: "a", Type: 19, Elem: &inner}, {Name: "c", Type: 19, Elem: &nettracetest.Field{Type: 4}}}})
	} else {
		rows = append(rows, nettracetest.Row{ID: 3, Provider: "P", EventID: 3, Name: "Arrays", Tags: []nettracetest.Tag{nettracetest.MessageTag("%1")},
			Fields: fields{{Name: "r", Type: 24, Elem: &nettracetest.Field{Type: 23}}, {Name: "f", Type: 22, Count: 2, Elem: &inner}, {Name: "v", Type: 21}}})
	}
	w := nettracetest.NewWriter(version, nettracetest.Trace{Keys: [][2]string{{"ProcessId", "5"}}})
	w.Metadata(rows...)
	if version == 6 {
		w.Threads(nettracetest.Thread{Index: 1, Name: "t", ProcessID: 1, ThreadID: 2, Keys: [][2]string{{"k", "v"}}})
		w.Labels(1, []nettracetest.Label{{Kind: 1}, {Kind: 3}, {Kind: 4}, {Kind: 5, Key: "k", Text: "v"}, {Kind: 6, Key: "k", Value: -1}, {Kind: 9, Value: 1}})
	}
	events := []nettracetest.Event{
		{Metadata: 1, Thread: 1, Time: 10, Labels: 1, Activity: someGUID, Payload: scalarPayload},
		{Metadata: 2, Thread: 1, Time: 20, Payload: join(int32(1), "x")},
		{Metadata: 3, Thread: 1, Time: 30, Lost: 2, Payload: join(uint16(1), int32(1), "x", uint16(1), uint16('q'))},
	}
	w.Events(events...)
	if version == 6 {
		w.RemoveThreads(1)
	}
	w.SequencePoint(40, 3, nil)
	w.Plain = true
	w.Events(events...)
	w.End()
	return w.Bytes()
}

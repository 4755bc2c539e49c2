package nettrace_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

func TestLoss(t *testing.T) {
	event := func(thread uint64, lost uint32) nettracetest.Event {
		return nettracetest.Event{Metadata: 1, Thread: thread, Lost: lost}
	}
	for _, c := range []struct {
		name    string
		version int
		write   func(w *nettracetest.Writer)
		want    map[uint64]int64
	}{
		{"none", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(1, 0), event(2, 0), event(1, 0))
			w.Events(event(2, 0), event(1, 0))
			w.SequencePoint(0, 0, nil)
			w.Events(event(2, 0))
		}, nil},
		{"in a block", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(1, 5), event(2, 0), event(1, 1))
		}, map[uint64]int64{1: 6}},
		{"between blocks", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(2, 0))
			w.Events(event(1, 3))
		}, map[uint64]int64{1: 3}},
		{"before the first event", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 7), event(1, 0))
		}, nil},
		{"before the first event, version 6", 6, func(w *nettracetest.Writer) {
			w.Events(event(1, 7), event(1, 0), event(2, 0))
		}, map[uint64]int64{1: 7}},
		{"at a sequence point", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(2, 0))
			w.SequencePoint(0, 0, map[uint64]uint32{1: 4, 2: 1, 3: 9})
			w.Events(event(1, 0), event(2, 2))
		}, map[uint64]int64{1: 4, 2: 3, 3: 9}},
		{"a recording that was parted", 4, func(w *nettracetest.Writer) {
			w.SequencePoint(0, 0, map[uint64]uint32{1: 4, 3: 9})
			w.Events(event(1, 6))
			w.SequencePoint(0, 0, map[uint64]uint32{1: 1, 5: 2})
		}, map[uint64]int64{1: 7, 5: 2}},
		{"at a sequence point, version 6", 6, func(w *nettracetest.Writer) {
			w.Events(event(1, 0))
			w.SequencePoint(0, 0, map[uint64]uint32{1: 4, 3: 9})
		}, map[uint64]int64{1: 4, 3: 9}},
		{"a recycled id", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(1, 0), event(1, 0))
			w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Restart: true}, event(1, 0))
			w.SequencePoint(0, 0, nil)
		}, nil},
		{"forgotten threads", 6, func(w *nettracetest.Writer) {
			w.Events(event(1, 0), event(1, 0))
			w.SequencePoint(0, 1, nil)
			w.Events(event(1, 2))
		}, map[uint64]int64{1: 2}},
		{"a removed thread", 6, func(w *nettracetest.Writer) {
			w.Threads(nettracetest.Thread{Index: 1})
			w.Events(event(1, 0), event(1, 3))
			w.RemoveThreads(1)
		}, map[uint64]int64{1: 3}},
		{"not compressed", 4, func(w *nettracetest.Writer) {
			w.Plain = true
			w.Events(event(1, 0), event(1, 5), event(2, 0))
		}, map[uint64]int64{1: 5}},
		{"numbers wrap", 4, func(w *nettracetest.Writer) {
			w.Events(event(1, 1<<32-3), event(1, 0), event(1, 0), event(1, 2), event(1, 0))
		}, map[uint64]int64{1: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := nettracetest.NewWriter(c.version, nettracetest.Trace{})
			w.Metadata(clrRow(1, 10))
			c.write(w)
			w.End()
			for _, opts := range orders {
				_, r := mustRead(t, w.Bytes(), opts...)
				s := r.Stats()
				total := int64(0)
				for _, n := range c.want {
					total += n
				}
				if s.Lost != total || !maps.Equal(s.LostByThread, c.want) {
					t.Errorf("lost %d, by thread %v, want %v", s.Lost, s.LostByThread, c.want)
				}
			}
		})
	}
}

// TestLost: each record has how many events of its thread were lost before it.
func TestLost(t *testing.T) {
	event := func(thread uint64, lost uint32) nettracetest.Event {
		return nettracetest.Event{Metadata: 1, Thread: thread, Lost: lost}
	}
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(event(1, 0), event(1, 3), event(2, 0), event(1, 0))
	w.Events(event(2, 1), event(1, 0))
	w.SequencePoint(0, 0, map[uint64]uint32{1: 2})
	w.Events(event(1, 0), event(2, 2))
	w.End()
	for _, opts := range orders {
		recs, _ := mustRead(t, w.Bytes(), opts...)
		got := make(map[int64][]uint32)
		for _, r := range recs {
			got[r.ThreadID] = append(got[r.ThreadID], r.Lost)
		}
		if want := map[int64][]uint32{1: {0, 3, 3, 3, 5}, 2: {0, 1, 3}}; !maps.EqualFunc(got, want, slices.Equal[[]uint32]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// A block that says which threads have ended, and that is damaged, says nothing: neither that
// they lost events, nor is anything kept of them.
func TestRemovedByDamage(t *testing.T) {
	var rows []byte
	for i := range uint64(100_000) {
		rows = append(binary.AppendUvarint(rows, i+2), 0xff, 0xff, 3)
	}
	for _, c := range []struct {
		name string
		data []byte
		lost int64
	}{{"whole", rows[:8], 2 * 0xffff}, {"cut", append(rows, 0x80), 0}} {
		w := nettracetest.NewWriter(6, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		w.Events(nettracetest.Event{Metadata: 1, Thread: 1})
		w.Block(7, c.data)
		w.End()
		for _, opts := range orders {
			_, r, err := readStream(t, w.Bytes(), opts...)
			if s := r.Stats(); s.Lost != c.lost || errors.Is(err, nettrace.ErrDamaged) != (c.lost == 0) {
				t.Errorf("%s: %d are lost, want %d: %v", c.name, s.Lost, c.lost, err)
			}
			if n := nettrace.RemovedThreads(r); n > 0 {
				t.Errorf("%s: %d threads are kept that never were", c.name, n)
			}
		}
	}
}

// Losses at the end of a stream show in the last sequence point. If the stream has none
// because it was not stopped, losses there are unknown.
func TestLossAtTheEnd(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1})
	end := w.Offset()
	w.SequencePoint(1, 0, map[uint64]uint32{1: 2236})
	w.End()
	if _, r := mustRead(t, w.Bytes()); r.Stats().Lost != 2236 {
		t.Errorf("lost %d", r.Stats().Lost)
	}
	_, r, err := readStream(t, w.Bytes()[:end])
	if !errors.Is(err, nettrace.ErrNotStopped) || r.Stats().Lost != 0 {
		t.Errorf("lost %d, %v", r.Stats().Lost, err)
	}
}

// The trace was recorded with a buffer of 1 MB, which is too small.
func TestRecordedLoss(t *testing.T) {
	r := testio.Open(t, nettrace.Open, "../../tests/recorded/lost.nettrace")
	defer r.Close()
	n := int64(0)
	for range testio.Records(t, r.Records()) {
		n++
	}
	// Two threads logged 4500 events each, and the runtime one more.
	s := r.Stats()
	if n == 0 || s.Lost == 0 || n+s.Lost > 9001 || n+s.Lost < 9000 {
		t.Errorf("%d events and %d lost of 9000, by thread %v", n, s.Lost, s.LostByThread)
	}
}

package nettrace_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// TestSorted writes the events of several threads in the way that the runtime does, batch by
// batch: each batch has the events up to some time, thread by thread, and starts with its
// oldest event, a sort point.
func TestSorted(t *testing.T) {
	for _, version := range []int{4, 6} {
		for seed := range uint64(30) {
			rng := rand.New(rand.NewPCG(seed, uint64(version)))
			w := nettracetest.NewWriter(version, nettracetest.Trace{})
			w.Plain = seed%5 == 4
			w.Metadata(clrRow(1, 10), clrRow(2, 11))
			threads := 1 + rng.IntN(6)
			if version == 6 {
				for i := range threads {
					w.Threads(nettracetest.Thread{Index: uint64(i + 1), ThreadID: uint64(100 * (i + 1))})
				}
			}
			type key struct {
				time   int64
				thread uint64
				n      byte
			}
			var want []key
			var events []nettracetest.Event
			flush := func() {
				if len(events) > 0 {
					w.Events(events...)
				}
				events = nil
			}
			now := int64(0)
			for batch := range 20 {
				end := now + 1 + rng.Int64N(1000)
				var all []nettracetest.Event
				for th := range threads {
					at := now
					for range rng.IntN(30) {
						at += rng.Int64N(40)
						if at >= end {
							break
						}
						all = append(all, nettracetest.Event{Metadata: uint32(1 + rng.IntN(2)), Thread: uint64(th + 1), Time: at, Payload: []byte{byte(len(all)), byte(batch)}})
						want = append(want, key{at, uint64(th + 1), byte(len(all) - 1)})
					}
				}
				if len(all) > 0 {
					// The oldest event comes first, the rest of its thread later.
					first := 0
					for i := range all {
						if all[i].Time < all[first].Time {
							first = i
						}
					}
					all[first].SortPoint = rng.IntN(4) > 0
					oldest := all[first]
					all = append([]nettracetest.Event{oldest}, slices.Delete(all, first, first+1)...)
				}
				for i, e := range all {
					if i > 0 && rng.IntN(20) == 0 {
						flush()
					}
					events = append(events, e)
				}
				if rng.IntN(3) == 0 {
					flush()
				}
				if rng.IntN(6) == 0 {
					flush()
					w.SequencePoint(end, 0, nil)
				}
				now = end
			}
			flush()
			w.End()

			var got []key
			recs, r := mustRead(t, w.Bytes())
			for _, rec := range recs {
				thread := uint64(rec.ThreadID)
				if version == 6 {
					thread /= 100
				}
				got = append(got, key{rec.Timestamp, thread, rec.Payload[0]})
			}
			name := fmt.Sprintf("version %d, seed %d", version, seed)
			if !slices.IsSortedFunc(got, func(a, b key) int { return int(a.time - b.time) }) || r.Stats().OutOfOrder != 0 {
				t.Errorf("%s: not sorted", name)
			}
			compare := func(a, b key) int {
				return int(a.time-b.time)*1000 + int(a.thread)*20 - int(b.thread)*20 + int(a.n) - int(b.n)
			}
			slices.SortFunc(got, compare)
			slices.SortFunc(want, compare)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d events of %d", name, len(got), len(want))
			}
		}
	}
}

// Events of equal time stay in the order of the stream.
func TestSortedIsStable(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	for i := range 10 {
		w.Events(nettracetest.Event{Metadata: 1, Thread: uint64(9 - i), Time: 5, Payload: []byte{byte(i)}})
	}
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	for i, rec := range recs {
		if rec.Payload[0] != byte(i) {
			t.Errorf("event %d is number %d", i, rec.Payload[0])
		}
	}
}

// A thread that steps back within itself is sorted like any other.
func TestSortedThreadStepsBack(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	var events []nettracetest.Event
	for _, at := range []int64{5, 9, 3, 4, 4, 1, 7, 8, 2} {
		events = append(events, nettracetest.Event{Metadata: 1, Thread: 1, Time: at})
	}
	w.Events(events...)
	w.Events(events...)
	w.End()
	recs, r := mustRead(t, w.Bytes())
	got := times(recs)
	if !slices.IsSorted(got) || len(got) != 18 || r.Stats().OutOfOrder != 0 {
		t.Errorf("times %v", got)
	}
}

// A stream whose sort points lie gets the best possible order, and the rest is counted.
func TestFalseSortPoint(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: 100, SortPoint: true})
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 50}, nettracetest.Event{Metadata: 1, Thread: 2, Time: 150})
	w.End()
	recs, r := mustRead(t, w.Bytes())
	if got := times(recs); !slices.Equal(got, []int64{100, 50, 150}) || r.Stats().OutOfOrder != 1 {
		t.Errorf("times %v, %d out of order", got, r.Stats().OutOfOrder)
	}
}

func TestSortLimit(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	const blocks = 40
	for i := range blocks {
		w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(10 * i), Payload: make([]byte, 1000)})
	}
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 15})
	w.End()

	_, _, err := readStream(t, w.Bytes(), nettrace.WithSortLimit(1<<20))
	if err != nil {
		t.Fatalf("with room for all: %v", err)
	}

	// Past the limit nothing is lost but order, and that is said at the end.
	recs, r, err := readStream(t, w.Bytes(), nettrace.WithSortLimit(10_000))
	if !errors.Is(err, nettrace.ErrSortLimit) || errors.Is(err, etw.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
	if len(recs) != blocks+1 || r.Stats().OutOfOrder != 1 {
		t.Errorf("%d records, %d out of order", len(recs), r.Stats().OutOfOrder)
	}
	if err := r.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}

	// A trace may be both incomplete and out of order.
	_, _, err = readStream(t, w.Bytes()[:w.Offset()-1], nettrace.WithSortLimit(10_000))
	if !errors.Is(err, nettrace.ErrSortLimit) || !errors.Is(err, etw.ErrIncomplete) || !errors.Is(err, nettrace.ErrNotStopped) {
		t.Errorf("without an end: %v", err)
	}

	// At the limit events that are due come early, which need not be too early.
	w = nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	for i := range blocks {
		w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(10 * i), Payload: make([]byte, 1000)})
	}
	w.End()
	if recs, _, err := readStream(t, w.Bytes(), nettrace.WithSortLimit(10_000)); err != nil || len(recs) != blocks {
		t.Errorf("of one thread: %d records, %v", len(recs), err)
	}
}

// Sorted and in the order of the stream, the records are the same.
func TestSortedIsAPermutation(t *testing.T) {
	for _, file := range recorded(t) {
		a, b := digest(t, file, nettrace.WithFileOrder()), digest(t, file)
		if !slices.Equal(a, b) {
			t.Errorf("%s: the records differ", file)
		}
	}
}

// digest returns all that is in the records of a file, sorted.
func digest(t *testing.T, file string, opts ...nettrace.Option) []string {
	t.Helper()
	r := testio.Open(t, nettrace.Open, file, opts...)
	defer r.Close()
	var all []string
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
		all = append(all, describe(&rec, r.Origin()))
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func describe(rec *etw.Record, o nettrace.Origin) string {
	o.Thread, o.Capture, o.Metadata = nil, nil, nil
	return fmt.Sprintf("%d %v %d %d %s %s %d %d %d %x %x %v %v %+v", rec.Timestamp, rec.Key(), rec.Level, rec.Keywords, rec.ActivityID, rec.RelatedActivityID,
		rec.ProcessID, rec.ThreadID, rec.Processor, rec.Payload, rec.Stack.Addresses, rec.Extended, rec.Schema != nil, o)
}

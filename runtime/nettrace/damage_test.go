package nettrace_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// A stretch is the data of a block in a stream, and the time stamps of the events
// in it.
type stretch struct {
	from, to int
	times    []int64
}

// stretches writes a stream with blocks of all kinds between blocks of events.
func stretches(version int) (data []byte, list []stretch) {
	w := nettracetest.NewWriter(version, nettracetest.Trace{})
	add := func(name string, times []int64, write func()) {
		at := w.Offset()
		write()
		s := stretch{to: w.Offset(), times: times}
		if version == 6 {
			s.from = at + 4
		} else {
			// After the name come a tag and the size, and padding.
			s.from = at + bytes.Index(w.Bytes()[at:], []byte(name)) + len(name) + 1 + 4
			s.from = (s.from + 3) &^ 3
			s.to-- // the end tag
		}
		list = append(list, s)
	}
	now := int64(0)
	events := func() {
		var times []int64
		var block []nettracetest.Event
		for i := range 3 {
			now += 10
			times = append(times, now)
			block = append(block, nettracetest.Event{
				Metadata: 1, Thread: uint64(1 + i%2), Capture: uint64(1 + i%2), Time: now, Stack: 1, SortPoint: i == 2, Payload: []byte("payload"),
			})
		}
		add("EventBlock", times, func() { w.Events(block...) })
	}
	if version == 3 {
		w.Metadata(clrRow(1, 10)) // in a block of events
	} else {
		add("MetadataBlock", nil, func() { w.Metadata(clrRow(1, 10)) })
		add("StackBlock", nil, func() { w.Stacks(1, []uint64{1, 2}) })
	}
	if version == 6 {
		add("", nil, func() {
			w.Threads(nettracetest.Thread{Index: 1, ThreadID: 101}, nettracetest.Thread{Index: 2, ThreadID: 102})
		})
		add("", nil, func() { w.Labels(1, []nettracetest.Label{{Kind: 5, Key: "k", Text: "v"}}) })
	}
	events()
	events()
	if version != 3 {
		now += 10
		add("SPBlock", nil, func() { w.SequencePoint(now, 0, nil) })
	}
	if version == 6 {
		add("", nil, func() { w.RemoveThreads(2) })
	}
	events()
	w.End()
	return w.Bytes(), list
}

// TestDamagedBlock damages each byte of each block. It costs events of that block at most:
// all others are delivered, and faults noticed are reported.
func TestDamagedBlock(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		whole, list := stretches(version)
		noticed, lost := 0, 0
		for i, s := range list {
			var want []int64
			for j, other := range list {
				if j != i {
					want = append(want, other.times...)
				}
			}
			for at := s.from; at < s.to; at++ {
				for _, change := range []byte{0x01, 0x80, 0xff} {
					data := bytes.Clone(whole)
					data[at] ^= change
					for _, opts := range orders {
						recs, r, err := readStream(t, data, opts...)
						what := fmt.Sprintf("version %d, block %d, byte %d changed by %#x", version, i, at, change)
						got := times(recs)
						for _, time := range want {
							if !slices.Contains(got, time) {
								t.Fatalf("%s: no event at %d, only at %v: %v", what, time, got, err)
							}
						}
						damaged := r.Stats().DamagedBlocks
						if errors.Is(err, nettrace.ErrDamaged) != (damaged == 1) || damaged > 1 || err != nil && damaged == 0 {
							t.Fatalf("%s: error %v, %d damaged blocks", what, err, damaged)
						}
						var where *etw.Damage
						if err != nil && (!errors.As(err, &where) || where.Offset < int64(s.from) || where.Offset > int64(s.to)) {
							t.Fatalf("%s: error %v, want one at %d to %d", what, err, s.from, s.to)
						}
						if err != nil {
							noticed++
						}
						if r.Stats().Lost > 0 {
							lost++
						}
					}
				}
			}
		}
		if noticed == 0 || lost == 0 && version != 3 {
			t.Errorf("version %d: damage was noticed %d times, losses %d times", version, noticed, lost)
		}
	}
}

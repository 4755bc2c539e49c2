package activities

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestSoFar: an activity that awaits, one whose thread waits for a lock, one whose thread waits for a
// task, and one that runs, none of which is over; and one that is.
func TestSoFar(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	at := map[uint16]*etw.EventDesc{}
	for _, d := range taskEvents {
		at[d.ID] = d
	}
	wait := func(thread int64, task, behavior uint32) {
		p := binary.LittleEndian.AppendUint64(nil, 0)
		p = binary.LittleEndian.AppendUint32(p, task)
		p = binary.LittleEndian.AppendUint32(p, behavior)
		s.library(thread, at[taskWaitBegin], binary.LittleEndian.AppendUint32(p, 0))
	}
	var all []*Activity
	begin := func(thread int64) {
		id := actid.Make(1, 0xf0, byte(len(all)))
		s.worksFor(thread, id)
		s.source(thread, s.start, etw.OpcodeStart, id)
		for _, rt := range a.processes.All() {
			all = append(all, rt.State.live[id])
		}
		s.at += 10 * time.Millisecond
	}
	s.library(9, at[traceOperationBegin], append(binary.LittleEndian.AppendUint32(nil, 5), "D\x00e\x00l\x00a\x00y\x00\x00\x00"...))
	begin(1)
	wait(1, 5, 2) // the innermost, then its caller
	wait(1, 6, 2)
	s.worksFor(1, etw.GUID{})
	begin(2)
	s.Event(s.at, 2, &clr.ContentionStartV1{})
	begin(3)
	wait(3, 7, 1)
	begin(4)
	begin(5)
	s.worksFor(5, etw.GUID{})
	s.source(5, s.stop, etw.OpcodeStop, actid.Make(1, 0xf0, 4))
	s.at += 30 * time.Millisecond
	s.library(9, at[traceOperationEnd], make([]byte, 8))
	for i, want := range [][Kinds]int64{{Running: 10, Awaiting: 70}, {Running: 10, Lock: 60}, {Running: 10, Blocked: 50}, {Running: 50}, {}} {
		c, got := a.SoFar(all[i]), [Kinds]int64{}
		if (c == nil) != (i == 4) {
			t.Fatalf("%d: %v", i, c)
		}
		if c == nil {
			continue
		}
		for k, n := range c.Spent {
			got[k] = n / 1e6
		}
		if got != want || c.Parallel != 0 {
			t.Errorf("%d: %v ms, want %v; %d in parallel", i, got, want, c.Parallel)
		}
		if i == 0 && c.Path[0].Name != "Delay" {
			t.Errorf("%+v", c.Path[0])
		}
	}
	if all[0].End != 0 || all[0].Over {
		t.Error("it is over")
	}
}

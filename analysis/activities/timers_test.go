package activities

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestTimers: a request awaits a timer, which fires on the thread that ran it and that had something
// else to do meanwhile. With .NET Core 3.1, whose items have addresses, a timer is no item of the queue
// and so no part of that; later it is one, which was in the queue itself.
func TestTimers(t *testing.T) {
	for name, number := range map[string]uint64{"3.1": 0x7f0000001000, "later": 0x1000} {
		var mux etw.Mux
		a := New(&mux)
		s := newShop(t, &mux)
		var x *Activity
		a.OnSpan(func(_ int64, span Span) { x = span.Of })
		item := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, number+n<<8) }
		id := actid.Make(1, 0x10)
		s.library(9, poolEvents[0], item(1))
		s.library(9, poolEvents[0], item(2))
		s.library(1, poolEvents[1], item(1))
		s.worksFor(1, id)
		s.source(1, s.start, etw.OpcodeStart, id)
		s.at += 10 * time.Millisecond
		s.worksFor(1, etw.GUID{})
		s.library(1, poolEvents[1], item(2)) // which waited since before the request began
		s.at += 30 * time.Millisecond
		want := [Kinds]int64{Running: 15, Awaiting: 30}
		if number>>32 == 0 {
			s.library(9, poolEvents[0], item(3))
			s.at += 2 * time.Millisecond
			s.library(1, poolEvents[1], item(3))
			want[Queued] = 2
		}
		s.library(1, poolEvents[2], make([]byte, 14))
		s.worksFor(1, id)
		s.at += 5 * time.Millisecond
		s.worksFor(1, etw.GUID{})
		s.source(1, s.stop, etw.OpcodeStop, id)
		got := x.Causes.Spent
		for k := range got {
			got[k] = got[k] / 1e6
		}
		if got != want || x.Causes.Parallel != 0 {
			t.Errorf("%s: %v ms, want %v; %d in parallel", name, got, want, x.Causes.Parallel)
		}
	}
}

package cpu

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestStopped: a thread that makes the runtime collect is paused where it does, though the sampler
// meets it elsewhere; others are in the code that they were in on both sides, or in what nobody knows.
// As of time, nothing goes or comes.
func TestStopped(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	sample := func(at float64, thread int64, stack ...byte) {
		s.Stack = testtrace.AStack(stack...)
		s.Record(time.Duration(at*float64(time.Millisecond)), thread, &etw.Record{Provider: sampler.GUID, Payload: binary.LittleEndian.AppendUint32(nil, uint32(managed))})
	}
	at := func(ms float64, thread int64, e etw.Event, stack ...byte) {
		s.Stack = testtrace.AStack(stack...)
		s.Event(time.Duration(ms*float64(time.Millisecond)), thread, e)
	}
	suspend := &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC}
	sample(0, 1, 3, 2, 1)
	sample(0.001, 2, 9, 8, 1)
	at(1, 1, suspend)
	at(1.1, 1, &clr.GCTriggered{}, 5, 4, 2, 1) // in code that no sample has
	at(3, 1, &clr.GCRestartEEEnd{})
	at(4, 1, suspend)
	at(4.1, 1, &clr.GCTriggered{}, 6, 4, 2, 1)
	at(8, 1, &clr.GCRestartEEEnd{})
	sample(10, 1, 7, 2, 1)
	sample(10.001, 2, 9, 7, 1)
	at(11, 1, &clr.GCTriggered{}, 5, 4, 2, 1) // stopped by a thread of the runtime
	at(12, 8, suspend)
	at(14, 8, &clr.GCRestartEEEnd{})
	at(15, 8, suspend) // a background collection goes on
	at(16, 8, &clr.GCRestartEEEnd{})
	sample(20, 1, 7, 2, 1)
	sample(20.001, 3, 7, 2, 1)
	at(22, 1, suspend)
	at(23, 1, &clr.GCRestartEEEnd{})
	sample(30, 1, 7, 2, 1)
	for _, in := range []int64{0, 2 * a.weigh().sum()} {
		if in > 0 {
			a.Within(in)
		}
		got, sum := map[string]float64{}, 0.0
		p := stacks.NewProfile(nil, stacks.Options{}, a.Samples()...)
		for x := range p.Samples() {
			if !slices.Contains(x.Labels, stacks.Label{Key: "state", Value: "gc"}) {
				continue
			}
			key := fmt.Sprint(x.Thread)
			for f := range p.Stack(x.Stack) {
				key += " " + p.Frames[f].Name
			}
			ms := float64(x.Values[1]) / 1e6
			got[key] += ms
			sum += ms
		}
		want := map[string]float64{
			"1 [GC pause] 0x5 0x4 0x2 0x1": 2 + 2, "1 [GC pause] 0x6 0x4 0x2 0x1": 4,
			"1 [GC pause] 0x7 0x2 0x1": 1 + 1, // of others
			"2 [GC pause] 0x1":         6, "2 [GC pause]": 2, "3 [GC pause]": 1 + 1,
		}
		if in > 0 {
			for k := range want {
				want[k] *= 2
			}
		}
		if !maps.EqualFunc(got, want, func(x, y float64) bool { return testtrace.Near(x, y, 0.001) }) || !testtrace.Near(sum, a.Result().PauseMS, 1e-4) {
			t.Errorf("%v, %.3f of %.3f ms; want %v", got, sum, a.Result().PauseMS, want)
		}
	}
}

// sum returns the time of all samples.
func (w *weighed) sum() (sum int64) {
	for _, x := range w.weights {
		sum += x.time + x.pause
	}
	return sum
}

package cpu

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A sample stands for the time to the next one of its thread, without pauses, and
// not for long gaps.
func TestWeights(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	sample := func(at time.Duration, thread int64, state uint32) {
		s.Record(at, thread, &etw.Record{Provider: sampler.GUID, Payload: binary.LittleEndian.AppendUint32(nil, state)})
	}
	const ms = time.Millisecond
	s.Stack = testtrace.AStack(1, 2)
	for i := range 5 {
		sample(time.Duration(i)*2*ms, 1, 2)
	}
	sample(1*ms, 2, 1)
	s.Event(8500*time.Microsecond, 9, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC})
	s.Event(8600*time.Microsecond, 8, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGCPrep})
	s.Event(9*ms, 9, &clr.GCRestartEEEndV1{})
	s.Event(9500*time.Microsecond, 8, &clr.GCRestartEEEndV1{})
	s.Event(9600*time.Microsecond, 7, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendOther})
	s.Event(9700*time.Microsecond, 7, &clr.GCRestartEEEndV1{})
	sample(10*ms, 1, 1)
	sample(50*ms, 1, 2)
	sample(51*ms, 1, 0)
	s.Stack = etw.Stack{}
	sample(52*ms, 1, 2)
	res := a.Result()
	if res.Samples != 8 || res.Managed != 6 || res.External != 2 || res.Failed != 1 || res.Empty != 1 || res.IntervalMS != 2 {
		t.Errorf("%+v", res)
	}
	// Half of each gap is before, and half after: of the pause, too, but that the last sample before
	// 50 ms is of native code, which none stops. In the round at 1 ms the thread was not met.
	if res.TimeMS != 0.5+1.5+2+2+1.5+21+20+1 || res.PauseMS != 0.5 || res.UnsampledMS != 1 || res.Threads[1].TimeMS != 1 {
		t.Errorf("%+v", res)
	}
	p := stacks.NewProfile(nil, stacks.Options{}, a.Samples()...)
	var pauses []string
	for x := range p.Samples() {
		if slices.Contains(x.Labels, stacks.Label{Key: "state", Value: "gc"}) {
			_, frame := p.Split(x.Stack)
			pauses = append(pauses, p.Frames[frame].Name)
		}
	}
	if totals := p.Totals(); totals[0] != 8 || totals[1] != 50e6 || !slices.Equal(pauses, []string{gcPause}) {
		t.Errorf("%v, %q", totals, pauses)
	}
	if v := p.View(); len(v.Top()) != 3 || v.Top()[0].Self[1] != 49.5e6 {
		t.Errorf("%+v", v.Top())
	}
}

// Time left out of the samples of a thread is not made up for by that before it.
func TestSkip(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Stack = testtrace.AStack(1, 2)
	clock := &etw.Clock{Frequency: 1e9}
	for i := range 12 {
		at := time.Duration(2*i) * time.Millisecond
		r := &etw.Record{Provider: sampler.GUID, ProviderName: sampler.Name, Payload: binary.LittleEndian.AppendUint32(nil, 2)}
		if i%4 < 2 {
			s.Record(at, 1, r)
			continue
		}
		r.ProcessID, r.ThreadID, r.Timestamp, r.Clock = 1, 1, int64(at), clock
		a.Skip(r)
		r.ThreadID = 2 // of which nothing is wanted
		a.Skip(r)
		r.ID = 7 // no sample
		a.Skip(r)
	}
	if res := a.Result(); res.Samples != 6 || res.TimeMS != 11 || res.IntervalMS != 2 || len(res.Threads) != 1 || a.Samples()[0].Len() != 6 {
		t.Errorf("%+v", res)
	}
}

func TestEvent(t *testing.T) {
	e := &sampled{}
	if _, err := e.DecodeVersion(0, []byte{1, 2, 3}, etw.Ptr64); err == nil {
		t.Error("a payload of three bytes is taken")
	}
	if _, err := e.DecodeVersion(0, []byte{3, 0, 0, 0}, etw.Ptr64); err != nil || e.state != failed {
		t.Error(e.state, err)
	}
	if e.EventDesc() != e.EventDescs()[0] || e.FieldValue(0).Kind() != etw.ValueNone {
		t.Error("another description")
	}
}

// A thread outside managed code waits between the events of a lock, in whatever code the sampler
// meets it, as long as that is the same; in managed code it runs.
func TestLocks(t *testing.T) {
	testLocks(t, &clr.ContentionStartV2{LockID: 16}, &clr.ContentionStopV1{})
	testLocks(t, &clr.WaitHandleWaitStart{}, &clr.WaitHandleWaitStop{})
}

func testLocks(t *testing.T, start, stop etw.Event) {
	t.Helper()
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	sample := func(at, thread int64, state uint32, stack ...byte) {
		s.Stack = testtrace.AStack(stack...)
		s.Record(time.Duration(at)*time.Millisecond, thread, &etw.Record{Provider: sampler.GUID, Payload: binary.LittleEndian.AppendUint32(nil, state)})
	}
	sample(0, 1, 1, 1, 2)
	s.Event(time.Millisecond, 1, start)
	sample(2, 1, 1, 1, 2)
	sample(2, 2, 1, 1, 2) // another thread
	sample(4, 1, 2, 1, 2)
	sample(6, 1, 1, 1, 2)
	s.Event(7*time.Millisecond, 1, stop)
	sample(8, 1, 1, 1, 2)
	s.Event(9*time.Millisecond, 1, start)
	sample(10, 1, 1, 1, 2)
	sample(12, 1, 1, 3, 2) // the end of the wait was lost
	sample(14, 1, 1, 1, 2)
	for asSampled, want := range map[bool][]int64{false: {2, 6, 10}, true: nil} {
		p := stacks.NewProfile(nil, stacks.Options{AsSampled: asSampled}, a.Samples()...)
		var waits []int64
		for x := range p.Samples() {
			if p.IsWaiting(x.Stack) {
				waits = append(waits, x.Time)
			}
		}
		first, _ := p.Times()
		for i := range waits {
			waits[i] = (waits[i] - first) / int64(time.Millisecond)
		}
		if !slices.Equal(waits, want) || p.Len() != 9 {
			t.Errorf("as sampled %v: waits at %v of %d samples, want %v", asSampled, waits, p.Len(), want)
		}
	}
	if res := a.Result(); res.Managed != 1 || res.External != 8 {
		t.Errorf("%+v", res)
	}
}

package gc

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestSamples(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	kernelEvent := func(ms int, op etw.Opcode, p []byte) {
		s.Record(at(ms), 0, &etw.Record{Kind: etw.KindClassic, Provider: perfInfoClass, Opcode: op, PointerSize: etw.Ptr64, Payload: p})
	}
	sampleOf := func(ms int, thread uint32) {
		kernelEvent(ms, opSample, binary.LittleEndian.AppendUint32(make([]byte, 8), thread))
	}
	sampleOf(0, 1) // before the runtime is known
	kernelEvent(0, opCollectionStart, []byte{0, 0, 0, 0, 0x88, 0x13, 0, 0})
	kernelEvent(0, opSetInterval, []byte{1, 0, 0, 0, 9, 9, 0, 0}) // of another source
	s.Event(at(1), 7, &clr.GCCreateConcurrentThreadV1{})
	s.Event(at(1), 1, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC, ClrInstanceID: 0})
	sampleOf(2, 1) // no collection yet
	s.Event(at(3), 1, &clr.GCStartV2{Count: 1})
	sampleOf(4, 1)
	sampleOf(4, 9) // another thread
	s.Event(at(5), 2, &clr.GCMarkWithType{HeapNum: 1})
	sampleOf(5, 2)
	s.Event(at(6), 1, &clr.GCEndV1{Count: 1})
	s.Event(at(6), 1, &clr.GCHeapStatsV1{})
	s.Event(at(6), 1, &clr.GCRestartEEEndV1{})
	s.Event(at(7), 1, &clr.GCStartV2{Count: 2, Depth: 2, Type: clr.GCTypeBackgroundGC})
	sampleOf(8, 7)
	sampleOf(8, 1)
	s.Event(at(9), 7, &clr.GCEndV1{Count: 2, Depth: 2})
	rt := a.Result().Runtimes[0]
	if g := rt.GCs[0]; g.CPUMS.Or(0) != 1 || g.CPUPercent.Or(0) != 50 {
		t.Errorf("%v ms, %v %%", g.CPUMS, g.CPUPercent)
	}
	if g := rt.GCs[1]; g.CPUMS.Or(0) != 0.5 || g.CPUPercent.Or(0) != 50 {
		t.Errorf("%v ms, %v %%", g.CPUMS, g.CPUPercent)
	}
	if rt.CPUMS.Or(0) != 3 || rt.GCCPUMS.Or(0) != 1.5 {
		t.Errorf("%v, %v ms", rt.CPUMS, rt.GCCPUMS)
	}
	for _, op := range []etw.Opcode{opSample, opSetInterval} {
		if err := mux.Dispatch(&etw.Record{Kind: etw.KindClassic, Provider: perfInfoClass, Opcode: op}); err != nil {
			t.Fatal(err)
		}
	}
	if e := (&sample{}); e.EventDesc() != e.EventDescs()[0] || e.FieldValue(0).Kind() != etw.ValueNone || (&interval{}).EventDesc() != intervalDescs[0] {
		t.Error("the descriptions are wrong")
	}
	if n := mux.Stats().Undecodable; n != 2 {
		t.Errorf("%d records are undecodable", n)
	}
}

// Collections take no more processor time than pauses last, but for the excess of one
// sample.
func TestSamplesOfTraces(t *testing.T) {
	for _, name := range []string{"net.4.5.2.x64.etl", "filtrace_etw.etl"} {
		for _, rt := range analyze(t, testtrace.Named(t, name)).Runtimes {
			ms, ok := rt.GCCPUMS.Get()
			if !ok || ms > rt.CPUMS.Or(0) || ms > 2*rt.PauseMS+1 {
				t.Errorf("%s: %v ms of %v, paused for %v", name, rt.GCCPUMS, rt.CPUMS, rt.PauseMS)
			}
			t.Logf("%s: process %d: %v ms of %v, paused for %v", name, rt.PID, rt.GCCPUMS, rt.CPUMS, rt.PauseMS)
		}
	}
}

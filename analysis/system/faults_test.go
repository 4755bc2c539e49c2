package system_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Hard faults add up by file and process, and have the times of the first, the longest and the
// last. One that began after it was over is damaged: it counts, and took no time.
func TestFaults(t *testing.T) {
	const ms = time.Millisecond
	var mux etw.Mux
	m, f := system.Of(&mux), system.NewFaults(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Event(0, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80})
	s.Event(0, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 81})
	fault := func(begun, over time.Duration, tid uint32, key etw.Pointer, bytes uint32) {
		s.Event(over, -1, &kernel.PageFaultHardFaultV2{InitialTime: uint64(at(begun)), FileObject: key, TThreadID: tid, ByteCount: bytes})
	}
	fault(1*ms, 3*ms, 80, 0xa, 4096)
	fault(2*ms, 7*ms, 81, 0xa, 8192)
	fault(9*ms, 8*ms, 80, 0xa, 1)
	fault(4*ms, 5*ms, 90, 0xb, 2)
	s.Event(10*ms, -1, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\Device\x\data.bin`)})
	got := f.Result()
	want := []system.FaultFacts{
		{PID: -1, Faults: 1, Bytes: 2, MS: 1, LongestMS: 1, LongestAtMS: 4, FirstMS: 4, LastMS: 5},
		{Path: `\Device\x\data.bin`, PID: 8, Faults: 3, Bytes: 12289, MS: 7, LongestMS: 5, LongestAtMS: 2, FirstMS: 1, LastMS: 8},
	}
	if diff := cmp.Diff(want, got.Faults); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum := got.Sum(); sum.Faults != 4 || sum.MS != 8 || sum.LongestMS != 5 || sum.FirstMS != 1 || sum.LastMS != 8 || len(m.Processes()) != 1 {
		t.Errorf("%+v", sum)
	}
	for _, v := range got.Tables() {
		if want := map[string]int{"file": 2, "process": 2, "access": 2}[v.Name]; v.Rows != want {
			t.Errorf("%s: %d rows, want %d", v.Name, v.Rows, want)
		}
	}
}

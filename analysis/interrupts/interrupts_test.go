package interrupts

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestInterrupts: a DPC of 100 µs has an ISR of 30 µs in it, in which there is one of 10 µs; a
// routine on another processor, or before, is in none of them.
func TestInterrupts(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	over := func(from, till int, cpu int32, e etw.Event) {
		r := &etw.Record{Kind: etw.KindClassic, Provider: e.EventDesc().Class, Opcode: e.EventDesc().Opcode, Version: e.EventDesc().Version, PointerSize: etw.Ptr64, Processor: cpu}
		var err error
		if r.Payload, err = e.AppendPayload(nil, etw.Ptr64); err != nil {
			t.Fatal(err)
		}
		s.Record(us(till), -1, r)
	}
	at := func(n int) uint64 { return uint64(us(n)) }
	s.Event(0, 4, &kernel.ImageLoadV3{ImageBase: 0xfffff80000001000, ImageSize: 0x1000, FileName: etw.MakeUTF16(`\SystemRoot\system32\drivers\sound.sys`)})
	over(5, 9, 0, &kernel.PerfInfoISRV2{InitialTime: at(5), Routine: 0xfffff80000001100})
	over(40, 50, 0, &kernel.PerfInfoISRMSIV2{InitialTime: at(40), Routine: 0xfffff80000009000})
	over(35, 65, 0, &kernel.PerfInfoISRV2{InitialTime: at(35), Routine: 0xfffff80000001100})
	over(20, 90, 1, &kernel.PerfInfoTimerDPCV2{InitialTime: at(20), Routine: 0xfffff80000009000})
	over(10, 110, 0, &kernel.PerfInfoDPCV2{InitialTime: at(10), Routine: 0xfffff80000001200})
	over(200, 900, 0, &kernel.PerfInfoDPCV2{InitialTime: at(200), Routine: 0xfffff80000001200})
	over(2000, 1000, 0, &kernel.PerfInfoThreadedDPCV2{InitialTime: at(2000), Routine: 0xfffff80000001200})
	res := a.Result()
	if res.Unfit != 1 || res.Count != 6 {
		t.Errorf("%+v", res)
	}
	type figures struct {
		count     int
		own, all  float64
		long      float64
		over, far int
	}
	want := map[[2]string]figures{
		{DPC, `sound.sys`}: {2, 0.07 + 0.7, 0.1 + 0.7, 700, 1, 1},
		{ISR, `sound.sys`}: {2, 0.004 + 0.02, 0.004 + 0.03, 30, 0, 0},
		{ISR, ""}:          {1, 0.01, 0.01, 10, 0, 0},
		{TimerDPC, ""}:     {1, 0.07, 0.07, 70, 0, 0},
	}
	near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
	for _, x := range res.modules() {
		w, ok := want[[2]string{x.Kind, base(x.Module)}]
		if !ok || x.Count != w.count || !near(x.OwnMS, w.own) || !near(x.TotalMS, w.all) || !near(x.LongestUS, w.long) || x.Over128US != w.over || x.Over512US != w.far {
			t.Errorf("%+v, want %+v", x, w)
		}
		delete(want, [2]string{x.Kind, base(x.Module)})
	}
	if len(want) > 0 {
		t.Errorf("there is nothing of %v", want)
	}
	// 4, 10, 30, 70, 100 and 700 µs
	if res.Histogram != [Buckets]int{3: 1, 4: 1, 5: 1, 7: 2, 10: 1} {
		t.Errorf("%v", res.Histogram)
	}
}

// base returns the last part of a path.
func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '\\' {
			return path[i+1:]
		}
	}
	return path
}

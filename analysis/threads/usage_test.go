package threads

import (
	"math"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestUsageAgrees counts the switches of Linux in two ways: as package system adds up the
// use of threads, and as this package follows the state of each. This package keeps a switch
// to a thread that is not known yet, and later is not switched again, as one of nobody.
func TestUsageAgrees(t *testing.T) {
	files := append(corpus.Glob(t, "universal", "*.nettrace"), corpus.Glob(t, "dotnet10", "v6-*.nettrace")...)
	threads, told := 0, 0
	for _, path := range files {
		var mux etw.Mux
		u, a := system.NewUsage(&mux), New(&mux)
		testtrace.Run(t, &mux, path)
		u.Settle()
		used, res := u.Result(), a.Result()
		if int(used.Switches) != res.Switches || int(used.Gaps) != res.Gaps {
			t.Errorf("%s: %d switches and %d gaps, and %d and %d", path, used.Switches, used.Gaps, res.Switches, res.Gaps)
		}
		switches := make(map[int64]int)
		nobody := 0
		for _, x := range res.Threads {
			if x.PID >= 0 {
				switches[x.TID] += x.Switches
			} else {
				nobody += x.Switches
			}
		}
		for _, x := range used.Threads {
			n, ok := x.Switches.Get()
			if ok != (used.Switches > 0) {
				t.Errorf("%s: thread %d is told to have %v switches, %v", path, x.TID, n, ok)
			}
			if ok && x.PID >= 0 {
				nobody -= int(n) - switches[x.TID]
			}
			if ok && x.PID >= 0 && int(n) < switches[x.TID] || nobody < 0 {
				t.Errorf("%s: thread %d has %v switches, and %d", path, x.TID, n, switches[x.TID])
			}
			if ok {
				told++
			}
			threads++
		}
	}
	t.Logf("%d of %d threads, of %d traces", told, threads, len(files))
}

// TestRunningAgrees holds the time that processes ran against that of their threads, which
// this package tells apart from time in which nothing is known.
func TestRunningAgrees(t *testing.T) {
	traces, gaps := 0, 0
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		u, a := system.NewUsage(&mux), New(&mux)
		testtrace.Run(t, &mux, path)
		u.Settle()
		used, res := u.Result(), a.Result()
		if res.Switches == 0 {
			continue
		}
		traces++
		gaps += min(res.Gaps, 1)
		running := make(map[int64]float64)
		for _, x := range res.Threads {
			running[x.PID] += x.RunningMS
		}
		ran := make(map[int64]float64)
		for _, p := range used.Processes {
			if ms, ok := p.RanMS.Get(); ok {
				ran[int64(p.PID)] += ms
			}
		}
		for pid, ms := range ran {
			if pid != 0 && math.Abs(ms-running[pid]) > 1e-3 {
				t.Errorf("%s: process %d ran %.6f ms, and its threads %.6f", testtrace.Name(path), pid, ms, running[pid])
			}
		}
	}
	if traces == 0 || gaps == 0 {
		t.Errorf("%d traces have switches, %d of them with gaps", traces, gaps)
	}
}

// TestLastSample: the last state of a thread lasts to a sample after the last switch, as the time of
// processes does, and no further to events that a session lists when it stops.
func TestLastSample(t *testing.T) {
	p := newPlay(t)
	u := system.NewUsage(p.mux)
	p.to(1, 0, 10, waits)
	p.to(3, 10, 20, waits)
	p.Event(8*time.Millisecond, -1, &kernel.PerfInfoSampleV2{ThreadID: 20, Count: 1})
	p.Event(20*time.Millisecond, -1, &kernel.ThreadDCStopV3{ProcessID: 7, TThreadID: 20})
	u.Settle()
	used, res := u.Result(), p.a.Result()
	got := make(map[int64]Thread)
	for _, x := range res.Threads {
		got[x.TID] = x
	}
	if x, y := got[10], got[20]; x.LifeMS != 7 || x.WaitingMS != 5 || x.OpenMS != 5 || x.LongestMS != 5 || y.LifeMS != 5 || y.RunningMS != 5 {
		t.Errorf("got %+v and %+v", x, y)
	}
	if ms := res.Processors[0].SpanMS; ms != 7 {
		t.Errorf("the processor was there for %v ms", ms)
	}
	for _, x := range used.Threads {
		if x.TID == 20 && x.RanMS.Or(0) != got[20].RunningMS {
			t.Errorf("thread 20 ran %v ms, and %v", x.RanMS, got[20].RunningMS)
		}
	}
}

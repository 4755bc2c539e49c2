package waits

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

func anyThread(int64, string, int64) bool { return true }

// TestPath: thread 1 waits for a lock that 2 holds, which waits for one that 3 holds, which
// waits for an event.
func TestPath(t *testing.T) {
	var mux etw.Mux
	p := NewPaths(&mux)
	s := testtrace.NewScript(t, &mux)
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s.Event(ms(10), 3, &clr.WaitHandleWaitStart{})
	s.Event(ms(20), 2, &clr.ContentionStartV2{LockOwnerThreadID: 3})
	s.Event(ms(30), 1, &clr.ContentionStartV2{LockOwnerThreadID: 2})
	s.Event(ms(40), 3, &clr.WaitHandleWaitStop{})
	s.Event(ms(50), 2, &clr.ContentionStop{})
	s.Event(ms(70), 1, &clr.ContentionStop{})
	origin := p.waits[threadID{process: 1, id: 1}][0].from - int64(ms(30))
	res := p.Result(origin, origin, origin+int64(ms(100)), func(_ int64, _ string, tid int64) bool { return tid == 1 })
	type part struct {
		kind   string
		thread int64
		ms     float64
		of     string
	}
	var got []part
	for _, x := range res.Paths[0].Parts {
		got = append(got, part{x.Kind, x.Thread, x.DurationMS, x.Of})
	}
	want := []part{{"untold", 1, 30, ""}, {"wait", 3, 10, "Unknown"}, {"untold", 3, 10, held}, {"untold", 2, 20, held}, {"untold", 1, 30, ""}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
	if res := p.Result(origin, origin, origin+int64(ms(5)), anyThread); len(res.Paths) != 0 {
		t.Errorf("a path of a time without waits: %+v", res.Paths)
	}
}

// TestPathOfDeadlock: threads that wait for each other's locks do so to the end, longest of all.
func TestPathOfDeadlock(t *testing.T) {
	var mux etw.Mux
	p := NewPaths(&mux)
	s := testtrace.NewScript(t, &mux)
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s.Event(ms(10), 3, &clr.WaitHandleWaitStart{})
	s.Event(ms(30), 3, &clr.WaitHandleWaitStop{})
	s.Event(ms(40), 1, &clr.ContentionStartV2{LockOwnerThreadID: 2})
	s.Event(ms(50), 2, &clr.ContentionStartV2{LockOwnerThreadID: 1})
	origin := p.waits[threadID{process: 1, id: 3}][0].from - int64(ms(10))
	for range 2 {
		path := p.Result(origin, origin, origin+int64(ms(100)), anyThread).Paths[0]
		if last := path.Parts[len(path.Parts)-1]; path.Thread != 1 || last.Kind != "lock" || last.StartMS+last.DurationMS != 100 {
			t.Errorf("%+v", path)
		}
	}
}

// TestPathOfSwitches: a thread runs where switches say so, and a wait that lasts to the end is one.
func TestPathOfSwitches(t *testing.T) {
	var mux etw.Mux
	p := NewPaths(&mux)
	s := testtrace.NewScript(t, &mux)
	to := func(ms int, from, to uint32) {
		s.Event(time.Duration(ms)*time.Millisecond, -1, &kernel.ThreadCSwitchV4{OldThreadID: from, NewThreadID: to, OldThreadState: kernel.ThreadStateWaiting})
	}
	to(10, 0, 1)
	to(12, 1, 0)
	to(20, 0, 1)
	to(23, 1, 0)
	to(30, 0, 2)
	to(32, 2, 0)
	origin := p.waits[threadID{process: -1, id: 1}][0].from - int64(12*time.Millisecond)
	res := p.Result(origin, origin, origin+int64(40*time.Millisecond), func(_ int64, _ string, tid int64) bool { return tid == 1 })
	type part struct {
		kind string
		ms   float64
	}
	var got []part
	for _, x := range res.Paths[0].Parts {
		got = append(got, part{x.Kind, x.DurationMS})
	}
	if want := []part{{untold, 10}, {"runs", 2}, {"off", 8}, {"runs", 3}, {"off", 9}, {untold, 8}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	to(35, 3, 0) // 3 came before, which is lost, and so may be that 1 ran
	window.Of(&mux).Lack(window.Lacks{Any: true})
	res = p.Result(origin, origin, origin+int64(34*time.Millisecond), func(_ int64, _ string, tid int64) bool { return tid == 1 })
	if last := res.Paths[0].Parts[len(res.Paths[0].Parts)-1]; last.Kind != untold || last.DurationMS != 11 {
		t.Errorf("where events are missing it is %+v", last)
	}
	if res := p.Result(origin, origin+int64(25*time.Millisecond), origin+int64(31*time.Millisecond), func(_ int64, _ string, tid int64) bool { return tid == 2 }); len(res.Paths) != 1 {
		t.Errorf("a thread that switches tell of has no path")
	}
}

// TestPathsAddUp: the parts of each path adjoin, whatever the trace and the window.
func TestPathsAddUp(t *testing.T) {
	paths := 0
	for _, file := range testtrace.Moderate(t) {
		var mux etw.Mux
		p := NewPaths(&mux)
		testtrace.Run(t, &mux, file)
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for _, list := range p.waits {
			for i := range list {
				first, last = min(first, list[i].from), max(last, list[i].till)
			}
		}
		if first >= last {
			continue
		}
		third := (last - first) / 3
		for _, window := range [][2]int64{{first, last}, {first + third, last - third}} {
			for _, x := range p.Result(first, window[0], window[1], anyThread).Paths {
				at := x.StartMS
				for _, part := range x.Parts {
					if math.Abs(part.StartMS-at) > 1e-3 || part.DurationMS <= 0 {
						t.Errorf("%s: %+v begins not at %.6f", file, part, at)
					}
					at = part.StartMS + part.DurationMS
				}
				if math.Abs(at-x.StartMS-x.DurationMS) > 1e-3 {
					t.Errorf("%s: %d ms end at %.6f", file, int(x.DurationMS), at)
				}
				paths++
			}
		}
	}
	t.Logf("%d paths", paths)
	if paths == 0 {
		t.Error("no trace has a path")
	}
}

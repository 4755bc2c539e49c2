package waits

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Waits struct {
				Stops, Open        int
				TotalMs, LongestMs float64
				Waits              []struct {
					ElapsedMs, StartMs float64
					Tid                int64
				}
			}
		}
		if !testtrace.Peer(t, path, &peer) || peer.Waits.Stops == 0 {
			continue
		}
		res := analyze(t, path)
		rt := res.Runtimes[0]
		// It counts those within waits for locks, too.
		if res.Count+rt.InLocks != peer.Waits.Stops || rt.Open != peer.Waits.Open || rt.InLocks == 0 && !testtrace.Near(res.TotalMS, peer.Waits.TotalMs, 1e-6) || rt.InLocks == 0 && !testtrace.Near(rt.DurationMS.Max.Or(0), peer.Waits.LongestMs, 1e-6) {
			t.Errorf("%s: %d waits of %v ms, %d open; TraceEvent says %d of %v, %d", path, res.Count, res.TotalMS, rt.Open, peer.Waits.Stops, peer.Waits.TotalMs, peer.Waits.Open)
		}
		for _, want := range peer.Waits.Waits {
			for _, got := range rt.Longest {
				if got.Thread == want.Tid && testtrace.Near(got.StartMS, want.StartMs, 1e-6) {
					compared++
					if !testtrace.Near(got.DurationMS, want.ElapsedMs, 1e-6) {
						t.Errorf("%s: %+v, and TraceEvent says %+v", path, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d waits compared", compared)
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		for _, rt := range res.Runtimes {
			var sources, threads, series float64
			for _, s := range rt.Sources {
				sources += s.TotalMS
			}
			for _, s := range rt.Threads {
				threads += s.TotalMS
			}
			for _, v := range rt.Series.Sums {
				series += v
			}
			if !testtrace.Near(sources, rt.TotalMS, 1e-6) || !testtrace.Near(threads, rt.TotalMS, 1e-6) || !testtrace.Near(series, rt.TotalMS, 1e-6) || !testtrace.Near(rt.PoolMS+rt.OtherMS, rt.TotalMS, 1e-6) {
				t.Errorf("%s: %v ms, %v by source, %v by thread, %v by time", path, rt.TotalMS, sources, threads, series)
			}
		}
	}
}

func TestPool(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Stack = testtrace.AStack(1)
	s.Event(1*time.Millisecond, 7, &clr.WaitHandleWaitStop{})
	s.Event(2*time.Millisecond, 7, &clr.WaitHandleWaitStart{WaitSource: clr.WaitHandleWaitSourceMonitorWait})
	s.Event(5*time.Millisecond, 7, &clr.WaitHandleWaitStop{})
	s.Event(5*time.Millisecond, 7, &clr.ThreadPoolWorkerThreadWait{})
	s.Event(6*time.Millisecond, 8, &clr.WaitHandleWaitStart{})
	s.Event(7*time.Millisecond, 8, &clr.WaitHandleWaitStop{})
	s.Event(7*time.Millisecond, 9, &clr.ThreadPoolWorkerThreadStart{})
	s.Event(8*time.Millisecond, 8, &clr.WaitHandleWaitStart{})
	s.Event(9*time.Millisecond, 1, &clr.WaitHandleWaitStop{})
	rt := a.Result().Runtimes[0]
	if rt.Count != 2 || rt.PoolMS != 3 || rt.OtherMS != 1 || rt.StopsWithoutStart != 2 || rt.Open != 1 || rt.OpenMS != 1 || len(rt.Sources) != 2 || len(rt.Stacks) != 1 {
		t.Errorf("%+v", rt)
	}
}

// A thread that waits for a lock waits for an event: that is one wait, which package contention has.
func TestLocks(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	both := func(at time.Duration, source clr.WaitHandleWaitSource) {
		s.Event(at*time.Millisecond, 7, &clr.WaitHandleWaitStart{WaitSource: source})
		s.Event((at+1)*time.Millisecond, 7, &clr.WaitHandleWaitStop{})
	}
	s.Event(1*time.Millisecond, 7, &clr.ContentionStartV2{})
	both(2, clr.WaitHandleWaitSourceUnknown)
	s.Event(4*time.Millisecond, 7, &clr.ContentionStopV1{})
	both(5, clr.WaitHandleWaitSourceUnknown)
	s.Event(7*time.Millisecond, 7, &clr.ContentionStartV2{}) // its end is lost
	both(8, clr.WaitHandleWaitSourceMonitorWait)
	s.Event(10*time.Millisecond, 8, &clr.WaitHandleWaitStart{})
	rt := a.Result().Runtimes[0]
	if rt.Count != 2 || rt.TotalMS != 2 || rt.InLocks != 1 || rt.StopsWithoutStart != 0 || len(rt.Unended) != 1 || !rt.Unended[0].Open {
		t.Errorf("%+v", rt)
	}
}

// The program's own account of its waits. Those without a time to wait and those of other
// kinds have no events.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "waits.nettrace")
	var truth struct {
		PID   int64
		Waits []struct {
			What, Source string
			MS           float64
		}
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	var list []Wait
	for _, w := range analyze(t, path).Runtimes[0].Longest {
		if w.Thread == truth.PID { // its main thread
			list = append(list, w)
		}
	}
	found := 0
	for _, want := range truth.Waits {
		for i, got := range list {
			if want.MS >= 2 && got.DurationMS <= want.MS && testtrace.Near(got.DurationMS, want.MS, 1.5) {
				found++
				list = append(list[:i], list[i+1:]...)
				break
			}
		}
	}
	if found < 20 || len(list) > 3 {
		t.Errorf("of %d waits %d are there, and %d more", len(truth.Waits), found, len(list))
	}
}

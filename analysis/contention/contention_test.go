package contention

import (
	"math"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTraces(t *testing.T) {
	for _, test := range []struct {
		trace                      string
		count, locks, owners       int
		events, durations, longest float64
	}{
		// A fifth owner, thread 0, does not count; the longest wait is of 0.475 ms
		// by the events.
		{"filtrace_contention.nettrace", 197, 1, 4, 19.335, 19.792, 0.4767},
		{"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace", 8, -1, -1, 449.899, 453.902, -1},
	} {
		rt := analyze(t, testtrace.Named(t, test.trace)).Runtimes[0]
		if rt.Count != test.count || !testtrace.Near(rt.TotalByEventsMS, test.events, 6e-4) || !testtrace.Near(rt.TotalMS, test.durations, 6e-4) ||
			test.locks >= 0 && (len(rt.Locks) != test.locks || len(rt.Owners) != test.owners || !testtrace.Near(rt.DurationMS.Max.Or(0), test.longest, 6e-4)) {
			t.Errorf("%s: %d contentions on %d locks of %d owners, %v ms by events, %v ms, max %v", test.trace,
				rt.Count, len(rt.Locks), len(rt.Owners), rt.TotalByEventsMS, rt.TotalMS, rt.DurationMS.Max)
		}
		rest := rt.Count
		for _, o := range rt.Owners {
			rest -= o.Count
		}
		if x := rt.WithoutOwner; x == nil || x.Count != rest || rest == 0 {
			t.Errorf("%s: without an owner are %+v, and not %d", test.trace, x, rest)
		}
	}
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Contention struct {
				Contentions []struct {
					DurationNs, ElapsedMs, StartMs float64
					OwnerThread, Tid               int64
				}
				Stops, Open                          int
				TotalMsByDurationNs, TotalMsByEvents float64
			}
		}
		if !testtrace.Peer(t, path, &peer) || peer.Contention.Stops == 0 {
			continue
		}
		res, theirs := analyze(t, path), &peer.Contention
		name, open, byEvents, longest := testtrace.Name(path), 0, 0.0, []Wait{}
		for _, rt := range res.Runtimes {
			open += rt.Open
			byEvents += rt.TotalByEventsMS
			longest = append(longest, rt.Longest...)
		}
		compared += res.Count
		// It keeps one start a thread; those within another are lost there.
		if res.Count < theirs.Stops || !testtrace.Near(byEvents, theirs.TotalMsByEvents, 1e-4+1e-3*byEvents) || !testtrace.Near(res.TotalMS, theirs.TotalMsByDurationNs, 1e-4+1e-3*res.TotalMS) {
			t.Errorf("%s: %d contentions, %d open, %v ms by events, %v ms; TraceEvent says %d, %d, %v, %v", name,
				res.Count, open, byEvents, res.TotalMS, theirs.Stops, theirs.Open, theirs.TotalMsByEvents, theirs.TotalMsByDurationNs)
		}
		for _, want := range theirs.Contentions {
			for _, got := range longest {
				if got.Thread == want.Tid && testtrace.Near(got.StartMS, want.StartMs, 1e-6) {
					if !testtrace.Near(got.DurationMS*1e6, want.DurationNs, 0.5) || got.Owner != want.OwnerThread {
						t.Errorf("%s: %+v, and TraceEvent says %+v", name, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d contentions compared", compared)
}

// The program knows how long it waited for locks that it held on purpose, and how often the
// runtime counted contention between the marks.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "contention.nettrace")
	type counts struct {
		N int `json:"lock_contention_count"`
	}
	var truth struct {
		Known []struct {
			MS float64 `json:"waited_ms_measured_by_waiter"`
		} `json:"known_contentions"`
		Lock struct {
			MS float64 `json:"waited_ms"`
		} `json:"known_contention_system_threading_lock"`
		Begin counts `json:"counters_begin"`
		End   counts `json:"counters_end"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	rt := analyze(t, path).Runtimes[0]
	want := []float64{truth.Lock.MS}
	for _, k := range truth.Known {
		want = append(want, k.MS)
	}
	for _, ms := range want {
		found := false
		for _, w := range rt.Longest {
			found = found || testtrace.Near(w.DurationMS, ms, 1)
		}
		if !found {
			t.Errorf("there is no contention of %v ms among %+v", ms, rt.Longest[:5])
		}
	}
	if n := truth.End.N - truth.Begin.N; rt.Count != n {
		t.Errorf("%d contentions, and the program counts %d", rt.Count, n)
	}
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		for _, rt := range res.Runtimes {
			var locks, threads, series float64
			for _, l := range rt.Locks {
				locks += l.TotalMS
			}
			for _, l := range rt.Threads {
				threads += l.TotalMS
			}
			for _, v := range rt.Series.Sums {
				series += v
			}
			if !testtrace.Near(locks, rt.TotalMS, 1e-6) || !testtrace.Near(threads, rt.TotalMS, 1e-6) || !testtrace.Near(series, rt.TotalMS, 1e-6) {
				t.Errorf("%s: %v ms, %v by lock, %v by thread, %v by time", path, rt.TotalMS, locks, threads, series)
			}
			if d := math.Abs(rt.TotalMS - rt.TotalByEventsMS); rt.Count > 0 && d/float64(rt.Count) > 1 {
				t.Errorf("%s: events and durations differ by %v ms", path, d)
			}
		}
	}
}

func TestUnpaired(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Stack = testtrace.AStack(1)
	s.Event(1*time.Millisecond, 1, &clr.ContentionLockCreated{LockID: 16, AssociatedObjectID: 32})
	s.Event(2*time.Millisecond, 7, &clr.ContentionStopV1{DurationNs: 5e6})
	s.Event(3*time.Millisecond, 7, &clr.ContentionStartV2{LockID: 16, LockOwnerThreadID: 9})
	s.Event(5*time.Millisecond, 7, &clr.ContentionStop{ContentionFlags: clr.ContentionFlagsNative})
	s.Event(6*time.Millisecond, 7, &clr.ContentionStartV2{LockID: 16})
	s.Event(8*time.Millisecond, 8, &clr.ContentionStartV1{})
	rt := a.Result().Runtimes[0]
	if rt.Count != 2 || rt.TotalMS != 7 || rt.TotalByEventsMS != 2 || rt.StopsWithoutStart != 1 || rt.Open != 2 || rt.OpenMS != 2 || rt.Native != 1 {
		t.Errorf("%+v", rt)
	}
	if o := rt.WithoutOwner; o == nil || *o != (Waits{1, 5, 5}) || len(rt.Owners) != 1 || rt.Owners[0].Thread != 9 {
		t.Errorf("%+v, %+v", o, rt.Owners)
	}
	if l := rt.Locks[0]; l.Lock != "0x10" || l.Object != "0x20" || l.MaxMS != 2 || len(rt.Stacks) != 1 {
		t.Errorf("%+v, %+v", l, rt.Stacks)
	}
}

// A thread that a pulse woke waits for its lock in Monitor.Wait; of a wait without a stack, and of
// others where methods are not listed, nothing tells.
func TestReentries(t *testing.T) {
	for i := range 4 {
		listed, apart := i&1 != 0, i&2 != 0 // and whether the list is outside of the time that was asked for
		var mux, rest etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		text := func(n string) etw.UTF16 { return etw.MakeUTF16(n) }
		for i, frames := range [][]byte{{0x11, 0x30}, {0x50, 0x51, 0x11, 0x30}, {0x21, 0x30}, {0x30}, nil,
			{0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x11}} {
			s.Stack = testtrace.AStack(frames...)
			at := time.Duration(i) * time.Millisecond
			s.Event(at, 1, &clr.ContentionStartV2{ClrInstanceID: 9})
			s.Event(at+time.Millisecond/2, 1, &clr.ContentionStopV1{ClrInstanceID: 9, DurationNs: 5e5})
		}
		s.Stack = etw.Stack{}
		if apart {
			s = testtrace.NewScript(t, &rest)
			rest.HandleRest(a.Skip)
		}
		s.Event(time.Second, 6, &rundown.MethodDCEndVerboseV1{MethodNamespace: text("System.Threading.Monitor"), MethodName: text("Wait"), MethodStartAddress: 0x10, MethodSize: 0xf, ClrInstanceID: 9})
		s.Event(time.Second, 6, &rundown.MethodDCEndVerboseV1{MethodNamespace: text("System.Threading.Monitor"), MethodName: text("Enter"), MethodStartAddress: 0x20, MethodSize: 0xf, ClrInstanceID: 9})
		untold := 4
		if listed {
			s.Event(time.Second, 6, &rundown.DCEndCompleteV1{ClrInstanceID: 9})
			untold = 1
		}
		if rt := a.Result().Runtimes[0]; rt.Count != 6 || rt.Reentries != 2 || rt.Untold != untold {
			t.Errorf("listed %v: %d waits, %d re-entered, of %d untold", listed, rt.Count, rt.Reentries, rt.Untold)
		}
	}
}

// Threads that wait for each other to the end of the trace are a deadlock; those who wait for a
// thread of them, or for one that waits for nobody, are none.
func TestUnended(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	wait := func(at time.Duration, thread, owner int64) {
		s.Event(at*time.Millisecond, thread, &clr.ContentionStartV2{LockID: etw.Pointer(16 * owner), LockOwnerThreadID: uint64(owner)})
	}
	wait(1, 4, 5)
	wait(2, 1, 2)
	wait(3, 6, 1)
	wait(4, 2, 3)
	wait(6, 3, 1)
	wait(7, 8, 8)
	s.Event(10*time.Millisecond, 9, &clr.ContentionStopV1{})
	rt := a.Result().Runtimes[0]
	if d := rt.Deadlocks; len(d) != 1 || d[0].SinceMS != 6 || d[0].ForMS != 4 || len(d[0].Threads) != 3 {
		t.Errorf("%+v", d)
	}
	if u := rt.Unended; rt.Open != 6 || len(u) != 6 || u[0].Thread != 4 || u[0].DurationMS != 9 || !u[0].Open || rt.Count != 1 {
		t.Errorf("%+v", rt)
	}
	if rows := a.Result().waits(); rows.Rows != 7 {
		t.Errorf("%d rows", rows.Rows)
	}
	s.Event(20*time.Millisecond, 9, &clr.GCEndV1{}) // which is no event of locks
	if rt := a.Result().Runtimes[0]; rt.Unended[0].DurationMS != 19 || rt.Deadlocks[0].ForMS != 14 {
		t.Errorf("until the end of the trace, %+v, %+v", rt.Unended[0], rt.Deadlocks[0])
	}
}

// Collections move the object of a lock, which stays one lock, until its id is that of another.
func TestMovedObject(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	wait := func(at time.Duration, object uint64) {
		s.Event(at*time.Millisecond, 7, &clr.ContentionStartV2{LockID: 16, AssociatedObjectID: etw.Pointer(object)})
		s.Event((at+1)*time.Millisecond, 7, &clr.ContentionStopV1{DurationNs: 1e6})
	}
	s.Event(0, 1, &clr.ContentionLockCreated{LockID: 16, AssociatedObjectID: 32})
	wait(1, 32)
	wait(3, 64)
	s.Event(5*time.Millisecond, 1, &clr.ContentionLockCreated{LockID: 16, AssociatedObjectID: 96})
	wait(6, 0)
	l := a.Result().Runtimes[0].Locks
	if len(l) != 2 || l[0] != (Lock{"0x10", "0x40", 2, 2, 1}) || l[1] != (Lock{"0x10", "0x60", 1, 1, 1}) {
		t.Errorf("%+v", l)
	}
}

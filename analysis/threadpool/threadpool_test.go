package threadpool

import (
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/dotnet/framework"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTrace(t *testing.T) {
	rt := analyze(t, testtrace.Named(t, "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace")).Runtimes[0]
	starved, last := 0, uint32(0)
	for _, adj := range rt.Adjustments {
		if adj.Reason == clr.ThreadAdjustmentReasonStarvation.String() {
			starved++
		}
		last = adj.Workers
	}
	s := rt.Starvation
	if len(rt.Adjustments) != 8 || starved != 8 || last != 12 || rt.Adjustments[0].Workers != 5 || s == nil || !testtrace.Near(s.FirstMS.Or(0), 3300, 50) || !testtrace.Near(s.LastMS.Or(0), 31300, 50) {
		t.Errorf("%+v, %+v", rt.Adjustments, s)
	}
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			ThreadPool struct {
				Adjustments []struct {
					Count          uint32
					Ms, Throughput float64
					Reason         clr.ThreadAdjustmentReason
				}
			}
		}
		if !testtrace.Peer(t, path, &peer) || len(peer.ThreadPool.Adjustments) == 0 {
			continue
		}
		rt := analyze(t, path).Runtimes[0]
		if len(rt.Adjustments) != len(peer.ThreadPool.Adjustments) {
			t.Errorf("%s: %d adjustments, TraceEvent has %d", path, len(rt.Adjustments), len(peer.ThreadPool.Adjustments))
			continue
		}
		for i, want := range peer.ThreadPool.Adjustments {
			got := rt.Adjustments[i]
			compared++
			if got.Workers != want.Count || !testtrace.Near(got.AtMS, want.Ms, 1e-6) || !testtrace.Near(got.ThroughputPerSec.Or(0), want.Throughput, 1e-9*want.Throughput) || got.Reason != want.Reason.String() {
				t.Errorf("%s: %+v, and TraceEvent says %+v", path, got, want)
			}
		}
	}
	t.Logf("%d adjustments compared", compared)
}

// The program starved its thread pool on purpose.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "threadpool.nettrace")
	var truth struct {
		Min     int `json:"min_threads"`
		Threads int `json:"thread_count_at_end"`
		Starved int `json:"starvation_threads_used"`
		End     struct {
			Done int `json:"threadpool_completed_work_items"`
		} `json:"counters_end"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	rt := analyze(t, path).Runtimes[0]
	if rt.Starvation == nil || rt.Limits == nil || rt.Limits.MinWorkers != truth.Min || rt.MaxWorkers < truth.Starved {
		t.Errorf("starvation %+v, limits %+v, %d workers; want %+v", rt.Starvation, rt.Limits, rt.MaxWorkers, truth)
	}
	if q := rt.Queue; q == nil || q.Enqueued != truth.End.Done {
		t.Errorf("%+v, and the pool completed %d", q, truth.End.Done)
	}
}

func TestQueue(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	ms := time.Millisecond
	s.Event(0, 1, &clr.ThreadPoolWorkerThreadStart{ActiveWorkerThreadCount: 3})
	s.Event(1*ms, 1, &framework.ThreadPoolEnqueueWork{WorkID: 5})
	s.Event(2*ms, 1, &framework.ThreadPoolEnqueueWork{WorkID: 6})
	s.Event(2*ms, 1, &clr.ThreadPoolEnqueue{WorkID: 7}) // for a worker
	s.Event(3*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: 9})
	s.Event(201*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: 5})
	s.Event(201*ms, 1, &clr.ThreadPoolIOEnqueue{})
	s.Event(201*ms, 1, &clr.ThreadPoolIODequeue{})
	s.Event(201*ms, 1, &clr.ThreadPoolWorkingThreadCount{Count: 2})
	s.Event(201*ms, 1, &clr.ThreadPoolWorkerThreadStop{ActiveWorkerThreadCount: 1})
	s.Event(201*ms, 1, &clr.IOThreadCreateV1{IOThreadCount: 4})
	s.Event(201*ms, 1, &clr.IOThreadTerminateV1{IOThreadCount: 3})
	s.Event(201*ms, 1, &clr.ThreadPoolWorkerThreadAdjustmentSample{Throughput: 7})
	for i := range uint32(manyBlocked) {
		s.Event(202*ms, 1, &clr.ThreadPoolWorkerThreadAdjustmentAdjustment{NewWorkerThreadCount: 2 + i, Reason: clr.ThreadAdjustmentReasonCooperativeBlocking})
	}
	s.Event(203*ms, 1, &clr.ThreadPoolWorkerThreadAdjustmentAdjustment{NewWorkerThreadCount: 1, Reason: clr.ThreadAdjustmentReasonCooperativeBlocking}) // they go again
	s.Event(204*ms, 1, &clr.ThreadPoolWorkerThreadAdjustmentSample{Throughput: 100})
	s.Event(301*ms, 1, &clr.ThreadPoolWorkerThreadAdjustmentSample{Throughput: 0})
	rt := a.Result().Runtimes[0]
	if rt.Queue == nil || rt.Queue.Enqueued != 2 || rt.Queue.Dequeued != 2 || rt.Queue.Waiting != 1 || rt.Queue.WaitMS.Total != 200 || rt.WorkersRequested != 1 || rt.WorkersGranted != 0 || rt.MaxWorkers != 3 || rt.LastWorkers != 1 || rt.IOThreads != 3 || rt.IOEnqueued != 1 || rt.ThroughputPerSec.Max != measure.Known(100) || rt.ThroughputPerSec.Mean != measure.Known(3) {
		t.Errorf("%+v", rt)
	}
	if s := rt.Starvation; s == nil || !slices.Contains(s.Because, "3 adjustments because of blocked workers") || s.FirstMS.Or(0) != 1 || s.LastMS.Or(0) != 202 || s.WorkersAfter.Or(0) != 4 {
		t.Errorf("%+v", s)
	}
}

// TestMoved: collections change addresses of items that wait. The first was begun before it came in
// the trace, and the one at 4 was run by a thread that waited for it.
func TestMoved(t *testing.T) {
	const address = 140089621718544
	ms := time.Millisecond
	run := func(from, to time.Duration) *Runtime {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		s.Between(from, to)
		s.Event(1*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: address + 1})
		for i := range int64(4) {
			s.Event(4*ms+time.Duration(i)*ms, 1, &framework.ThreadPoolEnqueueWork{WorkID: address + 100*i})
		}
		s.Event(8*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: address + 300})
		s.Event(205*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: 2 * address})
		s.Event(306*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: 3 * address})
		return a.Result().Runtimes[0]
	}
	rt := run(0, 0)
	if q := rt.Queue; q.Enqueued != 4 || q.Dequeued != 4 || q.Waiting != 1 || q.ByOrder != 2 || q.WaitMS.Total != 501 || q.WaitMS.Max.Or(0) != 300 {
		t.Errorf("%+v", q)
	}
	sum := 0.0
	for _, w := range [][2]time.Duration{{1, 6}, {6, 100}, {100, 250}, {250, 400}} {
		rt := run(w[0]*ms, w[1]*ms)
		sum += rt.Queue.WaitMS.Total
		if w[0] == 100 && (rt.Queue.Enqueued != 0 || rt.Queue.Dequeued != 1 || rt.Queue.Waiting != 2 || rt.Queue.WaitMS.Max.Or(0) != 150 || rt.Starvation == nil || rt.Starvation.FirstMS.Or(0) != 100 || rt.Starvation.LastMS.Or(0) != 250) {
			t.Errorf("%+v, %+v", rt.Queue, rt.Starvation)
		}
	}
	if sum != 501 {
		t.Errorf("windows add up to %v", sum)
	}
}

// TestHolders: a program in which workers wait for a task, in WaitOne and for a lock while the
// pool adds workers for blocked ones; without samples nothing is said.
func TestHolders(t *testing.T) {
	path := corpus.File(t, "causes", "ferry-net9-full.nettrace.gz")
	var mux etw.Mux
	code, a := symbols.New(&mux), New(&mux)
	a.NameBy(func(s *stacks.Samples) *stacks.Profile {
		return stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames}, s)
	})
	if s := analyze(t, path).Runtimes[0].Starvation; s != nil {
		t.Errorf("no work waited for a tenth of a second: %+v", s)
	}
	withoutQueue(t, &mux, path)
	rt := a.Result().Runtimes[0]
	s := rt.Starvation
	if s == nil || !s.Unsure {
		t.Fatalf("workers were blocked, and nothing tells whether work waited: %+v", s)
	}
	sum, names := 0.0, []string{}
	for _, h := range s.Holders {
		sum += h.BlockedMS
		names = append(names, h.Name)
	}
	want := []string{"Task.Wait in Ferry.SyncOverAsync", "WaitHandle.WaitOne in Ferry.Sleeper", "a lock in Ferry.Lock"}
	most := float64(rt.MaxWorkers) * (s.LastMS.Or(0) - s.FirstMS.Or(0))
	if !slices.Equal(names, want) || !testtrace.Near(sum, s.BlockedMS.Or(0), 1e-6) || sum > most {
		t.Errorf("%q for %.3f of %.3f ms, by %d workers for at most %.3f", names, sum, s.BlockedMS.Or(0), rt.MaxWorkers, most)
	}
	t.Log(s.Held())
	mux = etw.Mux{}
	b := New(&mux)
	withoutQueue(t, &mux, path)
	if s := b.Result().Runtimes[0].Starvation; !s.BlockedMS.IsZero() || s.Holders != nil {
		t.Errorf("without names: %+v", s)
	}
}

// withoutQueue dispatches the records of a trace but those of the pool's queue.
func withoutQueue(t *testing.T, mux *etw.Mux, path string) {
	for r, err := range etw.Records(testtrace.Open(t, path)) {
		if err != nil {
			t.Fatal(err)
		}
		if r.ProviderName != framework.Provider.Desc.Name {
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Signs that are apart are of two times, of which the longest is told: not one from the first to
// the last.
func TestTimes(t *testing.T) {
	var s Starvation
	known := measure.Known
	s.longest([]stretch{{16000, 16000, known(2), 3, apartMS}, {600, 750, measure.Float{}, 0, apartMS}, {15900, 17000, measure.Float{}, 0, apartMS}, {16500, 16500, known(3), 15, apartMS}, {29000, 29000, known(15), 16, apartMS}})
	if s.Times != 3 || s.FirstMS != known(15900) || s.LastMS != known(17000) || s.WorkersBefore != known(2) || s.WorkersAfter != known(15) {
		t.Errorf("%+v", s)
	}
}

// TestMeasured: a pool of which the trace has measurements alone is one.
func TestMeasured(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	testtrace.NewScript(t, &mux).Event(0, 1, &clr.ThreadPoolWorkerThreadAdjustmentSample{Throughput: 7})
	if list := a.Result().Runtimes; len(list) != 1 || list[0].ThroughputPerSec.Count != 1 {
		t.Errorf("%+v", list)
	}
}

// TestBefore: items that came before the recording and were begun late in it waited, if there are some, and
// nothing that came in it was begun before.
func TestBefore(t *testing.T) {
	ms := time.Millisecond
	for _, x := range []struct {
		begun   []time.Duration // of items that did not come
		come    time.Duration   // of one that is begun at once
		starved bool
	}{{[]time.Duration{200, 300, 400}, 500, true}, {[]time.Duration{200, 300}, 500, false}, {[]time.Duration{10, 20, 30}, 500, false}, {[]time.Duration{200, 300, 400}, 50, false}} {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		come := func() {
			s.Event(x.come*ms, 1, &framework.ThreadPoolEnqueueWork{WorkID: 7})
			s.Event(x.come*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: 7})
		}
		if x.come < x.begun[0] {
			come()
		}
		for i, at := range x.begun {
			s.Event(at*ms, 1, &framework.ThreadPoolDequeueWork{WorkID: int64(100 + i)})
		}
		if x.come > x.begun[0] {
			come()
		}
		if rt := a.Result().Runtimes[0]; (rt.Starvation != nil) != x.starved {
			t.Errorf("%+v: %+v, %+v", x, rt.Queue, rt.Starvation)
		}
	}
}

package threads

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A scheduler plays events of the kernel of Linux, which numbers threads by 100 more than
// a recorder does.
type scheduler struct {
	t   *testing.T
	mux etw.Mux
	a   *Analysis
}

func newScheduler(t *testing.T) *scheduler {
	s := &scheduler{t: t}
	s.a = New(&s.mux)
	return s
}

func (s *scheduler) take(name string, ms int, thread int64, payload []byte, stack ...byte) {
	s.t.Helper()
	r := &etw.Record{ProviderName: "sched", PointerSize: etw.Ptr64, Clock: &etw.Clock{Frequency: 1e9, Start: 133_000_000_000_000_000}, Payload: payload,
		Schema: &etw.EventDesc{Name: name, Named: true, Fields: []etw.FieldDesc{{Name: "common_type", Type: etw.InUInt16}}}}
	r.ProcessID, r.ThreadID, r.Timestamp, r.Stack = 4, thread, int64(ms)*1e6, testtrace.AStack(stack...)
	if thread == 0 {
		r.ProcessID = 0
	}
	if err := s.mux.Dispatch(r); err != nil {
		s.t.Fatal(err)
	}
}

// kernels is the number that the kernel gives a thread.
func kernels(thread int64) uint32 {
	if thread == 0 {
		return 0
	}
	return uint32(thread + 100)
}

func (s *scheduler) to(ms int, from, to int64, state uint64, stack ...byte) {
	p := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, kernels(from))
	p = append(p, "from\x00...........\x00"[:16]...)
	p = binary.LittleEndian.AppendUint32(p, kernels(from))
	p = append(p, 120, 0, 0, 0)
	p = binary.LittleEndian.AppendUint64(p, state)
	p = append(p, "to\x00.............\x00"[:16]...)
	p = binary.LittleEndian.AppendUint32(p, kernels(to))
	s.take("sched_switch", ms, from, append(p, 120, 0, 0, 0), stack...)
}

func (s *scheduler) wakes(ms int, by, thread int64, flags byte) {
	p := binary.LittleEndian.AppendUint32([]byte{2, 0, flags, 0}, kernels(by))
	p = append(p, "some\x00...........\x00"[:16]...)
	p = binary.LittleEndian.AppendUint32(p, kernels(thread))
	s.take("sched_wakeup", ms, by, append(p, 120, 0, 0, 0, 0, 0, 0, 0))
}

// Threads 10 and 20 share a processor.
func TestScheduler(t *testing.T) {
	s := newScheduler(t)
	s.to(1, 0, 10, 0)
	s.to(3, 10, 20, 1, 5, 6) // 10 ran for 2; nobody knows yet who 120 is
	s.wakes(7, 20, 10, 0)
	s.to(8, 20, 10, 0x100, 7) // 10 waited for 4, was ready for 1; 20 ran for 5
	s.to(10, 10, 20, 2, 8)    // 20 was ready for 2; 10 ran for 2
	s.wakes(11, 20, 10, 0x08)
	s.to(11, 20, 10, 0x20, 9) // 10 waited for 1; 20 ran for 1, and ended
	s.to(16, 10, 0, 1)        // 10 ran for 5
	want := []string{
		"10 [5 6] waiting,Interruptible,thread 20 1 4",
		"10 [5 6] ready 0 1",
		"20 [7] ready 1 2",
		"10 [8] waiting,Uninterruptible,[interrupt] 1 1",
	}
	if diff := cmp.Diff(want, lines(s.a.Samples()[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	res := s.a.Result()
	threads := []Thread{
		{PID: 4, TID: 10, Name: "from", LifeMS: 15, Times: Times{RunningMS: 9, ReadyMS: 1, WaitingMS: 5}, Switches: 3, Waits: 2, LongestMS: 4},
		{PID: 4, TID: 20, Name: "from", LifeMS: 8, Times: Times{RunningMS: 6, ReadyMS: 2}, Switches: 2, Preempted: 1},
	}
	if diff := cmp.Diff(threads, res.Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res.Gaps != 0 || res.Readies != 2 || res.Switches != 6 {
		t.Errorf("%+v", res)
	}
}

// A payload that is too short, or of another layout, is of no switch.
func TestSchedulerOther(t *testing.T) {
	s := newScheduler(t)
	s.take("sched_switch", 1, 10, []byte{1, 0, 0, 0, 110, 0, 0, 0})
	s.take("sched_wakeup", 1, 10, []byte{1, 0, 0, 0})
	if res := s.a.Result(); res.Switches+res.Readies+len(res.Threads) != 0 {
		t.Errorf("%+v", res)
	}
}

// How long threads ran by the scheduler agrees with samples of processors: at least the time
// that is known, and no more than with that of which nothing is.
func TestSchedulerAgreesWithSamples(t *testing.T) {
	const slack = 5 // of samples, a millisecond each
	type id struct{ pid, tid int64 }
	var mux etw.Mux
	a := New(&mux)
	sampled, all := map[id]float64{}, 0.0
	mux.HandleRest(func(r *etw.Record) error {
		if r.Schema != nil && r.Schema.Name == "cpu" && r.ProviderName == "Universal.Events" {
			n, _ := binary.Uvarint(r.Payload)
			sampled[id{r.ProcessID, r.ThreadID}] += float64(n)
			all += float64(n)
		}
		return nil
	})
	path := corpus.File(t, "universal", "universal-tracepoints.nettrace")
	testtrace.Run(t, &mux, path)
	res := a.Result()
	if res.Switches != 9056 || res.Readies != 539 {
		t.Errorf("%s: %d switches, %d are made ready", filepath.Base(path), res.Switches, res.Readies)
	}
	held, ran := 0, 0.0
	for _, x := range res.Threads {
		ms, ok := sampled[id{x.PID, x.TID}]
		if !ok {
			continue
		}
		held++
		ran += x.RunningMS
		if ms < x.RunningMS-slack || ms > x.RunningMS+x.UnknownMS+slack {
			t.Errorf("thread %d of process %d: %v ms of samples, %+v", x.TID, x.PID, ms, x.Times)
		}
		delete(sampled, id{x.PID, x.TID})
	}
	var blocked stacks.Sample
	for s := range a.Samples()[0].All() {
		if s.Stack != 0 {
			blocked = s
		}
	}
	if held < 10 || len(sampled) > 2 || blocked.Stack == 0 {
		t.Errorf("%d threads are held to samples, not those of %v", held, sampled)
	}
	t.Logf("%d threads ran for %.1f ms, of %.1f ms of samples", held, ran, all)
}

package threads

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A scheduler plays events of the kernel of Linux, which numbers threads by 100 more than
// a recorder does.
type scheduler struct {
	t         *testing.T
	mux       etw.Mux
	a         *Analysis
	processor int32
}

func newScheduler(t *testing.T) *scheduler {
	s := &scheduler{t: t}
	s.a = New(&s.mux)
	return s
}

func (s *scheduler) take(name string, ms int, thread int64, payload []byte, stack ...byte) {
	s.t.Helper()
	r := &etw.Record{ProviderName: "sched", PointerSize: etw.Ptr64, Clock: &etw.Clock{Frequency: 1e9, Start: 133_000_000_000_000_000}, Payload: payload, Processor: s.processor,
		Schema: &etw.EventDesc{Name: name, Named: true, Fields: []etw.FieldDesc{{Name: "common_type", Type: etw.InUInt16}}}}
	if name == "cswitch" {
		r.ProviderName = "Universal.Events"
	}
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

// TestSchedulerOfOneProcess: of one process the scheduler has the switches away from its threads, and a
// recorder tells when they are back. These know the same of the threads as all switches of the machine,
// but for the first time on a processor.
func TestSchedulerOfOneProcess(t *testing.T) {
	const own, others, processors, end = 3, 2, 2, 400 // threads 1, 2 and 3 are of the process
	for seed := range uint64(20) {
		all, one := newScheduler(t), newScheduler(t)
		used, ran := system.NewUsage(&one.mux), 0.0
		var does [2]map[int64][]string
		for i, s := range []*scheduler{all, one} {
			does[i] = make(map[int64][]string)
			s.a.OnRun(func(x *system.Thread, from, to int64) {
				does[i][x.TID] = append(does[i][x.TID], fmt.Sprintf("runs from %d to %d", from, to))
			})
			s.a.OnOff(func(x *system.Thread, from, readied, till int64, by Waker) {
				does[i][x.TID] = append(does[i][x.TID], fmt.Sprintf("off from %d, ready from %d by %q to %d", from, readied, by.name(), till))
			})
		}
		random := rand.New(rand.NewPCG(seed, 0))
		var on [processors]int64
		var script [end + 1]func() // of the process
		gone := make(map[int64]int)
		rests := func(from, till int, thread int64) {
			do := script[from]
			script[from] = func() {
				if do != nil {
					do()
				}
				one.take("cswitch", from, thread, binary.AppendUvarint(nil, uint64(till-from)*1e6))
			}
		}
		for at := range end {
			p := random.IntN(processors)
			from, to, wakes := on[p], int64(random.IntN(own+others+1)), random.IntN(3) == 0
			isOwn, state := from > 0 && from <= own, []uint64{0x100, 1}[random.IntN(2)]
			if all.processor = int32(p); wakes && isOwn {
				all.wakes(at, from, to, 0)
				script[at] = func() { one.wakes(at, from, to, 0) }
			}
			if wakes || to == from || to != 0 && slices.Contains(on[:], to) {
				continue
			}
			on[p] = to
			all.to(at, from, to, state, byte(from))
			if left, is := gone[to]; is && to <= own { // of which a part was told before
				half := (left + at) / 2
				rests(left, half, to)
				rests(half, at, to)
				delete(gone, to)
			}
			if isOwn {
				gone[from] = at
				script[at] = func() { one.processor = int32(p); one.to(at, from, to, state, byte(from)) }
			}
		}
		for thread, left := range gone {
			rests(left, end+1, thread)
		}
		for _, do := range script {
			if do != nil {
				do()
			}
		}
		for _, s := range []*scheduler{all, one} {
			s.processor = processors
			s.to(end, own+1, own+2, 1) // until then all is told
			s.a.Result()
		}
		res := one.a.Result()
		for _, x := range system.Of(&one.mux).Threads() {
			ran += used.RanMS(used.Of(x))
		}
		if res.Gaps != 0 || used.Gaps() != 0 || len(res.Processors) > 0 || math.Abs(ran-res.RunningMS) > 1e-6 {
			t.Errorf("seed %d: %d and %d gaps, threads ran for %v ms, or %v", seed, res.Gaps, used.Gaps(), res.RunningMS, ran)
		}
		for thread := int64(1); thread <= own; thread++ {
			want, got := does[0][thread], does[1][thread]
			if len(want) < 20 || len(got) < len(want)-1 {
				t.Fatalf("seed %d, thread %d: %d times, and %d", seed, thread, len(want), len(got))
			}
			if diff := cmp.Diff(want[len(want)-len(got):], got); diff != "" {
				t.Errorf("seed %d, thread %d: (-want +got):\n%s", seed, thread, diff)
			}
		}
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

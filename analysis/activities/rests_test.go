package activities

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// machine plays the switches of thread 1.
type machine struct {
	goes  func(waits bool) // off its processor
	wakes func()
	comes func() // on one
}

func (s *shop) ofWindows() machine {
	event := func(e etw.Event) {
		s.at += time.Microsecond
		s.Event(s.at, 9, e)
	}
	return machine{
		goes: func(waits bool) {
			state := kernel.ThreadStateReady
			if waits {
				state = kernel.ThreadStateWaiting
			}
			event(&kernel.ThreadCSwitchV4{OldThreadID: 1, NewThreadID: 8, OldThreadState: state})
		},
		wakes: func() { event(&kernel.ThreadReadyThreadV2{TThreadID: 1}) },
		comes: func() {
			event(&kernel.ThreadCSwitchV4{OldThreadID: 8, NewThreadID: 1, OldThreadState: kernel.ThreadStateWaiting})
		},
	}
}

// ofLinux are those of a scheduler that numbers threads by 100 more than their recorder.
func (s *shop) ofLinux() machine {
	event := func(thread int64, name string, payload []byte) {
		s.at += time.Microsecond
		s.Record(s.at, thread, &etw.Record{ProviderName: "sched", PointerSize: etw.Ptr64, Payload: payload,
			Schema: &etw.EventDesc{Name: name, Named: true, Fields: []etw.FieldDesc{{Name: "common_type", Type: etw.InUInt16}}}})
	}
	head := func(thread uint32) []byte {
		p := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, thread)
		return append(p, "name\x00...........\x00"[:16]...)
	}
	to := func(from, to uint32, state uint64) {
		p := binary.LittleEndian.AppendUint32(head(from), from)
		p = binary.LittleEndian.AppendUint64(append(p, 120, 0, 0, 0), state)
		p = append(p, "name\x00...........\x00"[:16]...)
		event(int64(from)-100, "sched_switch", append(binary.LittleEndian.AppendUint32(p, to), 120, 0, 0, 0))
	}
	return machine{
		goes: func(waits bool) {
			state := uint64(0x100) // it was made to
			if waits {
				state = 1
			}
			to(101, 108, state)
		},
		wakes: func() {
			p := binary.LittleEndian.AppendUint32(head(108), 101)
			event(8, "sched_waking", append(p, 120, 0, 0, 0, 1, 0, 0, 0))
		},
		comes: func() { to(108, 101, 1) },
	}
}

// TestSwitches: a thread that works runs, waits and is ready as the kernel tells, whatever
// samples say, also at the stop of its activity by another thread.
func TestSwitches(t *testing.T) {
	for name, kind := range map[string]func(*shop) machine{"windows": (*shop).ofWindows, "linux": (*shop).ofLinux} {
		t.Run(name, func(t *testing.T) {
			var mux etw.Mux
			a := New(&mux)
			a.KeepCode()
			s := newShop(t, &mux)
			k := kind(s)
			var x *Activity
			a.OnSpan(func(_ int64, span Span) { x = span.Of })
			sample := func() {
				s.Stack = testtrace.AStack(0x10)
				s.library(1, sampleEvents[0], []byte{1, 0, 0, 0})
				s.Stack = etw.Stack{}
			}
			id := actid.Make(1, 0x10)
			k.goes(true) // for nobody
			k.comes()
			s.worksFor(1, id)
			s.source(1, s.start, etw.OpcodeStart, id)
			s.at += 2 * time.Millisecond
			k.goes(true)
			s.at += 3 * time.Millisecond
			sample()
			k.wakes()
			s.at += 5 * time.Millisecond
			k.comes()
			s.at += 2 * time.Millisecond
			sample() // outside managed code, but on a processor
			k.goes(false)
			s.at += 7 * time.Millisecond
			k.wakes() // it was ready
			k.comes()
			s.at += 2 * time.Millisecond
			k.goes(true)
			s.at += 11 * time.Millisecond
			s.source(2, s.stop, etw.OpcodeStop, id)
			s.worksFor(1, etw.GUID{})
			k.comes()
			spent := x.Causes.Spent
			for kind, want := range map[Kind]time.Duration{Blocked: 14 * time.Millisecond, Ready: 12 * time.Millisecond} {
				if got := time.Duration(spent[kind]); got.Truncate(100*time.Microsecond) != want {
					t.Errorf("%s for %s, want %s", kind, got, want)
				}
			}
			if spent[Running] != x.End-x.Begin-spent[Blocked]-spent[Ready] || x.Causes.Parallel != 0 {
				t.Errorf("%v of %d, %d in parallel", spent, x.End-x.Begin, x.Causes.Parallel)
			}
			for _, p := range x.Causes.Path {
				if p.Kind == Running && p.Code != 0 {
					t.Error("a sample says where a thread waits that runs")
				}
			}
		})
	}
}

// TestSwitchesAndRests: of one process the scheduler tells that a thread goes and that it could run, and a
// recorder tells ahead when it is back.
func TestSwitchesAndRests(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	k := s.ofLinux()
	var x *Activity
	a.OnSpan(func(_ int64, span Span) { x = span.Of })
	rest := func(waits bool, parts ...time.Duration) {
		k.goes(waits)
		for _, d := range parts {
			s.Record(s.at, 1, &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: "cswitch"}, PointerSize: etw.Ptr64,
				Payload: binary.AppendUvarint(nil, uint64(d))})
			s.at += d
		}
	}
	const ms = time.Millisecond
	id := actid.Make(1, 0x10)
	s.worksFor(1, id)
	s.source(1, s.start, etw.OpcodeStart, id)
	rest(true, 2*ms, 3*ms)
	s.at -= 2 * ms
	k.wakes() // after 3 ms
	s.at += 3 * ms
	k.wakes()            // it is back
	rest(false, 7*ms)    // it was ready
	s.at += 2 * ms       // and ran
	rest(true, 11*ms)    // the last one is not over when the activity is
	s.at -= 5*ms + ms/10 // by another thread
	s.source(2, s.stop, etw.OpcodeStop, id)
	s.worksFor(1, etw.GUID{})
	spent := x.Causes.Spent
	for kind, want := range map[Kind]time.Duration{Blocked: 9 * ms, Ready: 9 * ms} {
		if got := time.Duration(spent[kind]).Round(ms); got != want {
			t.Errorf("%s for %s, want %s", kind, got, want)
		}
	}
	if spent[Running] != x.End-x.Begin-spent[Blocked]-spent[Ready] {
		t.Errorf("%v of %d", spent, x.End-x.Begin)
	}
}

// TestRunningFitsProcessors: threads that take turns on two processors run for their activities
// as long as the kernel let them, and all of them no longer than the processors have time.
func TestRunningFitsProcessors(t *testing.T) {
	const processors, threads = 2, 6
	for seed := range uint64(20) {
		var mux etw.Mux
		a := New(&mux)
		var x *Activity
		a.OnSpan(func(_ int64, span Span) { x = span.Of })
		s, random := newShop(t, &mux), rand.New(rand.NewPCG(seed, 0))
		var (
			on         [processors]int64
			works      [threads + 1]etw.GUID
			ran, since [threads + 1]time.Duration
			all        time.Duration
			stopped    int
		)
		stop := func(thread int64) {
			s.source(thread, s.stop, etw.OpcodeStop, works[thread])
			ran[thread] += s.at - since[thread]
			s.worksFor(thread, etw.GUID{})
			if got := time.Duration(x.Causes.Spent[Running]); got != ran[thread] {
				t.Errorf("seed %d: thread %d ran for %s, not %s: %v", seed, thread, ran[thread], got, x.Causes.Spent)
			}
			works[thread], all, stopped = etw.GUID{}, all+time.Duration(x.Causes.Spent[Running]), stopped+1
		}
		for n := range 600 {
			s.at += time.Duration(random.IntN(1000)) * time.Microsecond
			p := random.IntN(processors)
			thread, next := on[p], int64(random.IntN(threads+1))
			switch none := (etw.GUID{}); {
			case thread != 0 && random.IntN(3) == 0 && works[thread] == none:
				works[thread] = actid.Make(1, 0xf0, byte(n), byte(n>>8))
				s.worksFor(thread, works[thread])
				s.source(thread, s.start, etw.OpcodeStart, works[thread])
				ran[thread], since[thread] = 0, s.at
			case thread != 0 && random.IntN(4) == 0 && works[thread] != none:
				stop(thread)
			case next == 0 || next != on[1-p]:
				state := []kernel.ThreadState{kernel.ThreadStateWaiting, kernel.ThreadStateReady}[random.IntN(2)]
				s.Event(s.at, 99, &kernel.ThreadCSwitchV4{OldThreadID: uint32(thread), NewThreadID: uint32(next), OldThreadState: state})
				ran[thread] += s.at - since[thread]
				on[p], since[next] = next, s.at
			}
		}
		if all > processors*s.at || stopped < 20 {
			t.Errorf("seed %d: %s of %d processors in %s, %d activities", seed, all, processors, s.at, stopped)
		}
	}
}

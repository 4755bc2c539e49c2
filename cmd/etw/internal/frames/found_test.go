package frames

import (
	"math/rand/v2"
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Stacks come after the events that they are of, some long after. They are in their places, take
// eight bytes at most where there are so many different ones, and none when they were taken.
func TestFoundStacks(t *testing.T) {
	const events, late = 5*groupEvents + 7, 40_000
	random := rand.New(rand.NewPCG(1, 2))
	of := func(n int64) system.CallStack {
		return system.CallStack{Kernel: system.StackID(n % 130), User: system.StackID(n % 20_000)}
	}
	files := []*fileStacks{{}, {number: 1}}
	s := foundStacks{files: files}
	s.count()
	var waiting []int64
	added, want := 0, make(map[int64]eventStack)
	for n := range int64(events) {
		switch random.IntN(4) {
		case 0: // none
			continue
		case 1:
			waiting = append(waiting, n)
		}
		want[n] = eventStack{files[n%2], of(n)}
		s.add(n, files[n%2], of(n))
		added++
		if len(waiting) > 0 && waiting[0] < n-late {
			n, waiting = waiting[0], waiting[1:]
			want[n] = eventStack{files[0], of(n + 1)}
			s.add(n, files[0], of(n+1))
			added++
		}
	}
	room := 0
	for _, g := range s.groups {
		room += len(g)
	}
	if room > 8*added {
		t.Errorf("%d stacks take %d bytes", added, room)
	}
	for n := range int64(events + 2*groupEvents) {
		if got := s.take(n); got != want[n] {
			t.Fatalf("event %d has %v, want %v", n, got, want[n])
		}
	}
	for i, g := range s.groups {
		if g != nil {
			t.Errorf("group %d is still there", i)
		}
	}
}

// Analyses find the stacks of the kernel's events themselves, but for those of threads that work for
// an activity, and come back to a processor. Dumps show all.
func TestWantedStacks(t *testing.T) {
	stack, err := etw.MakePointers(etw.Ptr64, 0x1000, 0x2000)
	if err != nil {
		t.Fatal(err)
	}
	walk := func(at uint64) etw.Event {
		return &kernel.StackWalkStackV2{EventTimeStamp: at, StackThread: 8, Stack: stack}
	}
	events := []etw.Event{
		&kernel.ThreadCSwitchV4{NewThreadID: 8, OldThreadID: 12}, walk(0),
		&kernel.PerfInfoSampleV2{ThreadID: 8, InstructionPointer: 0x1000}, walk(2),
		&clr.GCAllocationTickV4{}, &clr.StackWalk{FrameCount: 2, Stack: stack},
	}
	for _, some := range []bool{false, true} {
		b := NewBoundStacks(nil)
		b.some = some
		for i, e := range events {
			payload, err := e.AppendPayload(nil, etw.Ptr64)
			if err != nil {
				t.Fatal(err)
			}
			d := e.EventDesc()
			r := &etw.Record{Kind: d.Kind, Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, Opcode: d.Opcode, PointerSize: etw.Ptr64, ThreadID: 8, Timestamp: int64(i), Payload: payload}
			if d.Kind == etw.KindClassic {
				r.Provider = d.Class
			}
			if err := b.find(r); err != nil {
				t.Fatal(err)
			}
		}
		b.done()
		for i, want := range []bool{true, false, !some, false, true, false} {
			s := b.found.take(int64(i))
			if has := s.of != nil && s.of.stacks.Len(s.stack) == 2; has != want {
				t.Errorf("some %v: event %d has a stack: %v, want %v", some, i, has, want)
			}
		}
	}
}

package system_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

const kernelHalf = 0xfffff80000000000

func pointers(t testing.TB, addresses ...etw.Pointer) etw.Pointers {
	p, err := etw.MakePointers(etw.Ptr64, addresses...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A binding is a Stacks that notes the delivered events.
type binding struct {
	stacks *system.Stacks[string]
	script *testtrace.Script
	got    []string
	stack  []system.CallStack
}

func bind(t *testing.T) *binding {
	var mux etw.Mux
	b := new(binding)
	b.stacks = system.BindStacks(&mux, func(name string, s system.CallStack) {
		b.got = append(b.got, name)
		b.stack = append(b.stack, s)
	})
	b.script = testtrace.NewScript(t, &mux)
	return b
}

func (b *binding) await(at time.Duration, thread int64, name string) {
	b.stacks.Await(&etw.Record{Timestamp: int64(at)}, thread, name)
}

func (b *binding) frames(i int) []uint64 { return b.stacks.AppendFrames(nil, b.stack[i]) }

func TestStackHalves(t *testing.T) {
	b := bind(t)
	half := func(at time.Duration, of time.Duration, thread uint32, addresses ...etw.Pointer) {
		b.script.Event(at, 0, &kernel.StackWalkStackV2{EventTimeStamp: uint64(of), StackThread: thread, Stack: pointers(t, addresses...)})
	}
	b.await(1, 80, "both")
	b.await(1, 84, "same time")
	b.await(2, 80, "user")
	b.await(3, -1, "no thread")
	b.await(4, 80, "whole")
	b.await(5, 80, "kernel")
	b.await(6, 80, "nothing")
	half(10, 1, 84, kernelHalf+1)
	half(10, 1, 80, kernelHalf+2)
	half(11, 2, 80, 0x20)
	half(11, 3, 99, 0x30)
	half(12, 4, 80, kernelHalf+4, 0x40)
	half(13, 5, 80, kernelHalf+5)
	half(14, 6, 99, 0x60)
	half(14, 7, 80, 0x70)
	half(15, 1, 80, 0x10, 0x11)
	half(15, 1, 84, 0x18)
	half(16, 6, 80)
	b.stacks.Flush()
	b.stacks.Flush()
	want := map[string][]uint64{"both": {kernelHalf + 2, 0x10, 0x11}, "same time": {kernelHalf + 1, 0x18}, "user": {0x20}, "no thread": {0x30},
		"whole": {kernelHalf + 4, 0x40}, "kernel": {kernelHalf + 5}, "nothing": nil}
	for i, name := range b.got {
		if frames := b.frames(i); !slices.Equal(frames, want[name]) {
			t.Errorf("%s has %#x, want %#x", name, frames, want[name])
		}
	}
	if order := []string{"user", "no thread", "whole", "both", "same time", "kernel", "nothing"}; !slices.Equal(b.got, order) {
		t.Errorf("delivered were %q, want %q", b.got, order)
	}
	if n := b.stacks.Stats(); n != (system.StackStats{Awaited: 7, Bound: 6, Unclaimed: 2}) {
		t.Errorf("%+v", n)
	}
}

// Compressed stacks are defined later, and their keys are used again.
func TestStackKeys(t *testing.T) {
	b := bind(t)
	user := func(of time.Duration, key etw.Pointer) {
		b.script.Event(of, 0, &kernel.StackWalkStackKeyUserV2{EventTimeStamp: uint64(of), StackThread: 80, StackKey: key})
	}
	b.await(1, 80, "first")
	b.script.Event(1, 0, &kernel.StackWalkStackKeyKernelV2{EventTimeStamp: 1, StackThread: 80, StackKey: 7})
	user(1, 8)
	b.await(2, 80, "second")
	user(2, 8)
	b.script.Event(3, 0, &kernel.StackWalkKeyDeleteV2{Key: 8, StackFrame: pointers(t, 0x10, 0x11)})
	b.await(4, 80, "third")
	user(4, 8)
	b.await(5, 80, "lost")
	user(5, 9)
	b.await(7, 80, "wrong")
	user(7, 13)
	b.stacks.Await(&etw.Record{Timestamp: 6, Extended: []etw.ExtendedItem{{Type: etw.ExtStackKey64, Data: append(make([]byte, 8), 10, 0, 0, 0, 0, 0, 0, 0)}}}, 80, "64")
	b.stacks.Await(&etw.Record{Timestamp: 6, Extended: []etw.ExtendedItem{{Type: etw.ExtStackKey32, Data: append(make([]byte, 8), 11, 0, 0, 0)}}}, 80, "32")
	b.stacks.Await(&etw.Record{Timestamp: 6, Stack: testtrace.AStack(1, 2)}, 80, "own")
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 8, StackFrame: pointers(t, 0x20)})
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 7, StackFrame: pointers(t, kernelHalf)})
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 13, StackFrame: pointers(t, kernelHalf)})
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 9})
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 10, StackFrame: pointers(t, 0x20)})
	b.script.Event(8, 0, &kernel.StackWalkKeyCreateV2{Key: 11, StackFrame: pointers(t, 0x30)})
	b.script.Event(8, 0, &kernel.StackWalkKeyRundownV2{Key: 12, StackFrame: pointers(t, 0x40)}) // of nobody
	b.stacks.Flush()
	want := [][]uint64{{kernelHalf, 0x10, 0x11}, {0x10, 0x11}, {0x20}, nil, nil, {0x20}, {0x30}, {1, 2}}
	if names := []string{"first", "second", "third", "lost", "wrong", "64", "32", "own"}; !slices.Equal(b.got, names) {
		t.Fatalf("delivered were %q", b.got)
	}
	for i := range want {
		if got := b.frames(i); !slices.Equal(got, want[i]) {
			t.Errorf("%s has %#x, want %#x", b.got[i], got, want[i])
		}
	}
	if b.stack[0].User != b.stack[1].User || b.stacks.Half(-1).Len() != 0 || b.stacks.Half(1000).Len() != 0 {
		t.Error("the same stack has two numbers")
	}
	if n := b.stacks.Stats(); n != (system.StackStats{Awaited: 8, Bound: 8, Undefined: 1, Misdefined: 1}) {
		t.Errorf("%+v", n)
	}
}

// The stack of a sample begins where it was taken. A half that does not is another's, which
// had the key later: it goes, and the address of the sample is the innermost frame.
func TestSampledStacks(t *testing.T) {
	b := bind(t)
	keyed := func(at time.Duration, ip, inKernel, inUser etw.Pointer) {
		sample := &kernel.PerfInfoSampleV2{InstructionPointer: ip, ThreadID: 80}
		payload := testio.Payload(t, sample, etw.Ptr64)
		d := sample.EventDesc()
		r := &etw.Record{Timestamp: int64(at), Provider: d.Class, Opcode: d.Opcode, Version: d.Version, Payload: payload, PointerSize: etw.Ptr64}
		b.stacks.Await(r, 80, "sample")
		if inKernel != 0 {
			b.script.Event(at, 0, &kernel.StackWalkStackKeyKernelV2{EventTimeStamp: uint64(at), StackThread: 80, StackKey: inKernel})
		}
		if inUser != 0 {
			b.script.Event(at, 0, &kernel.StackWalkStackKeyUserV2{EventTimeStamp: uint64(at), StackThread: 80, StackKey: inUser})
		}
	}
	keyed(1, 0x10, 0, 8)         // the first meaning of the key, which nothing defines
	keyed(2, 0x20, 0, 8)         // the last
	keyed(3, kernelHalf+1, 7, 8) // both halves are its own, as far as that can be told
	keyed(4, kernelHalf+2, 7, 8) // the kernel's half is another's
	keyed(5, kernelHalf+3, 0, 8) // there is no half of the kernel
	keyed(6, kernelHalf+4, 9, 0) // it is not defined
	keyed(7, 0x20, 7, 8)         // a thread in its program has no half of the kernel
	keyed(8, kernelHalf+5, 0, 0) // without a stack
	b.script.Event(9, 0, &kernel.StackWalkKeyRundownV2{Key: 8, StackFrame: pointers(t, 0x20, 0x21)})
	b.script.Event(9, 0, &kernel.StackWalkKeyRundownV2{Key: 7, StackFrame: pointers(t, kernelHalf+1, kernelHalf)})
	b.stacks.Flush()
	want := map[int][]uint64{0: {0x10}, 1: {0x20, 0x21}, 2: {kernelHalf + 1, kernelHalf, 0x20, 0x21}, 3: {kernelHalf + 2, 0x20, 0x21}, 4: {kernelHalf + 3, 0x20, 0x21},
		5: {0x20, 0x21}, 6: {kernelHalf + 4}, 7: nil}
	lengths := []int{0, 2, 4, 3, 3, 2, 0, 0} // of stacks that the trace has
	for i := range want {
		if got := b.frames(i); !slices.Equal(got, want[i]) || b.stacks.Len(b.stack[i]) != lengths[i] {
			t.Errorf("%d has %#x, want %#x; a length of %d, want %d", i, got, want[i], b.stacks.Len(b.stack[i]), lengths[i])
		}
	}
	if n := b.stacks.Stats(); n != (system.StackStats{Awaited: 8, Bound: 7, Undefined: 1, Misdefined: 2}) {
		t.Errorf("%+v", n)
	}
}

// Events that wait for long give way.
func TestStackWaiting(t *testing.T) {
	b := bind(t)
	for i := range system.MaxWaiting + 2 {
		b.await(time.Duration(i), 80, string(rune('a'+i%26)))
	}
	if !slices.Equal(b.got, []string{"a", "b"}) {
		t.Errorf("%d were delivered: %q", len(b.got), b.got[:min(len(b.got), 10)])
	}
	b.script.Event(1, 0, &kernel.StackWalkStackV2{EventTimeStamp: 1, StackThread: 80, Stack: pointers(t, 1)})
	if n := b.stacks.Stats(); n.Unclaimed != 1 || n.Bound != 0 {
		t.Errorf("%+v", n)
	}
	b.stacks.Flush()
	if len(b.got) != system.MaxWaiting+2 {
		t.Errorf("%d were delivered", len(b.got))
	}
}

// In any order, every event is delivered once, with the stack that a search through all
// halves finds.
func TestStackOrder(t *testing.T) {
	type half struct {
		of     int64
		thread int64
	}
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		b := bind(t)
		var halves []half
		waiting := make(map[half]string)
		want := make(map[string][]uint64)
		for i := range 200 {
			e := half{rnd.Int64N(30), rnd.Int64N(3)}
			name := string(rune('A' + i))
			switch _, there := waiting[e]; {
			case !there && rnd.IntN(2) == 0:
				b.await(time.Duration(e.of), e.thread, name)
				waiting[e] = name
				want[name] = nil
			case there:
				address := etw.Pointer(0x1000 + i)
				isKernel := rnd.IntN(2) == 0 && want[waiting[e]] == nil
				if isKernel {
					address += kernelHalf
				}
				b.script.Event(100, 0, &kernel.StackWalkStackV2{EventTimeStamp: uint64(e.of), StackThread: uint32(e.thread), Stack: pointers(t, address)})
				want[waiting[e]] = append(want[waiting[e]], uint64(address))
				if !isKernel {
					delete(waiting, e)
				}
			default:
				halves = append(halves, e)
				b.script.Event(100, 0, &kernel.StackWalkStackV2{EventTimeStamp: uint64(e.of) + 1000, StackThread: uint32(e.thread), Stack: pointers(t, 1)})
			}
		}
		b.stacks.Flush()
		if len(b.got) != len(want) || b.stacks.Stats().Unclaimed != uint64(len(halves)) {
			t.Fatalf("seed %d: %d of %d were delivered, %+v", seed, len(b.got), len(want), b.stacks.Stats())
		}
		for i, name := range b.got {
			if got := b.frames(i); !slices.Equal(got, want[name]) {
				t.Fatalf("seed %d: %s has %#x, want %#x", seed, name, got, want[name])
			}
		}
	}
}

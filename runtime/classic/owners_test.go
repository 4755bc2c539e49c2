package classic_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Classes of kernel events.
var (
	diskClass     = etw.MustParseGUID("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c")
	faultClass    = etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c")
	processClass  = etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	threadClass   = etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	tcpClass      = etw.MustParseGUID("9a280ac0-c8e0-11d1-84e2-00c04fb998a2")
	perfInfoClass = etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")
	imageClass    = etw.MustParseGUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518")
	configClass   = etw.MustParseGUID("01853a65-418f-4f36-aefc-dc0f1d2fd235")
	stackClass    = etw.MustParseGUID("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3")
)

// A who is a process and a thread.
type who struct{ process, thread int64 }

func whoOf(r *etw.Record) who { return who{r.ProcessID, r.ThreadID} }

// kernelEvent returns an event of a class.
func kernelEvent(class etw.GUID, opcode etw.Opcode, at int64, payload []byte) *etw.Record {
	return &etw.Record{
		Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: 3, PointerSize: etw.Ptr64,
		ProcessID: -1, ThreadID: -1, Timestamp: at, Payload: payload,
	}
}

func threadEvent(opcode etw.Opcode, at int64, process, thread uint32) *etw.Record {
	return kernelEvent(threadClass, opcode, at, testio.Numbers(etw.Ptr64, process, thread))
}

func sample(at int64, thread uint32) *etw.Record {
	return kernelEvent(perfInfoClass, 46, at, testio.Numbers(etw.Ptr64, 99, thread, uint32(1)))
}

func stackOf(at int64, processor int32, process, thread uint32) *etw.Record {
	r := kernelEvent(stackClass, 32, at+100, testio.Numbers(etw.Ptr64, at, process, thread, 99))
	r.Processor = processor
	return r
}

func TestAttribute(t *testing.T) {
	u32 := func(v uint32) uint32 { return v }
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		for _, test := range []struct {
			name    string
			class   etw.GUID
			opcode  etw.Opcode
			version uint8
			header  who
			payload []byte
			want    who
		}{
			{"process start", processClass, 1, 4, who{1, 2}, testio.Numbers(ptr, 99, u32(300), u32(1)), who{300, -1}},
			{"process without a version", processClass, 1, 0, who{1, 2}, testio.Numbers(ptr, u32(301), 99), who{301, -1}},
			{"process cut off", processClass, 1, 4, who{1, 2}, []byte{1}, who{1, 2}},
			{"counters", processClass, 32, 2, who{-1, -1}, testio.Numbers(ptr, u32(302)), who{302, -1}},
			{"defunct", processClass, 39, 3, who{-1, -1}, testio.Numbers(ptr, 99, u32(303)), who{303, -1}},
			{"thread start", threadClass, 1, 3, who{1, 2}, testio.Numbers(ptr, u32(304), u32(305)), who{304, 305}},
			{"thread stop", threadClass, 2, 3, who{304, 305}, testio.Numbers(ptr, u32(7), u32(8)), who{304, 305}},
			{"context switch", threadClass, 36, 2, who{-1, -1}, testio.Numbers(ptr, u32(10), u32(20)), who{100, 10}},
			{"image start", imageClass, 3, 3, who{1, 2}, testio.Numbers(ptr, 99, 99, u32(306)), who{306, -1}},
			{"image load", imageClass, 10, 3, who{1, 2}, testio.Numbers(ptr, 99, 99, u32(306)), who{1, 2}},
			{"image load without a header", imageClass, 10, 3, who{-1, -1}, testio.Numbers(ptr, 99, 99, u32(306)), who{306, -1}},
			{"packet", tcpClass, 26, 2, who{-1, -1}, testio.Numbers(ptr, u32(307), u32(0)), who{307, -1}},
			{"service", configClass, 15, 2, who{1, 2}, testio.Numbers(ptr, u32(308)), who{308, 2}},
			{"service of old", configClass, 15, 1, who{1, 2}, testio.Numbers(ptr, u32(308)), who{1, 2}},
			{"sample", perfInfoClass, 46, 2, who{-1, -1}, testio.Numbers(ptr, 99, u32(10), u32(1)), who{100, 10}},
			{"sample of the idle thread", perfInfoClass, 46, 2, who{-1, -1}, testio.Numbers(ptr, 99, u32(0), u32(1)), who{0, 0}},
			{"sample of an unknown thread", perfInfoClass, 46, 2, who{-1, -1}, testio.Numbers(ptr, 99, u32(77), u32(1)), who{-1, 77}},
			{"read", diskClass, 10, 3, who{-1, -1}, testio.Numbers(ptr, u32(1), u32(2), u32(3), u32(4), int64(5), 6, 7, int64(8), u32(10)), who{100, 10}},
			{"read of old", diskClass, 10, 2, who{-1, -1}, testio.Numbers(ptr, u32(1), u32(2), u32(3), u32(4), int64(5), 6, 7, int64(8)), who{-1, -1}},
			{"read begins", diskClass, 12, 3, who{-1, -1}, testio.Numbers(ptr, 99, u32(10)), who{100, 10}},
			{"read begins, of old", diskClass, 12, 2, who{-1, -1}, testio.Numbers(ptr, 99, u32(10)), who{-1, -1}},
			{"flush", diskClass, 14, 3, who{-1, -1}, testio.Numbers(ptr, u32(1), u32(2), int64(786839), 99, u32(10)), who{100, 10}},
			{"flush of old", diskClass, 14, 2, who{-1, -1}, testio.Numbers(ptr, u32(1), u32(2), int64(786839), 99), who{-1, -1}},
			{"flush begins", diskClass, 15, 3, who{-1, -1}, testio.Numbers(ptr, 99, u32(10)), who{100, 10}},
			{"stack", stackClass, 32, 2, who{-1, -1}, testio.Numbers(ptr, int64(5), u32(310), u32(311), 99), who{310, 311}},
			{"key of the kernel's half", stackClass, 37, 2, who{-1, -1}, testio.Numbers(ptr, int64(5), u32(310), u32(311), 99), who{310, 311}},
			{"key of the program's half", stackClass, 38, 2, who{-1, -1}, testio.Numbers(ptr, int64(5), u32(310), u32(311), 99), who{310, 311}},
			{"addresses", stackClass, 36, 2, who{-1, -1}, testio.Numbers(ptr, int64(5), u32(310), u32(311), 99), who{-1, -1}},
			{"hard fault", faultClass, 32, 0, who{-1, -1}, testio.Numbers(ptr, int64(1), int64(2), 3, 4, u32(10)), who{100, 10}},
			{"allocation", faultClass, 98, 3, who{1, 2}, testio.Numbers(ptr, 99, 99, u32(309)), who{309, 2}},
			{"nothing is known", tcpClass, 26, 2, who{-1, -1}, nil, who{-1, -1}},
		} {
			var o classic.Owners
			// Thread 10 belongs to process 100, which is known from its end only.
			o.Learn(threadEvent(4, 2000, 100, 10))
			r := &etw.Record{
				Kind: etw.KindClassic, Provider: test.class, Opcode: test.opcode, Version: test.version, PointerSize: ptr,
				Timestamp: 1000, ProcessID: test.header.process, ThreadID: test.header.thread, Payload: test.payload,
			}
			o.Learn(r)
			o.Attribute(r)
			if got := whoOf(r); got != test.want {
				t.Errorf("%s, pointers of %d: %v, want %v", test.name, ptr, got, test.want)
			}
			r.Kind, r.ProcessID, r.ThreadID = etw.KindManifest, test.header.process, test.header.thread
			if o.Attribute(r); whoOf(r) != test.header {
				t.Errorf("%s, as a manifest event: %v, want %v", test.name, whoOf(r), test.header)
			}
		}
	}
}

// threadHistory is the life of thread 10: it ran since before the trace, and its id
// was used again twice.
var threadHistory = []*etw.Record{
	threadEvent(2, 500, 100, 10), threadEvent(1, 1000, 200, 10), threadEvent(2, 1500, 200, 10), threadEvent(1, 2000, 300, 10),
}

var threadOwners = map[int64]int64{250: 100, 750: 100, 999: 100, 1000: 200, 1250: 200, 1750: 200, 2250: 300, math.MaxInt64: 300}

// TestThreadReuse learns in any order, and in parts.
func TestThreadReuse(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		var o classic.Owners
		parts := make([]classic.Owners, 2)
		for i, n := range order {
			if !parts[i%2].Learn(threadHistory[n]) {
				t.Errorf("event %d was not learned from", n)
			}
		}
		o.Merge(&parts[0], &parts[1])
		if o.Size() == 0 {
			t.Error("the size is 0")
		}
		for at, want := range threadOwners {
			r := sample(at, 10)
			if o.Attribute(r); r.ProcessID != want {
				t.Errorf("order %v: at %d: process %d, want %d", order, at, r.ProcessID, want)
			}
		}
	}
}

// TestLive: in a session, only facts of the past that count for the future are kept.
func TestLive(t *testing.T) {
	var o classic.Owners
	for at := int64(1); at < 100_000; at++ {
		process := uint32(at / 100 % 5)
		learn := []*etw.Record{stackOf(at-2, 0, 1, 2)} // too late for its event
		if at%100 == 0 {
			learn = append(learn, threadEvent(1, at, process, 10), threadEvent(2, at+1, process, 10))
		}
		for _, r := range learn {
			o.Learn(r)
		}
		r := sample(at, 10)
		o.Attribute(r)
		if want := int64(process); at >= 100 && r.ProcessID != want {
			t.Fatalf("at %d: process %d, want %d", at, r.ProcessID, want)
		}
	}
	if o.Size() > 1000 {
		t.Errorf("size %d", o.Size())
	}
	// A stack that comes in time is of use.
	o.Learn(stackOf(200_000, 3, 5, 6))
	r := kernelEvent(threadClass, 50, 200_000, nil)
	r.Processor = 3
	if o.Attribute(r); whoOf(r) != (who{5, 6}) {
		t.Errorf("%v, want the stack's", whoOf(r))
	}
}

// TestStackOwner: the stack of an event comes after it and says whose it is.
func TestStackOwner(t *testing.T) {
	for _, opcode := range []etw.Opcode{32, 37, 38} {
		var o classic.Owners
		for at := range int64(50) {
			r := stackOf(100-at, int32(at%3), uint32(at), uint32(at+1))
			r.Opcode = opcode
			if !o.Learn(r) {
				t.Error("not learned")
			}
		}
		for at := range int64(50) {
			r := kernelEvent(threadClass, 50, 100-at, nil)
			r.Processor = int32(at % 3)
			if o.Attribute(r); whoOf(r) != (who{at, at + 1}) {
				t.Errorf("opcode %d: %v, want %d and %d", opcode, whoOf(r), at, at+1)
			}
			// At the same time, on another processor, or of another thread.
			for _, other := range []who{{1, -1}, {0, 77}} {
				r := kernelEvent(threadClass, 50, 100-at, nil)
				r.Processor, r.ThreadID = int32((at+other.process)%3), other.thread
				if o.Attribute(r); r.ProcessID != -1 || r.ThreadID != other.thread {
					t.Errorf("opcode %d: %v, want nobody", opcode, whoOf(r))
				}
			}
		}
	}
}

func TestNotLearned(t *testing.T) {
	var o classic.Owners
	manifest := threadEvent(1, 1, 2, 3)
	manifest.Kind = etw.KindManifest
	for name, r := range map[string]*etw.Record{
		"of a manifest":   manifest,
		"another class":   kernelEvent(processClass, 1, 1, make([]byte, 40)),
		"another opcode":  threadEvent(36, 1, 2, 3),
		"stack deleted":   kernelEvent(stackClass, 35, 1, make([]byte, 40)),
		"thread cut off":  kernelEvent(threadClass, 1, 1, make([]byte, 7)),
		"stack cut off":   kernelEvent(stackClass, 32, 1, make([]byte, 15)),
		"thread unnamed":  kernelEvent(threadClass, 72, 1, make([]byte, 40)),
		"thread, no data": kernelEvent(threadClass, 2, 1, nil),
	} {
		if o.Learn(r) {
			t.Errorf("%s: learned", name)
		}
	}
}

// TestOwnersForget: of a session that goes on for long, only facts for the future are kept.
func TestOwnersForget(t *testing.T) {
	var o classic.Owners
	class, _ := classic.KernelClass(0x18, 32)
	for n := range int64(100000) {
		payload := binary.LittleEndian.AppendUint64(nil, uint64(n+100))
		payload = binary.LittleEndian.AppendUint64(payload, 1)
		o.Learn(&etw.Record{Kind: etw.KindClassic, Provider: class, Opcode: 32, Timestamp: n + 100, Payload: append(payload, make([]byte, 16)...)})
		o.Attribute(&etw.Record{Kind: etw.KindClassic, Timestamp: n, ProcessID: -1, ThreadID: -1})
	}
	if n := o.Size(); n == 0 || n > 100000 {
		t.Errorf("%d bytes are kept", n)
	}
}

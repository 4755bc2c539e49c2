package outstanding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// made is a made trace for a kind: each event comes a millisecond after the one before.
type made struct {
	*Analysis
	s  *testtrace.Script
	at time.Duration
}

func newMade(t testing.TB, k *Kind) *made {
	var mux etw.Mux
	return &made{Analysis: k.New(&mux), s: testtrace.NewScript(t, &mux)}
}

// event gives an event of process 1 with a call stack of one address, or without for 0.
func (m *made) event(stack byte, e etw.Event) {
	m.at += time.Millisecond
	m.s.Stack = etw.Stack{}
	if stack > 0 {
		m.s.Stack = testtrace.AStack(stack)
	}
	m.s.Event(m.at, 7, e)
}

// found returns what is outstanding, by process, stack, labels and values.
func (m *made) found() []string {
	var list []string
	out := m.Samples()[0]
	for x := range out.All() {
		list = append(list, fmt.Sprintf("%d %v%v%v", x.Process, out.Stack(x.Stack), x.Labels, x.Values))
	}
	slices.Sort(list)
	return list
}

func commit(base, size uint64, flags kernel.VirtualAllocFlags) *kernel.PageFaultVirtualAllocV2 {
	return &kernel.PageFaultVirtualAllocV2{BaseAddress: etw.Pointer(base), RegionSize: etw.Pointer(size), ProcessID: 1, Flags: flags}
}

func release(base, size uint64, flags kernel.VirtualAllocFlags) *kernel.PageFaultVirtualFreeV2 {
	return (*kernel.PageFaultVirtualFreeV2)(commit(base, size, flags))
}

const (
	commits   = kernel.VirtualAllocFlagsMemCommit
	reserves  = kernel.VirtualAllocFlagsMemReserve
	decommits = kernel.VirtualAllocFlagsMemDecommit
	releases  = kernel.VirtualAllocFlagsMemRelease
)

func pool(tag, size, at uint32) kernel.PoolAllocationV2 {
	return kernel.PoolAllocationV2{Type: 512, Tag: tag, NumberOfBytes: etw.Pointer(size), Entry: etw.Pointer(at)}
}

// TestKinds has each kind allocate, give back what is known, and what is not, and leaves some.
func TestKinds(t *testing.T) {
	other := commit(0x1000, 0x1000, commits)
	other.ProcessID = 2
	paged := pool('A'|'b'<<8|'c'<<16|1<<31, 48, 0x30)
	paged.Type = 1
	used := pool('N'|'t'<<8|'f'<<16|'s'<<24, 16, 0x10)
	file := etw.MakeUTF16(`\Device\a.txt`)
	for _, test := range []struct {
		kind   *Kind
		events []etw.Event // with the stacks 1, 2, …
		want   []string
		res    Result
	}{
		{&VirtualMemory, []etw.Event{
			commit(0x10000, 0x10000, reserves),        // takes no memory
			commit(0x10000, 0x4000, commits),          // 2
			commit(0x20000, 0x2000, commits|reserves), // 3
			other,                                        // 4
			release(0x11000, 0x1000, decommits),          // leaves 0x3000 of 2 in two parts
			commit(0x13000, 0x2000, commits),             // 6 takes 0x1000 of 2
			release(0x20000, 0x2000, releases),           // all of 3
			release(0x90000, 0x1000, releases),           // older
			release(0x10000, 0x1000, 0x80000),            // is no release
			&kernel.ProcessStopV4{ProcessID: 2},          // 4 goes with it
			commit(0xfffffffffffff000, 0x10000, commits), // ends where addresses do
		}, []string{"1 [11][][1 4095]", "1 [2][][1 8192]", "1 [6][][1 8192]"},
			Result{Amount{5, 0x4000 + 0x2000 + 0x1000 + 0x2000 + 0xfff}, Amount{2, 0x1000 + 0x1000 + 0x2000 + 0x1000}, Amount{3, 4095 + 8192 + 8192}, 1, 0}},
		{&NativeHeap, []etw.Event{
			&kernel.HeapAllocV2{HeapHandle: 0xa, AllocSize: 100, AllocAddress: 0x10},
			&kernel.HeapAllocV2{HeapHandle: 0xa, AllocSize: 200, AllocAddress: 0x20},
			&kernel.HeapAllocV2{HeapHandle: 0xb, AllocSize: 300, AllocAddress: 0x10}, // another heap
			&kernel.HeapFreeV2{HeapHandle: 0xa, FreeAddress: 0x10},
			&kernel.HeapReAllocV2{HeapHandle: 0xa, OldAllocAddress: 0x20, OldAllocSize: 200, NewAllocAddress: 0x40, NewAllocSize: 250},
			&kernel.HeapAllocV2{HeapHandle: 0xc, AllocSize: 5, AllocAddress: 0x50},
			&kernel.HeapDestroyV2{HeapHandle: 0xc},
			&kernel.HeapFreeV2{HeapHandle: 0xa, FreeAddress: 0x99},                 // older
			&kernel.HeapAllocV2{HeapHandle: 0xb, AllocSize: 7, AllocAddress: 0x10}, // the free is missing
			&kernel.HeapAllocV2{HeapHandle: 0xb, AllocSize: 7},                     // failed
		}, []string{"1 [5][][1 250]", "1 [9][][1 7]"}, Result{Amount{6, 862}, Amount{4, 605}, Amount{2, 257}, 1, 0}},
		{&Pool, []etw.Event{
			&used, &paged,
			(*kernel.PoolFreeV2)(&used),
			&kernel.PoolSessionPoolAllocationV2{Tag: used.Tag, NumberOfBytes: 32, Entry: 0x20},
			&kernel.PoolSessionPoolFreeV2{Entry: 0x77}, // older
		}, []string{"1 [2][{tag Abc.} {pool paged}][1 48]", "1 [4][{tag Ntfs} {pool nonpaged}][1 32]"}, Result{Amount{3, 96}, Amount{1, 16}, Amount{2, 80}, 1, 0}},
		{&Handles, []etw.Event{
			&kernel.ObjectCreateHandleV2{Handle: 4, ObjectType: 9, HasObjectName: true, ObjectName: file},
			&kernel.ObjectCreateHandleV2{Handle: 8, ObjectType: 10},
			&kernel.ObjectCloseHandleV2{Handle: 4},
			&kernel.ObjectDuplicateHandleV2{SourceHandle: 8, TargetHandle: 4, TargetProcessID: 2, ObjectType: 9},
			&kernel.ObjectCreateHandleV2{Handle: 1<<31 | 4, ObjectType: 10}, // in the table of the kernel
			&kernel.ObjectCloseHandleV2{Handle: 12},                         // older
			&kernel.ObjectTypeDCEndV2{ObjectType: 9, TypeName: etw.MakeUTF16("File")},
			&kernel.ObjectCreateHandleV2{Handle: 4, ObjectType: 9, HasObjectName: true, ObjectName: file},
			&kernel.ObjectCreateHandleV2{Handle: 16, ObjectType: 10},
			&kernel.ObjectCloseHandleV2{Handle: 16},
		}, []string{`1 [2][{type type 10}][1]`, `1 [4][{type File}][1]`, `1 [5][{type type 10}][1]`, `1 [8][{type File} {object \Device\a.txt}][1]`},
			Result{Amount{Count: 6}, Amount{Count: 2}, Amount{Count: 4}, 1, 0}},
	} {
		t.Run(test.kind.Name, func(t *testing.T) {
			m := newMade(t, test.kind)
			for i, e := range test.events {
				m.event(byte(i+1), e)
			}
			if diff := cmp.Diff(test.want, m.found()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if res := m.Result(); *res != test.res {
				t.Errorf("got %+v, want %+v", *res, test.res)
			}
		})
	}
}

// TestLateStack: the stack that comes for memory which is given back by then is not that of the
// memory in its place.
func TestLateStack(t *testing.T) {
	m := newMade(t, &NativeHeap)
	stack := func(at time.Duration, address uint64) {
		list, err := etw.MakePointers(etw.Ptr64, etw.Pointer(address))
		if err != nil {
			t.Fatal(err)
		}
		m.event(0, &kernel.StackWalkStackV2{EventTimeStamp: uint64(at), StackProcess: 1, StackThread: 7, Stack: list})
	}
	m.event(0, &kernel.HeapAllocV2{HeapHandle: 1, AllocSize: 1, AllocAddress: 0x10})
	first := m.at
	m.event(0, &kernel.HeapFreeV2{HeapHandle: 1, FreeAddress: 0x10})
	m.event(0, &kernel.HeapAllocV2{HeapHandle: 1, AllocSize: 2, AllocAddress: 0x20})
	stack(first, 5)
	if got := m.found(); !slices.Equal(got, []string{"1 [][][1 2]"}) {
		t.Errorf("got %q", got)
	}
	m = newMade(t, &NativeHeap)
	m.event(0, &kernel.HeapAllocV2{HeapHandle: 1, AllocSize: 2, AllocAddress: 0x20})
	stack(m.at, 6)
	if got := m.found(); !slices.Equal(got, []string{"1 [6][][1 2]"}) {
		t.Errorf("got %q", got)
	}
}

// TestPages holds virtual memory against an array that has the owner of each page, with commits
// and releases by chance.
func TestPages(t *testing.T) {
	const pages, page = 300, 0x1000
	for seed := range uint64(20) {
		m, by := newMade(t, &VirtualMemory), rand.New(rand.NewPCG(seed, 46))
		var owner [pages]int // the number of the commit, or 0
		lived := make(map[int]bool)
		older := 0
		for i := 1; i <= 2000; i++ {
			first := by.IntN(pages)
			n := 1 + by.IntN(min(pages-first, 1+by.IntN(60)))
			base, size := uint64(0x10000+first*page), uint64(n*page)
			if by.IntN(2) == 0 {
				m.event(byte(1+i%200), commit(base, size, commits))
				for p := first; p < first+n; p++ {
					owner[p] = i
				}
				lived[i] = true
				continue
			}
			m.event(0, release(base, size, decommits))
			any := false
			for p := first; p < first+n; p++ {
				any, owner[p] = any || owner[p] > 0, 0
			}
			if !any {
				older++
			}
		}
		bytes := make(map[int]int)
		for _, i := range owner {
			if i > 0 {
				bytes[i] += page
			}
		}
		var want []string
		for i, n := range bytes {
			want = append(want, fmt.Sprintf("1 [%d][][1 %d]", 1+i%200, n))
		}
		slices.Sort(want)
		if got := m.found(); !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %q, want %q", seed, got, want)
		}
		if res := m.Result(); res.Older != older || res.Allocated.Count != len(lived) || res.Outstanding.Count != len(bytes) || len(m.held) > pages+2 {
			t.Errorf("seed %d: %+v, %d older, %d commits, %d left; %d places", seed, *res, older, len(lived), len(bytes), len(m.held))
		}
	}
}

// TestFlat: the tree stays flat where a trace divides one span again and again, in order.
func TestFlat(t *testing.T) {
	const n = 1 << 15
	m := newMade(t, &VirtualMemory)
	m.event(0, commit(0x10000, n*0x2000, commits))
	for i := range uint64(n) {
		m.event(0, release(0x10000+i*0x2000, 0x1000, decommits))
	}
	var depth func(*span) int
	depth = func(s *span) int {
		if s == nil {
			return 0
		}
		return 1 + max(depth(s.left), depth(s.right))
	}
	if d := depth(m.spaces[1][0]); d > 100 {
		t.Errorf("the tree of %d spans is %d deep", n, d)
	}
	if res := m.Result(); res.Outstanding != (Amount{1, n * 0x1000}) {
		t.Errorf("%+v", *res)
	}
}

// FuzzEvents gives any bytes as payloads of all kinds: nothing panics, and the sums agree.
func FuzzEvents(f *testing.F) {
	f.Add(byte(0), byte(98), []byte("0123456789abcdef0123456789abcdef"))
	f.Add(byte(3), byte(34), make([]byte, 40))
	f.Fuzz(func(t *testing.T, which, opcode byte, data []byte) {
		k := []*Kind{&VirtualMemory, &NativeHeap, &Pool, &Handles}[which%4]
		m := newMade(t, k)
		for at := 0; at+8 < len(data) && at < 4096; at += 8 {
			r := &etw.Record{Kind: etw.KindClassic, Provider: etw.MustParseGUID(k.class), Opcode: etw.Opcode(opcode + data[at]%4), Version: 2, PointerSize: etw.Ptr64, Payload: data[at:min(at+48, len(data))]}
			m.at += time.Millisecond
			m.s.Record(m.at, 7, r)
		}
		n, bytes := 0, uint64(0)
		for x := range m.Samples()[0].All() {
			n++
			if len(x.Values) > 1 {
				bytes += uint64(x.Values[1])
			}
		}
		res := m.Result()
		if n != res.Outstanding.Count || k != &Handles && bytes != res.Outstanding.Bytes && bytes < 1<<62 && res.Outstanding.Bytes < 1<<62 {
			t.Errorf("%d of %d bytes are outstanding, and there are %+v", n, bytes, *res)
		}
	})
}

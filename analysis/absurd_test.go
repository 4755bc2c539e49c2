package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAbsurdSums plays the same events, whose sizes no memory has, once more each time: every
// size that a result has stays or grows, as it would not if a sum began at 0 again, and the
// warnings of each answer say that its sums are cut.
func TestAbsurdSums(t *testing.T) {
	for _, size := range []uint64{math.MaxInt64, 1 << 63, math.MaxUint64} {
		last := map[string]float64{}
		for rounds := 1; rounds <= 5; rounds++ {
			var mux etw.Mux
			set := New(&mux)
			s := testtrace.NewScript(t, &mux)
			s.Stack = testtrace.AStack(1, 2, 3)
			for i := range rounds {
				absurdEvents(t, s, time.Duration(i)*time.Second, uint32(i+1), size)
			}
			res := set.Result()
			tree := decoded(t, res)
			checkTree(t, "", tree)
			sizes := map[string]float64{}
			sizesIn(tree, "", sizes)
			for path, was := range last {
				if now, ok := sizes[path]; !ok || now < was {
					t.Errorf("sizes of %#x, played %d times: %s is %v, and was %v before", size, rounds, path, now, was)
				}
			}
			if last = sizes; len(last) < 30 {
				t.Fatalf("only %d sizes are in the result", len(last))
			}
			if rounds > 2 {
				checkSaid(t, res)
			}
		}
	}
}

func checkSaid(t *testing.T, res *Result) {
	t.Helper()
	for what, list := range map[string][]string{"gc": res.GC.Warnings(), "jit": res.JIT.Warnings()} {
		if text := strings.Join(list, "\n"); !strings.Contains(text, "which no memory has: sums end there") {
			t.Errorf("%s does not say that sums are cut: %q", what, text)
		}
	}
	if rt := res.Alloc.Runtimes[0]; rt.Damaged == 0 || !strings.Contains(strings.Join(res.Alloc.Warnings(), "\n"), "events of allocations with amounts that cannot be") {
		t.Errorf("allocs: %d events are left out: %q", rt.Damaged, res.Alloc.Warnings())
	}
}

// absurdEvents has an event of each kind that says how many bytes something has.
func absurdEvents(t *testing.T, s *testtrace.Script, at time.Duration, number uint32, size uint64) {
	t.Helper()
	values, err := clr.MakeGCPerHeapHistoryV3Values(etw.Ptr64, clr.GCPerHeapHistoryV3Value{
		SizeBefore: etw.Pointer(size), FreeListBefore: 1, SizeAfter: etw.Pointer(size), FreeListAfter: etw.Pointer(size), FreeObjAfter: etw.Pointer(size),
		In: etw.Pointer(size), PinnedSurv: etw.Pointer(size), NonePinnedSurv: etw.Pointer(size), NewAllocation: etw.Pointer(math.MaxInt64)})
	if err != nil {
		t.Fatal(err)
	}
	s.Event(at, 1, &clr.GCSampledObjectAllocationHigh{TypeID: 7, ObjectCountForTypeSample: math.MaxUint32, TotalSizeForTypeSample: size})
	s.Event(at, 1, &clr.AllocationSampled{TypeID: 7, TypeName: etw.MakeUTF16("T"), ObjectSize: size})
	s.Event(at, 1, &clr.GCAllocationTickV4{AllocationAmount64: min(size, math.MaxInt64), TypeID: 7, TypeName: etw.MakeUTF16("T"), ObjectSize: size})
	s.Event(at, 1, &clr.MethodJittingStarted{MethodID: 1})
	s.Event(at, 1, &clr.MethodJitMemoryAllocatedForCode{MethodID: 1, JitHotCodeRequestSize: size, JitRODataRequestSize: size, AllocatedSizeForJitCode: size})
	s.Event(at, 1, &clr.MethodLoadVerboseV1{MethodID: 1, MethodFlags: clr.MethodFlagsJitted})
	s.Event(at, 1, &clr.GCSuspendEEBeginV1{Count: number, Reason: 1})
	s.Event(at, 1, &clr.GCSuspendEEEndV1{})
	s.Event(at, 1, &clr.GCStartV2{Count: number, Depth: 1})
	s.Event(at, 1, &clr.PinObjectAtGCTime{ObjectID: 8, ObjectSize: size})
	s.Event(at, 1, &clr.PinObjectAtGCTime{ObjectID: 16, ObjectSize: size})
	s.Event(at, 1, &clr.GCEndV1{Count: number, Depth: 1})
	s.Event(at, 1, &clr.GCHeapStatsV2{GenerationSize0: size, GenerationSize1: size, TotalPromotedSize0: size, TotalPromotedSize1: size, FinalizationPromotedSize: size})
	s.Event(at, 1, &clr.GCGlobalHeapHistoryV3{NumHeaps: 2, CondemnedGeneration: 1})
	for heap := range uint32(2) {
		s.Event(at, 1, &clr.GCPerHeapHistoryV3{HeapIndex: heap, Count: 1, Values: values, FreeListAllocated: etw.Pointer(size), FreeListRejected: etw.Pointer(size)})
	}
	s.Event(at+time.Millisecond, 1, &clr.GCRestartEEEndV1{})
}

// sizesIn finds the numbers in a JSON value that are sizes, by their paths.
func sizesIn(v any, path string, into map[string]float64) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if n, ok := x.(float64); ok && (strings.HasSuffix(name, "MB") || strings.HasSuffix(strings.ToLower(name), "bytes")) {
				into[path+"."+name] = n
			}
			sizesIn(x, path+"."+name, into)
		}
	case []any:
		for i, x := range v {
			sizesIn(x, fmt.Sprintf("%s[%d]", path, i), into)
		}
	}
}

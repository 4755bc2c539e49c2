package gc

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	gogo "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// of reports whether a record may be of interest to the analysis.
func of(r *etw.Record) bool {
	return r.Provider == clr.Provider.Desc.GUID && (r.ID < 40 || r.ID > 200) || r.Provider == private.Provider.Desc.GUID && r.ID < 40
}

func dispatch(tb testing.TB, records []*etw.Record) *Analysis {
	tb.Helper()
	var mux etw.Mux
	a := New(&mux)
	for _, r := range records {
		if err := mux.Dispatch(r.Clone()); err != nil {
			tb.Fatal(err)
		}
	}
	return a
}

// propertyTraces are those of moderate size, and the one of the .NET Framework with
// private histories.
func propertyTraces(tb testing.TB) []string {
	tb.Helper()
	return append(testtrace.Moderate(tb), testtrace.Named(tb, "net.4.5.2.x64.etl"))
}

// Complete data does not change by later events. Three things come late: the histories of a
// background collection of server GC, the peaks of background collections, which are over
// the collections until their end, and allocations since a background collection that goes
// on, or since the begin of a trace whose first tick of allocations comes later.
func TestPrefix(t *testing.T) {
	for _, path := range propertyTraces(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, of)
		whole := dispatch(t, records).Result()
		for _, share := range []int{1, 3, 5, 7, 9} {
			part := dispatch(t, records[:len(records)*share/10])
			checkInvariants(t, part)
			for i, rt := range part.Result().Runtimes {
				for k, g := range rt.GCs {
					want := *whole.Runtimes[i].GCs[k]
					if !g.Complete() || len(g.HeapHistories) != len(want.HeapHistories) {
						continue
					}
					if g.AllocatedMB.IsZero() {
						want = withoutAllocations(want)
					}
					if diff := gogo.Diff(text(t, &want), text(t, g)); diff != "" {
						t.Errorf("%s: collection %d after %d tenths (-whole +part):\n%s", name, g.Number, share, diff)
					}
				}
			}
		}
	}
}

// withoutAllocations returns g as if the allocations before it were unknown.
func withoutAllocations(g GC) GC {
	g.AllocatedMB, g.AllocationRateMBPerSec, g.AllocatedByTicks = measure.Float{}, measure.Float{}, false
	g.Generations = slices.Clone(g.Generations)
	for i := range g.Generations {
		g.Generations[i].AllocatedMB = measure.Float{}
	}
	return g
}

func text(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// Records of one time may come in any order of their threads.
func TestPermutation(t *testing.T) {
	for _, path := range propertyTraces(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, of)
		want := text(t, dispatch(t, records).Result())
		slices.SortStableFunc(records, func(a, b *etw.Record) int {
			return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), cmp.Compare(b.ThreadID, a.ThreadID))
		})
		if diff := gogo.Diff(want, text(t, dispatch(t, records).Result())); diff != "" {
			t.Errorf("%s: in another order of threads (-want +got):\n%s", name, diff)
		}
	}
}

// The sums of two halves are those of the whole, if nothing is under way where it
// is cut.
func TestMerge(t *testing.T) {
	for _, path := range propertyTraces(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, of)
		cut := len(records) / 2
		for ; cut < len(records); cut++ {
			if quiet(dispatch(t, records[:cut])) {
				break
			}
		}
		whole, a, b := total(dispatch(t, records)), total(dispatch(t, records[:cut])), total(dispatch(t, records[cut:]))
		for key, want := range whole {
			if got := a[key] + b[key]; !testtrace.Near(got, want, 1e-6*want) {
				t.Errorf("%s: %s is %v, and %v + %v of the halves", name, key, want, a[key], b[key])
			}
		}
	}
}

func quiet(a *Analysis) bool {
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		if len(s.open) > 0 || len(s.running) > 0 || s.bgc != nil || s.finalizers.running {
			return false
		}
		if n := len(s.gcs); n > 0 && s.gcs[n-1].ended && !s.gcs[n-1].complete() {
			return false
		}
	}
	return true
}

// total adds up the additive figures.
func total(a *Analysis) map[string]float64 {
	sums := map[string]float64{}
	for _, rt := range a.Result().Runtimes {
		sums["pause"] += rt.PauseMS
		sums["count"] += float64(rt.Count)
		sums["ticked"] += rt.TickedMB
		sums["promoted"] += rt.All.PromotedMB
		sums["gc pauses"] += rt.All.PauseMS.Total
		for _, r := range rt.ByGeneration {
			sums["count of "+string('0'+rune(r.Generation))] += float64(r.Count)
		}
		for _, r := range rt.Suspensions.ByReason {
			sums["suspensions "+r.Reason] += float64(r.Count)
		}
		for _, f := range rt.FinalizedTypes {
			sums["finalized"] += float64(f.Count)
		}
		if rt.Finalizers != nil {
			sums["finalizers"] += rt.Finalizers.MS
		}
	}
	return sums
}

// FuzzEvents makes sequences of events out of bytes. Whatever comes, nothing
// panics, and the sums agree.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 1, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0})
	f.Add([]byte{0, 0, 1, 1, 0, 1, 2, 0, 9, 2, 1, 8, 6, 0, 2, 7, 0, 1, 3, 0, 9, 4, 0, 0, 5, 0, 0, 0, 1, 6, 5, 1, 0})
	f.Add([]byte{0, 0, 1, 2, 16, 16, 2, 16, 32, 1, 16, 0, 3, 16, 32, 4, 0, 9, 5, 16, 0}) // a second begin before all threads stand still
	f.Fuzz(func(t *testing.T, script []byte) {
		var mux etw.Mux
		a := New(&mux)
		clock := &etw.Clock{Frequency: 1e9}
		now, looks := int64(0), 0
		for len(script) >= 3 {
			op, thread, value := script[0], int64(script[1]%4), script[2]
			now += int64(script[1] >> 2)
			script = script[3:]
			e, ok := scripted(op, value)
			if !ok {
				if looks++; looks <= 8 { // each takes time for all that there is
					_ = a.Result()
				}
				continue
			}
			desc := e.EventDesc()
			p := testio.Payload(t, e, etw.Ptr64)
			r := &etw.Record{Provider: desc.Provider.GUID, ID: desc.ID, Version: desc.Version, PointerSize: etw.Ptr64,
				ProcessID: 1, ThreadID: thread, Timestamp: now, Clock: clock, Payload: p}
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		}
		if s := mux.Stats(); s.Undecodable > 0 {
			t.Fatal(s.FirstError)
		}
		checkInvariants(t, a)
	})
}

// scripted returns the event that two bytes stand for.
func scripted(op, v byte) (etw.Event, bool) {
	n := uint32(v >> 4)
	switch op % 18 {
	case 0:
		return &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReason(v % 8), Count: n}, true
	case 1:
		return &clr.GCSuspendEEEndV1{}, true
	case 2:
		return &clr.GCStartV2{Count: n, Depth: uint32(v % 4), Type: clr.GCType(v % 3), Reason: clr.GCReason(v % 19)}, true
	case 3:
		return &clr.GCEndV1{Count: n, Depth: uint32(v % 3)}, true
	case 4:
		return &clr.GCHeapStatsV2{GenerationSize0: uint64(v), GenerationSize3: 5, TotalPromotedSize1: uint64(v)}, true
	case 5:
		return &clr.GCRestartEEEndV1{}, true
	case 6:
		return &clr.GCGlobalHeapHistoryV3{NumHeaps: int32(n), CondemnedGeneration: uint32(v % 3)}, true
	case 7:
		gen := clr.GCPerHeapHistoryV3Value{SizeBefore: etw.Pointer(v), FreeListBefore: etw.Pointer(n), SizeAfter: 7, FreeListAfter: etw.Pointer(n), PinnedSurv: etw.Pointer(v)}
		values, err := clr.MakeGCPerHeapHistoryV3Values(etw.Ptr64, slices.Repeat([]clr.GCPerHeapHistoryV3Value{gen}, int(v%7))...)
		return &clr.GCPerHeapHistoryV3{HeapIndex: n, Count: uint32(v % 7), Values: values, CondemnReasons1: clr.GCCondemnConditions(v) << 24}, err == nil
	case 8:
		return &clr.GCAllocationTickV4{AllocationAmount64: uint64(v) << 10, AllocationKind: clr.GCAllocationKind(v % 4)}, true
	case 9:
		return &clr.GCMarkWithType{HeapNum: n, Type: clr.GCRootKind(v % 12), Bytes: uint64(v)}, true
	case 10:
		name := []string{"CommittedUsage", "SizeAdaptationSample", "SizeAdaptationTuning", "SizeAdaptationFullGCTuning", "Other"}[v%5]
		data := make([]byte, v%60)
		return &clr.GCDynamicEvent{Name: etw.MakeUTF16(name), DataSize: uint32(len(data)), Data: data}, true
	case 11:
		return &clr.PinObjectAtGCTime{ObjectID: etw.Pointer(v), ObjectSize: uint64(n)}, true
	case 12:
		return &private.PinPlugAtGCTime{PlugStart: etw.Pointer(v), PlugEnd: etw.Pointer(n)}, true
	case 13:
		return &private.BGCAllocWaitBegin{}, true
	case 14:
		return &private.BGCAllocWaitEnd{}, true
	case 15:
		return &clr.FinalizeObject{TypeID: etw.Pointer(v)}, true
	case 16:
		return &clr.GCMarkStackRoots{HeapNum: n}, true
	}
	return nil, false
}

package alloc

import (
	"math"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTraces(t *testing.T) {
	type top struct {
		name  string
		mb    float64
		ticks int
	}
	for _, test := range []struct {
		trace string
		ticks int
		mb    float64
		types []top
	}{
		{"filtrace_alloc.nettrace", 254, 27.012, []top{{"System.Byte[]", 16.48, 155}, {"System.String", 9.57, 90}, {"System.Reflection.Metadata.TypeName", 0.22, 2}}},
		{"gcevents.etl", 12, 1.450, []top{{"System.Char[]", 0.575, 5}, {"System.String", 0.437, 3}, {"EventMetadata[]", 0.113, 1},
			{"System.Text.StringBuilder", 0.109, 1}, {"System.Byte[]", 0.109, 1}}},
		{"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace", 35458, 4235.07, []top{{"System.Char[]", 0.668 * 4235.07, -1},
			{"System.Xml.BitStack", 0.1645 * 4235.07, -1}, {"System.String", 0.161 * 4235.07, -1}}},
		{"net.4.5.2.x64.etl", 10382, 1108.92, []top{{"System.Object", 0.997 * 1108.92, -1}}},
	} {
		res := analyze(t, testtrace.Named(t, test.trace))
		ticks := 0
		for _, rt := range res.Runtimes {
			ticks += rt.Ticks.Count
		}
		if ticks != test.ticks || !testtrace.Near(res.Bytes/1e6, test.mb, 6e-3) {
			t.Errorf("%s: %d ticks, %v MB; want %d, %v", test.trace, ticks, res.Bytes/1e6, test.ticks, test.mb)
		}
		if test.trace == "gcevents.etl" {
			kinds := []Kind{{Kind: "Small", Count: 10, Bytes: 1123952}, {Kind: "Large", Count: 2, Bytes: 108672 + 217320}}
			if got := res.Runtimes[0].Ticks.Kinds; !slices.Equal(got, kinds) {
				t.Errorf("kinds are %+v, want %+v", got, kinds)
			}
		}
		for i, want := range test.types {
			got := res.Types[i]
			if got.Type != want.name || !testtrace.Near(got.Bytes/1e6, want.mb, 6e-3+test.mb*5e-4) || want.ticks >= 0 && got.Ticks != want.ticks {
				t.Errorf("%s: type %d is %+v, want %+v", test.trace, i, got, want)
			}
		}
	}
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Allocs struct {
				TickCount    int
				TickAmount64 uint64
				SampledCount int
				Ticks        []struct {
					Amount64 float64
					Count    int
					Kind     int
					Type     string
				}
				Sampled []struct {
					Count, Kind int
					Type        string
				}
			}
		}
		if !testtrace.Peer(t, path, &peer) || peer.Allocs.TickCount+peer.Allocs.SampledCount == 0 {
			continue
		}
		res := analyze(t, path)
		name := testtrace.Name(path)
		ticks, bytes, samples := 0, uint64(0), 0
		ours := map[string]int{}
		for _, rt := range res.Runtimes {
			if rt.Ticks != nil {
				ticks, bytes = ticks+rt.Ticks.Count, bytes+rt.Ticks.Bytes
				for _, typ := range rt.Ticks.Types {
					ours[typ.Type] += typ.Ticks
				}
			}
			if rt.Samples != nil {
				samples += rt.Samples.Count
				for _, typ := range rt.Samples.Types {
					ours[typ.Type] += typ.Ticks
				}
			}
		}
		if ticks != peer.Allocs.TickCount || bytes != peer.Allocs.TickAmount64 || samples != peer.Allocs.SampledCount {
			t.Errorf("%s: %d ticks, %d bytes, %d samples; TraceEvent says %+v", name, ticks, bytes, samples, peer.Allocs)
		}
		for _, typ := range peer.Allocs.Ticks {
			ours[typ.Type] -= typ.Count
			compared++
		}
		for _, typ := range peer.Allocs.Sampled {
			ours[typ.Type] -= typ.Count
			compared++
		}
		for typ, n := range ours {
			if n != 0 {
				t.Errorf("%s: %d more events of %s than TraceEvent has", name, n, typ)
			}
		}
	}
	t.Logf("%d types compared", compared)
}

// The weights by type, by stack and by time are those of all, and no tick is of
// less than the stride.
func TestInvariants(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		var byRuntime float64
		for _, rt := range res.Runtimes {
			if rt.Ticks != nil {
				checkSums(t, testtrace.Name(path), float64(rt.Ticks.Bytes), rt.Ticks.Types, rt.Ticks.Stacks, rt.Ticks.Series.Sums)
				byRuntime += float64(rt.Ticks.Bytes)
				if mean := float64(rt.Ticks.Bytes) / float64(rt.Ticks.Count); mean < 102401 {
					t.Errorf("%s: %v bytes a tick", path, mean)
				}
			} else if rt.Samples != nil {
				checkSums(t, testtrace.Name(path), rt.Samples.Bytes, rt.Samples.Types, rt.Samples.Stacks, rt.Samples.Series.Sums)
				byRuntime += rt.Samples.Bytes
			}
		}
		if !testtrace.Near(res.Bytes, byRuntime, 1) {
			t.Errorf("%s: %v bytes, by runtime %v", path, res.Bytes, byRuntime)
		}
	}
}

func checkSums(t *testing.T, name string, bytes float64, types []Type, stacks []StackWeight, series []float64) {
	t.Helper()
	var byType, byStack, byTime float64
	rounding := 1.0 // of whole bytes a sample
	for _, typ := range types {
		byType += typ.Bytes
	}
	for _, s := range stacks {
		rounding += float64(s.Ticks) / 2
		byStack += s.Bytes
	}
	for _, v := range series {
		byTime += v
	}
	if !testtrace.Near(byType, bytes, 1) || len(stacks) > 0 && byStack > bytes+rounding || !testtrace.Near(byTime, bytes, 1) {
		t.Errorf("%s: %v bytes, %v by type, %v by stack, %v by time", name, bytes, byType, byStack, byTime)
	}
}

// Samples are unbiased: the program's own count is within three times the error that is
// given.
func TestSamplesAgainstTruth(t *testing.T) {
	path := testtrace.Named(t, "alloc-sampled.nettrace")
	var truth struct {
		Sites []struct {
			Method, Type string
			Bytes        float64 `json:"bytes_thread_counter"`
		} `json:"allocation_sites"`
		Begin struct {
			Bytes float64 `json:"total_allocated_bytes"`
		} `json:"counters_begin"`
		End struct {
			Bytes float64 `json:"total_allocated_bytes"`
		} `json:"counters_end"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	rt := analyze(t, path).Runtimes[0]
	byName := map[string]Type{}
	for _, typ := range rt.Samples.Types {
		byName[typ.Type] = typ
	}
	// The runtime leaves out the enclosing types of nested ones.
	want := map[string]float64{}
	for _, site := range truth.Sites {
		switch site.Type {
		case "Bakery.Alloc+Tray":
			want["Tray"] += site.Bytes
		case "System.String":
			want["System.String"] += site.Bytes
		case "Bakery.Alloc+Pair`2[System.Int32,System.String][]":
			want["Pair`2[System.Int32,System.String][]"] += site.Bytes
		case "System.Byte[]", "System.Byte[] (LOH)":
			want["System.Byte[]"] += site.Bytes
		case "System.Object[] (LOH)":
			want["System.Object[]"] += site.Bytes
		case "System.Int64[] (POH)":
			want["System.Int64[]"] += site.Bytes
		}
	}
	for name, bytes := range want {
		got := byName[name]
		if bound := 3 * got.Bytes * got.ErrorPercent.Or(0) / 100; !testtrace.Near(got.Bytes, bytes, bound) {
			t.Errorf("%s: %v bytes, and the program allocated %v, more than %v away", name, got.Bytes, bytes, bound)
		}
	}
	if total := truth.End.Bytes - truth.Begin.Bytes; len(want) < 6 || !testtrace.Near(rt.Samples.Bytes, total, 0.1*total) {
		t.Errorf("%v bytes in all, and the program allocated %v", rt.Samples.Bytes, total)
	}
}

func dispatch(t *testing.T, mux *etw.Mux, e etw.Event, stack etw.Stack) {
	t.Helper()
	p := testio.Payload(t, e, etw.Ptr64)
	d := e.EventDesc()
	r := &etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, PointerSize: etw.Ptr64, ProcessID: 1, Payload: p, Stack: stack}
	if err := mux.Dispatch(r); err != nil {
		t.Fatal(err)
	}
}

func TestOldRuntimes(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	dispatch(t, &mux, &clr.GCAllocationTickV1{AllocationAmount: 0xfffffff0}, etw.Stack{})
	dispatch(t, &mux, &clr.GCAllocationTickV1{AllocationAmount: 5 << 20, AllocationKind: clr.GCAllocationKindLarge}, etw.Stack{})
	dispatch(t, &mux, &clr.GCAllocationTickV1{AllocationAmount: 1}, etw.Stack{})
	ticks := a.Result().Runtimes[0].Ticks
	if ticks.Bytes != mostSmallTick+mostLargeTick+leastTick || !ticks.Clamped || len(ticks.Kinds) != 2 {
		t.Errorf("%+v", ticks)
	}
	if typ := ticks.Types[0]; typ.Type != unnamed || typ.Ticks != 3 || !typ.Objects.IsZero() {
		t.Errorf("%+v", typ)
	}
}

func TestExact(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	stack := etw.Stack{Addresses: []byte{1, 0, 0, 0, 0, 0, 0, 0}, PtrSize: etw.Ptr64}
	dispatch(t, &mux, &clr.GCSampledObjectAllocationHigh{TypeID: 7, ObjectCountForTypeSample: 3, TotalSizeForTypeSample: 72}, stack)
	dispatch(t, &mux, &clr.GCSampledObjectAllocationLow{TypeID: 7, ObjectCountForTypeSample: 1, TotalSizeForTypeSample: 24}, stack)
	dispatch(t, &mux, &clr.GCAllocationTickV4{AllocationAmount64: 102500, TypeID: 9, ObjectSize: 50}, stack)
	res := a.Result()
	exact := res.Runtimes[0].Exact
	if exact.Bytes != 96 || exact.Objects != 4 || exact.Events != 2 || len(exact.Stacks) != 1 || exact.Stacks[0].Ticks != 4 {
		t.Errorf("%+v", exact)
	}
	if typ := exact.Types[0]; typ.Type != "type 0x7" || typ.ErrorPercent.Or(1) != 0 {
		t.Errorf("%+v", typ)
	}
	if typ := res.Types[0]; typ.Type != "type 0x9" || typ.Objects.Or(0) != 2050 {
		t.Errorf("%+v", typ)
	}
}

// TestOneError has a type have one error, of one runtime as of all of them.
func TestOneError(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := testtrace.Analyze(t, New, path)
		if len(res.Runtimes) != 1 {
			continue
		}
		var types []Type
		switch rt := res.Runtimes[0]; {
		case rt.Ticks != nil:
			types = rt.Ticks.Types
		case rt.Samples != nil:
			types = rt.Samples.Types
		}
		for i, typ := range res.Types {
			if typ.ErrorPercent != types[i].ErrorPercent || typ.Type != types[i].Type {
				t.Errorf("%s: %s has the errors %v and %v", path, typ.Type, typ.ErrorPercent, types[i].ErrorPercent)
			}
		}
	}
}

func TestErrorOfSeveral(t *testing.T) {
	all := map[string]*Type{}
	one := []Type{{Type: "A", Bytes: 300, ErrorPercent: measure.Known(10)}}
	merge(all, one)
	merge(all, []Type{{Type: "A", Bytes: 100, ErrorPercent: measure.Known(40)}})
	if got := all["A"].ErrorPercent.Or(0); math.Abs(got-12.5) > 1e-9 { // 30 and 40 bytes of 400
		t.Error(got)
	}
}

// TestDamaged: events with amounts that cannot be are in no sum.
func TestDamaged(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	good := clr.GCAllocationTickV4{AllocationAmount: 102500, AllocationAmount64: 102500, TypeID: 9, ObjectSize: 50}
	large := clr.GCAllocationTickV4{AllocationKind: clr.GCAllocationKindLarge, AllocationAmount64: 1<<33 + 9, AllocationAmount: 9, TypeID: 9, ObjectSize: 1 << 33}
	dispatch(t, &mux, &good, etw.Stack{})
	dispatch(t, &mux, &large, etw.Stack{})
	for _, change := range []func(*clr.GCAllocationTickV4){
		func(e *clr.GCAllocationTickV4) { e.AllocationAmount64 |= 1 << 32 }, // more than its object
		func(e *clr.GCAllocationTickV4) { e.AllocationAmount++ },            // not the same as the other amount
		func(e *clr.GCAllocationTickV4) { e.AllocationAmount, e.AllocationAmount64 = 0, 0 },
		func(e *clr.GCAllocationTickV4) { e.ObjectSize = 1 << 60 },
		func(e *clr.GCAllocationTickV4) { e.AllocationKind = 3 },
	} {
		bad := good
		change(&bad)
		dispatch(t, &mux, &bad, etw.Stack{})
	}
	dispatch(t, &mux, &clr.AllocationSampled{TypeID: 9, ObjectSize: 1 << 48}, etw.Stack{})
	dispatch(t, &mux, &clr.GCSampledObjectAllocationHigh{TypeID: 7, ObjectCountForTypeSample: 1, TotalSizeForTypeSample: 1 << 48}, etw.Stack{})
	res := a.Result()
	rt := res.Runtimes[0]
	if rt.Ticks.Count != 2 || rt.Ticks.Bytes != 102500+1<<33+9 || rt.Samples != nil || rt.Exact != nil || rt.Damaged != 7 || len(res.Warnings()) != 1 {
		t.Errorf("%+v, %+v", rt, rt.Ticks)
	}
}

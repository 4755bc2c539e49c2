package gc

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// fastest is more than programs can allocate of small objects, in MB each second: memory is
// cleared for them.
const fastest = 40_000

// TestAllocatedTruth holds allocations against programs' own counts: to 2 % by ticks, and 10
// % by collections, but for allocations outside of the marks between which they counted, and
// half a tick of each kind.
func TestAllocatedTruth(t *testing.T) {
	by := map[string]int{}
	for _, path := range corpus.Glob(t, "dotnet10", "*.truth.json") {
		type counters struct {
			MB float64 `json:"total_allocated_bytes"`
		}
		var truth struct {
			PID int64
			B   counters `json:"counters_begin"`
			E   counters `json:"counters_end"`
		}
		name := strings.TrimSuffix(filepath.Base(path), ".truth.json")
		traces, err := filepath.Glob(filepath.Join(filepath.Dir(path), name+".net*"))
		if err != nil {
			t.Fatal(err)
		}
		if !testtrace.JSON(t, path, &truth) || truth.E.MB == 0 || len(traces) != 1 || strings.HasSuffix(traces[0], ".gz") {
			continue
		}
		var mux etw.Mux
		a := New(&mux)
		testtrace.Run(t, &mux, traces[0])
		for _, rt := range a.Result().Runtimes {
			for _, g := range rt.GCs {
				if rate, ok := g.AllocationRateMBPerSec.Get(); ok && rate*g.Generations[0].AllocatedMB.Or(0) > fastest*g.AllocatedMB.Or(0) {
					t.Errorf("%s: collection %d: %.0f MB/s", name, g.Number, rate)
				}
			}
			got, ok := rt.AllocatedMB.Get()
			if !ok {
				continue
			}
			want, outside := (truth.E.MB-truth.B.MB)/1e6, truth.B.MB/1e6+0.15
			least, most := want*0.98-0.15, want*1.02+outside
			if by[rt.AllocatedBy]++; rt.AllocatedBy == "collections" {
				least, most = want*0.9, want*1.1+outside
			}
			if got < least || got > most {
				t.Errorf("%s: %.2f MB by %s, and the program allocated %.2f", name, got, rt.AllocatedBy, want)
			}
			t.Logf("%s: %.2f MB by %s, %.2f by the program", name, got, rt.AllocatedBy, want)
		}
	}
	if len(by) > 0 && (by["ticks"] == 0 || by["collections"] == 0) {
		t.Errorf("compared %v", by)
	}
}

// aHeap is the sizes that a collection found and left of small and of large objects, in MB.
func aHeap(before0, after0, before3, after3 uint64) Heap {
	h := Heap{Layout: 3, Known: 5}
	h.Generations[0] = HeapGen{SizeBefore: before0 * 1e6, SizeAfter: after0 * 1e6, Updated: true}
	h.Generations[3] = HeapGen{SizeBefore: before3 * 1e6, SizeAfter: after3 * 1e6, Updated: true}
	return h
}

// The small objects that a background collection found are there when it is over, and the
// large ones that it swept count from its end on.
func TestAllocatedInBackground(t *testing.T) {
	of := func(begin, end int64, kind Kind, h Heap) *collection {
		return &collection{began: true, ended: true, begin: begin, end: end, kind: kind, heaps: []Heap{h}, reason: clr.GCReasonAllocSmall}
	}
	swept := aHeap(17, 21, 7, 7)
	swept.Generations[0].FreeListAfter = 9e6
	a := allocated{}
	var got [][3]uint64
	for _, c := range []*collection{
		of(0, 1, Blocking, aHeap(30, 2, 5, 5)),
		of(10, 50, Background, aHeap(12, 1, 8, 4)),  // 10 and 3; it sweeps 4, at 50
		of(10, 11, Blocking, aHeap(12, 3, 8, 8)),    // the same again
		of(20, 21, Foreground, aHeap(8, 1, 10, 10)), // 5 and 2
		of(60, 61, Blocking, aHeap(9, 2, 7, 7)),     // 8, and 3 since the sweep
		of(70, 71, Background, aHeap(1, 1, 7, 7)),   // after the collection that goes before it
		of(80, 81, Blocking, aHeap(6, 0, 7, 7)),     // 5
		{began: true, begin: 90, end: 91, ended: true},
		of(100, 101, Blocking, aHeap(6, 0, 7, 7)),  // the one before is not known
		of(110, 150, Background, swept),            // 17, and grows by 4
		of(160, 161, Blocking, aHeap(30, 0, 7, 7)), // 18 beyond the 12 that are left of 21
	} {
		if bytes, known := a.since(c); known {
			got = append(got, [3]uint64{bytes[0] / 1e6, bytes[1] / 1e6, bytes[2] / 1e6})
		}
	}
	want := [][3]uint64{{10, 3, 0}, {0, 0, 0}, {5, 2, 0}, {8, 3, 0}, {0, 0, 0}, {5, 0, 0}, {17, 0, 0}, {22, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Before .NET 5 the sizes after of small objects can leave out what the next collection finds
// again, in the same place: of that only what became free is gone. Later the size after is true:
// as much as before is what the program allocated.
func TestAllocatedShrunk(t *testing.T) {
	first, again, less := aHeap(359, 144, 5, 5), aHeap(359, 144, 5, 5), aHeap(200, 1, 5, 5)
	first.Generations[0].FreeListAfter, again.Generations[0].FreeListBefore = 143e6, 143e6
	again.Generations[0].FreeListAfter, again.Generations[0].hasBefore = 143e6, true
	emptied := aHeap(6, 0, 5, 5)
	for _, test := range []struct {
		known int // generations: those of .NET 5 have pinned objects
		heaps []Heap
		want  []uint64
	}{
		{4, []Heap{first, again, again, less}, []uint64{359, 0, 0, 199}}, // the last has shrunk indeed, from 1 MB of objects
		{5, []Heap{emptied, emptied, emptied}, []uint64{6, 6, 6}},
	} {
		a := allocated{}
		a.begun()
		var got []uint64
		for i, h := range test.heaps {
			h.Known = test.known
			at := int64(10 * i)
			bytes, _ := a.since(&collection{began: true, ended: true, begin: at, end: at + 5, kind: Background, heaps: []Heap{h}})
			got = append(got, bytes[0]/1e6)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("of %d generations %v MB, want %v", test.known, got, test.want)
		}
	}
}

// Ticks before .NET 5 count more than there is: of the time before the first collection, what
// that found is the most; of the time after the last one, they are told apart if they matter.
func TestAllocatedByOldTicks(t *testing.T) {
	h := aHeap(80, 1, 0, 0)
	h.Known = 4
	for _, test := range []struct {
		first, after uint64 // ticks, in MB
		want, apart  float64
		by           string
	}{
		{90, 1, 81, 0, "collections and ticks"},
		{70, 1, 71, 0, "collections and ticks"},
		{90, 30, 80, 30, "collections"},
	} {
		c := &collection{ended: true, begin: 1, end: 2, kind: Blocking, heaps: []Heap{h}, statsSeen: true}
		c.ticks[0] = test.first * 1e6
		rt := &view{runtime: &runtime{}}
		rt.State.gcs = []*collection{c}
		rt.State.ticksSince[0], rt.State.ticks[0] = test.after*1e6, 100e6
		g := GC{Generations: make([]GenerationSizes, generations)}
		rt.allocations(&g, c, nil)
		var out Runtime
		out.All.AllocatedMB, out.TickedMB = g.AllocatedMB, 100
		rt.total(&out)
		if out.AllocatedMB.Or(-1) != test.want || out.TickedAfterMB.Or(0) != test.apart || out.AllocatedBy != test.by {
			t.Errorf("%+v: %v MB by %s, %v after", test, out.AllocatedMB, out.AllocatedBy, out.TickedAfterMB)
		}
	}
}

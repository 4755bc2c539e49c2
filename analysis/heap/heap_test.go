package heap

import (
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

func (s *Snapshot) typeNamed(name string) Type {
	for _, t := range s.Types {
		if t.Type == name {
			return t
		}
	}
	return Type{}
}

func TestTraceEventAgrees(t *testing.T) {
	for _, path := range testtrace.All(t) {
		var peer struct {
			Heap struct {
				Objects     int
				ObjectBytes uint64
			}
		}
		if !testtrace.Peer(t, path, &peer) || peer.Heap.Objects == 0 {
			continue
		}
		for _, s := range analyze(t, path).Snapshots {
			if s.Objects != peer.Heap.Objects || s.Bytes != peer.Heap.ObjectBytes {
				t.Errorf("%s: %d objects of %d bytes, TraceEvent says %d of %d", path, s.Objects, s.Bytes, peer.Heap.Objects, peer.Heap.ObjectBytes)
			}
		}
	}
}

// The program knows its objects at both snapshots.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "heap-1.nettrace")
	var truth struct {
		At1   map[string]any `json:"objects_at_snapshot_1"`
		At2   map[string]any `json:"objects_at_snapshot_2"`
		Sizes map[string]uint64
	}
	if !testtrace.Truth(t, strings.Replace(path, "heap-1", "heap", 1), &truth) {
		t.Skip("the program says nothing")
	}
	s1 := analyze(t, path).Snapshots[0]
	s2 := analyze(t, testtrace.Named(t, "heap-2.nettrace")).Snapshots[0]
	for i, at := range []map[string]any{truth.At1, truth.At2} {
		s := []*Snapshot{s1, s2}[i]
		if !s.Complete {
			t.Errorf("snapshot %d is not complete: %+v", i+1, s)
		}
		for name, want := range at {
			n, ok := want.(float64)
			if !ok || strings.Contains(name, " of ") || name == "Bakery.Customer" && s.typeNamed(name).Count > 0 {
				continue
			}
			got := s.typeNamed(name)
			if got.Count != int(n) || truth.Sizes[name] != 0 && got.Bytes != truth.Sizes[name]*uint64(n) {
				t.Errorf("snapshot %d: %+v, want %v %s of %d bytes", i+1, got, n, name, truth.Sizes[name])
			}
		}
	}
	// A static keeps the recipe, and that all of its steps.
	recipe, step := s1.typeNamed("Bakery.Recipe"), s1.typeNamed("Bakery.Step")
	if recipe.RetainedBytes < recipe.Bytes+step.Bytes || step.RetainedBytes < step.Bytes {
		t.Errorf("%+v, %+v", recipe, step)
	}
	for i := range s1.Objects {
		if o := s1.Object(i); o.Type == "Bakery.Recipe" {
			path := s1.Path(i)
			if len(path) < 2 || path[0] != "static root" || o.RetainedBytes < step.Bytes {
				t.Errorf("%v leads to %+v", path, o)
			}
		}
	}
	found := false
	for _, c := range Diff(s1, s2) {
		if c.Type == "Bakery.Step" {
			found = c.Count == 1500 && c.Bytes == 60000
		}
	}
	if !found {
		t.Errorf("%+v", Diff(s1, s2)[:5])
	}
	if d := Diff(s1, s1); len(d) != 0 {
		t.Errorf("a snapshot differs from itself: %+v", d)
	}
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		for _, s := range res.Snapshots {
			checkSums(t, s)
		}
	}
}

func checkSums(tb testing.TB, s *Snapshot) {
	tb.Helper()
	count, bytes := 0, uint64(0)
	for _, typ := range s.Types {
		count += typ.Count
		bytes += typ.Bytes
		if typ.RetainedBytes > s.ReachableBytes {
			tb.Errorf("%+v retains more than there is", typ)
		}
	}
	if count != s.Objects || bytes != s.Bytes || s.tree.retained[0] != s.ReachableBytes {
		tb.Errorf("%d objects of %d bytes, by type %d of %d; %d bytes are reachable, the roots retain %d", s.Objects, s.Bytes, count, bytes, s.ReachableBytes, s.tree.retained[0])
	}
	for i := range s.Objects {
		if o := s.Object(i); s.tree.node[i] != none && o.RetainedBytes < o.Bytes {
			tb.Fatalf("%+v", o)
		}
	}
}

// A made-up heap: 8 → 16 → 24, a table entry 16 → 32, and 40, which only a weak
// handle holds.
func TestWalk(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	send := func(e etw.Event, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s.Event(time.Millisecond, 1, e)
	}
	types, err := clr.MakeBulkTypeValues(etw.Ptr64, clr.BulkTypeValue{TypeID: 5, Name: etw.MakeUTF16("T")},
		clr.BulkTypeValue{TypeID: 6, Flags: clr.TypeFlagsArray | 2<<8, TypeParameterCount: 1, TypeParameters: etw.Uint64s([]byte{5, 0, 0, 0, 0, 0, 0, 0})})
	send(&clr.BulkType{Count: 2, Values: types}, err)
	s.Event(0, 1, &clr.GCStartV2{Count: 3})
	nodes := func(index uint32, list ...clr.GCBulkNodeValue) {
		v, err := clr.MakeGCBulkNodeValues(etw.Ptr64, list...)
		send(&clr.GCBulkNode{Index: index, Count: uint32(len(list)), Values: v}, err)
	}
	edges := func(index uint32, list ...clr.GCBulkEdgeValue) {
		v, err := clr.MakeGCBulkEdgeValues(etw.Ptr64, list...)
		send(&clr.GCBulkEdge{Index: index, Count: uint32(len(list)), Values: v}, err)
	}
	nodes(0, clr.GCBulkNodeValue{Address: 8, Size: 10, TypeID: 5, EdgeCount: 2}, clr.GCBulkNodeValue{Address: 16, Size: 20, TypeID: 5, EdgeCount: 1})
	nodes(1, clr.GCBulkNodeValue{Address: 24, Size: 30, TypeID: 6}, clr.GCBulkNodeValue{Address: 32, Size: 40, TypeID: 6}, clr.GCBulkNodeValue{Address: 40, Size: 50, TypeID: 5})
	edges(0, clr.GCBulkEdgeValue{Value: 16}, clr.GCBulkEdgeValue{Value: 999}, clr.GCBulkEdgeValue{Value: 24})
	statics, err := clr.MakeGCBulkRootStaticVarValues(etw.Ptr64, clr.GCBulkRootStaticVarValue{ObjectID: 8, TypeID: 5, FieldName: etw.MakeUTF16("f")},
		clr.GCBulkRootStaticVarValue{ObjectID: 24, TypeID: 5, Flags: clr.GCRootStaticVarFlagsThreadLocal, FieldName: etw.MakeUTF16("g")})
	send(&clr.GCBulkRootStaticVar{Count: 2, Values: statics}, err)
	roots, err := clr.MakeGCBulkRootEdgeValues(etw.Ptr64, clr.GCBulkRootEdgeValue{RootedNodeAddress: 40, GCRootFlag: clr.GCRootFlagsWeakRef},
		clr.GCBulkRootEdgeValue{RootedNodeAddress: 0}, clr.GCBulkRootEdgeValue{RootedNodeAddress: 16, GCRootKind: clr.GCBulkRootKindStack})
	send(&clr.GCBulkRootEdge{Count: 3, Values: roots}, err)
	table, err := clr.MakeGCBulkRootConditionalWeakTableElementEdgeValues(etw.Ptr64, clr.GCBulkRootConditionalWeakTableElementEdgeValue{GCKeyNodeID: 16, GCValueNodeID: 32},
		clr.GCBulkRootConditionalWeakTableElementEdgeValue{GCKeyNodeID: 16, GCValueNodeID: 777})
	send(&clr.GCBulkRootConditionalWeakTableElementEdge{Count: 2, Values: table}, err)
	com, err := clr.MakeGCBulkRootCCWValues(etw.Ptr64, clr.GCBulkRootCCWValue{ObjectID: 888})
	send(&clr.GCBulkRootCCW{Count: 1, Values: com}, err)
	s.Event(0, 1, &clr.GCEndV1{Count: 3})
	snap := a.Result().Snapshots[0]
	checkSums(t, snap)
	if !snap.Complete || snap.Objects != 5 || snap.Dangling != 1 || snap.UnreachableBytes != 50 || snap.Number != 3 {
		t.Errorf("%+v", snap)
	}
	// A stack and a static both lead to 16, so that 8 retains itself alone.
	want := []uint64{10, 60, 30, 40, 0}
	for i := range want {
		if o := snap.Object(i); o.RetainedBytes != want[i] {
			t.Errorf("%+v, want %d", o, want[i])
		}
	}
	if d := []int{snap.Dominator(0), snap.Dominator(3), snap.Dominator(2), snap.Dominator(4)}; !slices.Equal(d, []int{-1, 1, -1, -1}) {
		t.Errorf("dominators %v", d)
	}
	if diff := cmp.Diff([]string{"static f", "T", "T"}, snap.Path(1)); diff != "" && !slices.Equal(snap.Path(1), []string{"stack", "T"}) {
		t.Errorf("path (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"thread static g", "T[,]"}, snap.Path(2)); diff != "" || snap.Path(4) != nil {
		t.Errorf("path (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]RootKind{{"static", 1}, {"thread static", 1}, {"stack", 1}}, snap.Roots); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
}

// After a gap, the rest cannot be assigned.
func TestGap(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	node, _ := clr.MakeGCBulkNodeValues(etw.Ptr64, clr.GCBulkNodeValue{Address: 8, Size: 10, EdgeCount: 2})
	edge, _ := clr.MakeGCBulkEdgeValues(etw.Ptr64, clr.GCBulkEdgeValue{Value: 8})
	s.Event(0, 1, &clr.GCStartV2{Count: 3})
	s.Event(0, 1, &clr.GCStartV1{Count: 3}) // twice
	s.Event(0, 1, &clr.GCBulkNode{Index: 0, Count: 1, Values: node})
	s.Event(0, 1, &clr.GCBulkEdge{Index: 0, Count: 1, Values: edge})
	s.Event(0, 1, &clr.GCBulkEdge{Index: 2, Count: 1, Values: edge})
	s.Event(0, 1, &clr.GCBulkNode{Index: 1, Count: 1, Values: node})
	s.Event(0, 1, &clr.GCStartV2{Count: 4})
	s.Event(0, 1, &clr.GCBulkNode{Index: 7, Count: 1, Values: node})
	s.Event(0, 1, &clr.GCEndV1{Count: 4})
	all := a.Result().Snapshots
	if len(all) != 1 || all[0].Complete || all[0].MissingReferences != 1 || all[0].LostEvents != 2 || all[0].References != 1 {
		t.Errorf("%+v", all)
	}
	for k := range clr.GCBulkRootKind(8) {
		if kindOf(k).String() == "" {
			t.Errorf("root kind %d has no name", k)
		}
	}
}

func TestLongPath(t *testing.T) {
	s := &Snapshot{graph: &graph{}, names: []string{"T"}}
	const n = 3 * maxPath
	for i := range n {
		s.graph.add(uint64(i+1)*8, 1, 0, 1)
		s.graph.refs = append(s.graph.refs, uint64(i+2)*8)
	}
	s.graph.index()
	s.graph.resolve(nil)
	s.roots = []root{{kind: rootHandle}}
	s.tree = s.graph.dominators([]uint32{0})
	if p := s.Path(n - 1); len(p) != maxPath+1 || p[0] != "..." {
		t.Errorf("%d, %v", len(p), p[:2])
	}
	if p := s.Path(0); !slices.Equal(p, []string{"handle", "T"}) {
		t.Errorf("%v", p)
	}
}

// Ten million objects with two references each.
func BenchmarkTenMillion(b *testing.B) {
	const n = 10_000_000
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 2))
		w := &walk{typeOf: map[uint64]uint32{}}
		for i := range uint64(n) {
			w.add((i+1)*24, 24, w.typeIndex(i%100), 2)
			w.refs = append(w.refs, (r.Uint64N(i+1)+1)*24, min(i+2, n)*24)
			w.expected += 2
		}
		w.roots = []rawRoot{{addr: 24}, {addr: 24 * 1000}}
		began := time.Now()
		var mux etw.Mux
		a := New(&mux)
		rt := a.runtimes.At(&etw.Record{}, 0)
		s := a.build(rt, w)
		var mem goruntime.MemStats
		goruntime.ReadMemStats(&mem)
		b.ReportMetric(time.Since(began).Seconds(), "build-s")
		b.ReportMetric(float64(mem.Sys)/1e6, "MB-of-process")
		if s.ReachableObjects != n {
			b.Fatalf("%d objects are reachable", s.ReachableObjects)
		}
	}
}

package heap

import (
	"math"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Objects that together are larger than any memory count up to 2^63 bytes, and the result says
// so: no sum begins at 0 again.
func TestAbsurdSizes(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	var list []clr.GCBulkNodeValue
	for i := range 10 {
		list = append(list, clr.GCBulkNodeValue{Address: etw.Pointer(i+1) * 8, Size: math.MaxInt64, TypeID: uint64(i % 2), EdgeCount: 1})
	}
	list[0].Size = 24
	nodes, err := clr.MakeGCBulkNodeValues(etw.Ptr64, list...)
	if err != nil {
		t.Fatal(err)
	}
	var refs []clr.GCBulkEdgeValue
	for i := range 10 {
		refs = append(refs, clr.GCBulkEdgeValue{Value: etw.Pointer(i+2) * 8})
	}
	edges, err := clr.MakeGCBulkEdgeValues(etw.Ptr64, refs...)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := clr.MakeGCBulkRootEdgeValues(etw.Ptr64, clr.GCBulkRootEdgeValue{RootedNodeAddress: 8})
	if err != nil {
		t.Fatal(err)
	}
	s.Event(0, 1, &clr.GCStartV2{Count: 1})
	s.Event(0, 1, &clr.GCBulkNode{Count: 10, Values: nodes})
	s.Event(0, 1, &clr.GCBulkEdge{Count: 10, Values: edges})
	s.Event(0, 1, &clr.GCBulkRootEdge{Count: 1, Values: roots})
	s.Event(0, 1, &clr.GCEndV1{Count: 1})
	res := a.Result()
	snap := res.Snapshots[0]
	checkSums(t, snap)
	if snap.Bytes != math.MaxInt64 || snap.ReachableBytes != math.MaxInt64 || snap.CutObjects != 9 {
		t.Errorf("%d bytes, %d reachable, %d cut", snap.Bytes, snap.ReachableBytes, snap.CutObjects)
	}
	if w := res.Warnings(); len(w) != 1 || !strings.Contains(w[0], "those of 9 objects are cut") {
		t.Errorf("%q", w)
	}
}

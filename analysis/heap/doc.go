// Package heap shows the objects on the heap of a .NET program, and the references that keep
// them there: objects and bytes by type, the size that each object retains, and the path
// from a root to it. Use it when memory grows: two snapshots and [Diff] tell its growth.
//
//	snapshots := heap.New(&mux)
//	err := mux.Run(ctx, source)
//	for _, s := range snapshots.Result().Snapshots {
//		fmt.Println(s.Objects, s.Bytes, s.Types[0].Type)
//	}
//
// # Events to enable
//
// Microsoft-Windows-DotNETRuntime with the keywords 0x1980001 at level 5: GC, Type,
// GCHeapDump, GCHeapCollect, which makes the collection that a snapshot is of, and
// GCHeapAndTypeNames.
//
// A .gcdump file is a snapshot as well; package trace opens it.
//
// # Memory
//
// A snapshot takes some 70 bytes for an object with two references while it is
// evaluated, and half of that afterwards. There is no limit to their number but
// that of 32 bits.
//
// # Retained sizes
//
// An object retains those that would be garbage without it: itself and all objects to which
// every path from the roots leads through it. They are its subtree in the dominator tree of
// the graph. References from weak handles are no paths. An object that is the key in a
// ConditionalWeakTable keeps its value alive.
package heap

package heap_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The largest types of a snapshot, and why one of its largest objects is there.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/heap-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	snapshots := heap.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	list := snapshots.Result().Snapshots
	last := list[len(list)-1]
	for _, typ := range last.Types[:3] {
		fmt.Println(typ.Count, typ.Type, typ.Bytes, "bytes, retaining", typ.RetainedBytes)
	}
	fmt.Println(strings.Join(last.Largest[0].Path, " > "))
	// Output:
	// 1000 Leaf 24000 bytes, retaining 24000
	// 102 System.Object[] 19408 bytes, retaining 43432
	// 91 System.String 6190 bytes, retaining 5204
	// static chain > System.Object[]
}

// The differences of two snapshots: of one process, or as here of two programs.
func ExampleDiff() {
	small, large := snapshot("heapdump.nettrace"), snapshot("answers/heap-10.nettrace.gz")
	for _, c := range heap.Diff(small, large)[:2] {
		fmt.Printf("%+d %s, %+d bytes\n", c.Count, c.Type, c.Bytes)
	}
	// Output:
	// +1000 Leaf, +24000 bytes
	// +2 System.Int32[], +3084 bytes
}

// snapshot returns the first one of a trace.
func snapshot(name string) *heap.Snapshot {
	t, err := trace.Open("../../tests/recorded/" + name)
	if err != nil {
		panic(err)
	}
	defer t.Close()
	var mux etw.Mux
	snapshots := heap.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		panic(err)
	}
	return snapshots.Result().Snapshots[0]
}

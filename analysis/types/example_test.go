package types_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/types"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Analyses that show types by name share what is known of them.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/heap-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	names := types.New(&mux) // before those that ask it
	collections, snapshots := gc.NewWith(&mux, names), heap.NewWith(&mux, names)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	fmt.Println(collections.Result().Runtimes[0].Count, "collection")
	fmt.Println(snapshots.Result().Snapshots[0].Types[0].Type)
	// Output:
	// 1 collection
	// Leaf
}

package handles_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Handles that are still there at the end, by kind.
func ExampleNew() {
	var mux etw.Mux
	made := handles.New(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	for _, rt := range made.Result().Runtimes {
		fmt.Println(rt.Created, "made,", rt.Alive, "left")
		for _, k := range rt.Kinds {
			fmt.Printf("%+v\n", k)
		}
	}
	// Output:
	// 3 made, 2 left
	// {Kind:Pinned Created:2 Destroyed:1 Alive:1}
	// {Kind:Strong Created:1 Destroyed:0 Alive:1}
}

// recorded is a trace of a program: one that was recorded is opened with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	return testtrace.Source(
		testtrace.At{Time: 1 * ms, Event: &clr.SetGCHandle{HandleID: 0x10, Kind: clr.GCHandleKindStrong}},
		testtrace.At{Time: 2 * ms, Event: &clr.SetGCHandle{HandleID: 0x18, Kind: clr.GCHandleKindPinned}},
		testtrace.At{Time: 3 * ms, Event: &clr.SetGCHandle{HandleID: 0x20, Kind: clr.GCHandleKindPinned}},
		testtrace.At{Time: 9 * ms, Event: &clr.DestroyGCHandle{HandleID: 0x18}},
	)
}

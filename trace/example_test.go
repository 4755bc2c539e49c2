package trace_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Any trace is opened in one manner, and typed handlers get its events.
func ExampleOpen() {
	t, err := trace.Open("../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println("collection", e.Count, "of generation", e.Depth, e.Reason)
		return nil
	})
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err) // what could not be read; all else was handled
	}
	// Output:
	// collection 1 of generation 0 Induced
	// collection 2 of generation 1 Induced
	// collection 3 of generation 2 InducedCompacting
	// collection 4 of generation 2 InducedNoForce
	// collection 5 of generation 0 InducedNoForce
}

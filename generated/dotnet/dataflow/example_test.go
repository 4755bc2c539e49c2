package dataflow_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/dataflow"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Blocks as they are made. The output is the settings that a session needs.
func ExampleAnyBlockCreated() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *dataflow.AnyBlockCreated) error {
		fmt.Println(r.Elapsed(), e.BlockID, e.BlockName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Threading.Tasks.Dataflow.DataflowEventSource:0xf00000000000:4
}

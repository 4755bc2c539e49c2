package plinq_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/plinq"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Queries as they begin. The output is the settings that a session needs.
func ExampleAnyParallelQueryBegin() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *plinq.AnyParallelQueryBegin) error {
		fmt.Println(r.Elapsed(), e.QueryID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Linq.Parallel.PlinqEventSource:0xf00000000000:4
}

package parallel_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/parallel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Loops of Parallel.For, and over how many elements they go. The output is the settings that a session
// needs.
func ExampleAnyLoopBegin() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *parallel.AnyLoopBegin) error {
		fmt.Println(r.Elapsed(), e.ForkJoinContextID, e.ExclusiveTo-e.InclusiveFrom)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Threading.Tasks.Parallel.EventSource:0xf00000000000:4
}

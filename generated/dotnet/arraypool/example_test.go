package arraypool_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/arraypool"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Each time that a pool had to make an array, and how large it is. The output is the settings that a session
// needs.
func ExampleAnyBufferAllocated() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *arraypool.AnyBufferAllocated) error {
		fmt.Println(r.Elapsed(), e.PoolID, e.BufferSize, e.Reason)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Buffers.ArrayPoolEventSource:0xf00000000000:4
}

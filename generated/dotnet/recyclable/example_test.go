package recyclable_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/recyclable"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Streams that are given back twice, which is a fault of the program. The output is the settings that a session
// needs.
func ExampleAnyMemoryStreamDoubleDispose() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *recyclable.AnyMemoryStreamDoubleDispose) error {
		fmt.Println(r.Elapsed(), e.GUID, e.Tag)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-IO-RecyclableMemoryStream:0xf00000000000:1
}

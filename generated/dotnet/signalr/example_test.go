package signalr_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/signalr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Connections as they end. The output is the settings that a session needs.
func ExampleAnyConnectionStop() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *signalr.AnyConnectionStop) error {
		fmt.Println(r.Elapsed(), e.ConnectionID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft.AspNetCore.Http.Connections:0xf00000000000:4
}

package grpcclient_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/grpcclient"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Calls that fail, and with which status. The output is the settings that a session needs.
func ExampleAnyCallFailed() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *grpcclient.AnyCallFailed) error {
		fmt.Println(r.Elapsed(), r.ActivityID, e.StatusCode)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Grpc.Net.Client:0xf00000000000:2
}

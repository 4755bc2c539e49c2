package grpcserver_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/grpcserver"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which methods are called. The output is the settings that a session needs.
func ExampleAnyCallStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *grpcserver.AnyCallStart) error {
		fmt.Println(r.Elapsed(), r.ActivityID, e.Method)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Grpc.AspNetCore.Server:0xf00000000000:5
}

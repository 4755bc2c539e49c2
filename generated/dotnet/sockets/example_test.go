package sockets_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/sockets"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Connections that could not be made, and why. The output is the settings that a session needs.
func ExampleAnyConnectFailed() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *sockets.AnyConnectFailed) error {
		fmt.Println(r.Elapsed(), e.Error, e.ExceptionMessage)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Net.Sockets:0xf00000000000:2
}

package tls_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/tls"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Handshakes that fail, and why. The output is the settings that a session needs.
func ExampleAnyHandshakeFailed() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *tls.AnyHandshakeFailed) error {
		fmt.Println(r.Elapsed(), e.ElapsedMilliseconds, e.ExceptionMessage)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Net.Security:0xf00000000000:2
}

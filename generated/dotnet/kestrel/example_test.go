package kestrel_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/kestrel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Connections that were rejected since there are too many. The output is the settings that a session
// needs.
func ExampleAnyConnectionRejected() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *kestrel.AnyConnectionRejected) error {
		fmt.Println(r.Elapsed(), e.ConnectionID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-AspNetCore-Server-Kestrel:0xf00000000000:4
}

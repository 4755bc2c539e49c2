package hosting_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/hosting"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which requests a server gets, whatever serves them. The output is the settings that a session
// needs.
func ExampleAnyRequestStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *hosting.AnyRequestStart) error {
		fmt.Println(r.Elapsed(), r.ActivityID, e.Method, e.Path)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft.AspNetCore.Hosting:0xf00000000000:4
}

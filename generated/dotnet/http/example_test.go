package http_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/http"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Requests of HttpClient. The output is the settings that a session needs.
func ExampleAnyRequestStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *http.AnyRequestStart) error {
		fmt.Println(r.Elapsed(), r.ActivityID, e.Scheme, e.Host, e.PathAndQuery)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Net.Http:0xf00000000000:4
}

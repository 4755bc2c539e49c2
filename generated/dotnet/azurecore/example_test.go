package azurecore_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/azurecore"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Requests that services of Azure refused, and how long they took for it. The output is the settings that
// a session needs.
func ExampleAnyErrorResponse() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *azurecore.AnyErrorResponse) error {
		fmt.Println(r.Elapsed(), e.Status, e.ReasonPhrase, e.Seconds)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Azure-Core:0xf00000000000:3
}

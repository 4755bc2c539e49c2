package diagnosticsource_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/diagnosticsource"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Activities that end, with the fields that the session asked for. The output is the settings that a
// session needs.
func ExampleAnyActivityStop() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *diagnosticsource.AnyActivityStop) error {
		fmt.Println(r.Elapsed(), e.SourceName, e.ActivityName, e.ArgumentsCount)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-Diagnostics-DiagnosticSource:0x2:4
}

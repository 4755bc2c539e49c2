package metrics_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/metrics"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Values of gauges, as text in the form of the program's machine. The output is the settings that a session
// needs.
func ExampleAnyGaugeValuePublished() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *metrics.AnyGaugeValuePublished) error {
		fmt.Println(r.Elapsed(), e.MeterName, e.InstrumentName, e.Tags, e.LastValue)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Diagnostics.Metrics:0x2:4
}

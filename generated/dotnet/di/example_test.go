package di_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/di"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Services that could not be made, and why. The output is the settings that a session needs.
func ExampleAnyServiceRealizationFailed() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *di.AnyServiceRealizationFailed) error {
		fmt.Println(r.Elapsed(), e.ExceptionMessage)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-Extensions-DependencyInjection:0xf00000000000:2
}

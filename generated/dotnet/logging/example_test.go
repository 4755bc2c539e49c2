package logging_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/logging"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Logs of a program, as text. The output is the settings that a session needs.
func ExampleAnyFormattedMessage() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *logging.AnyFormattedMessage) error {
		fmt.Println(r.Elapsed(), e.Level, e.LoggerName, e.FormattedMessage)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-Extensions-Logging:0x4:0
}

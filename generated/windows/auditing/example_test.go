package auditing_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/auditing"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyProcessCreated() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *auditing.AnyProcessCreated) error {
		fmt.Println(r.Elapsed(), e.NewProcessName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Security-Auditing:0x0:4
}

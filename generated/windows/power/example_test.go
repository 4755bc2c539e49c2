package power_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyTransitionStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *power.AnyTransitionStart) error {
		fmt.Println(r.Elapsed(), e.Reason)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-Power:0x9:1
}

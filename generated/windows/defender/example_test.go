package defender_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/defender"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyThreatDetected() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *defender.AnyThreatDetected) error {
		fmt.Println(r.Elapsed(), e.ThreatName, e.Path)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Windows Defender:0x0:3
}

package httpsys_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/httpsys"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyDeliver() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *httpsys.AnyDeliver) error {
		fmt.Println(r.Elapsed(), e.URL)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-HttpService:0x102:4
}

package wininet_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/wininet"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyResponseStop() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *wininet.AnyResponseStop) error {
		fmt.Println(r.Elapsed(), e.ResponseCode)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-WinINet:0x2:4
}

package tcpip_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/tcpip"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyTCPConnectTcbFailure() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *tcpip.AnyTCPConnectTcbFailure) error {
		fmt.Println(r.Elapsed(), e.Status, e.ProcessID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-TCPIP:0x400000484:4
}

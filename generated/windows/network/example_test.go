package network_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Data sent over TCP. The output is the settings that a session needs.
func ExampleAnyTCPSend() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *network.AnyTCPSend) error {
		fmt.Println(r.Elapsed(), e.Size)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-Network:0x10:4
}

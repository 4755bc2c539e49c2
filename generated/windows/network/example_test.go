package network_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/runtime/etw"
)

// What is sent over TCP. The output is what a session must enable.
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

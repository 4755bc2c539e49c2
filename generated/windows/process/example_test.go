package process_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which processes begin. The output is the settings that a session needs.
func ExampleAnyStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *process.AnyStart) error {
		fmt.Println(r.Elapsed(), e.ImageName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-Process:0x10:4
}

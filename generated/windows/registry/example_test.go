package registry_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/registry"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnySetValueKey() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *registry.AnySetValueKey) error {
		fmt.Println(r.Elapsed(), e.KeyName, e.ValueName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-Registry:0x100:4
}

package universal_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which files are in the memory of the processes of a Linux machine.
func ExampleAnyProcessMapping() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessMapping) error {
		fmt.Println(r.ProcessID, e.FileName, e.StartAddress)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e.Provider.Name)
	}
	// Output: Universal.System
}

package events_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Samples of processors, with the addresses of their call stacks.
func ExampleAnyCPU() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *events.AnyCPU) error {
		fmt.Println(r.ProcessID, r.ThreadID, e.Value, r.Stack.Len())
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e.Provider.Name)
	}
	// Output: Universal.Events
}

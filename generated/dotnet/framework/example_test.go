package framework_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/framework"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Work as it is put into the queue of the thread pool. The output is the settings that a session
// needs.
func ExampleAnyThreadPoolEnqueueWork() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *framework.AnyThreadPoolEnqueueWork) error {
		fmt.Println(r.Elapsed(), e.WorkID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Diagnostics.Eventing.FrameworkEventSource:0x12:5
}

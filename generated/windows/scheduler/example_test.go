package scheduler_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/scheduler"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyActionStarted() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *scheduler.AnyActionStarted) error {
		fmt.Println(r.Elapsed(), e.TaskName, e.ActionName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-TaskScheduler:0x0:4
}

package tasks_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/tasks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Tasks, and which task scheduled them. The output is the settings that a session needs.
func ExampleAnyTaskScheduled() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *tasks.AnyTaskScheduled) error {
		fmt.Println(r.Elapsed(), e.TaskID, e.OriginatingTaskID)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Threading.Tasks.TplEventSource:0x3:4
}

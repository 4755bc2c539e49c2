package yarp_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/yarp"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Requests that could not be forwarded, and why. The output is the settings that a session needs.
func ExampleAnyForwarderFailed() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *yarp.AnyForwarderFailed) error {
		fmt.Println(r.Elapsed(), r.ActivityID, e.Error)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Yarp.ReverseProxy:0xf00000000000:4
}

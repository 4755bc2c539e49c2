package msbuild_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/msbuild"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Projects as they are built. The output is the settings that a session needs.
func ExampleAnyBuildProjectStop() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *msbuild.AnyBuildProjectStop) error {
		fmt.Println(r.Elapsed(), e.ProjectPath, e.Targets)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft-Build:0x3:4
}

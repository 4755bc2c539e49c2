package need_test

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/need"
)

// The providers to record for two answers, as dotnet-trace and etw collect take them.
func ExampleProviders() {
	fmt.Println(need.Providers(slices.Concat(gc.Needs, contention.Needs)))
	for _, n := range contention.Needs {
		fmt.Println(n.Lack())
	}
	// Output:
	// Microsoft-Windows-DotNETRuntime:0x4001:4
	// the trace has no events of contention, which are those of Microsoft-Windows-DotNETRuntime with the keyword Contention (0x4000) at level 4 (informational)
}

package loader_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The assemblies that a program loaded.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/loader-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	loads := loader.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range loads.Result().Runtimes {
		fmt.Println(len(rt.Assemblies), "assemblies,", len(rt.Binds), "look-ups,", rt.Failed, "of them failed")
		fmt.Println(len(rt.Modules), "modules,", rt.Types.Count, "loads of types")
	}
	// Output:
	// 2 assemblies, 2 look-ups, 0 of them failed
	// 2 modules, 2434 loads of types
}

package runtimes_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Which versions of .NET are in a trace.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/gc-server-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	found := runtimes.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range found.Result().Runtimes {
		fmt.Println(rt.Sku, rt.Version, "server GC:", rt.ServerGC)
	}
	// Output: CoreClr 10.0.11.0 server GC: true
}

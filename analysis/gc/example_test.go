package gc_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The source is a file here; that of a live process works as well.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	collections := gc.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range collections.Result().Runtimes {
		fmt.Printf("%d collections, %.3f ms of pauses\n", rt.Count, rt.PauseMS)
	}
	// Output: 5 collections, 0.462 ms of pauses
}

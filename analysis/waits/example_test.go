package waits_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The waits of threads, and their times.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/waits-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	waited := waits.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range waited.Result().Runtimes {
		for _, s := range rt.Sources {
			fmt.Printf("%s: %d, %.0f ms\n", s.Source, s.Count, s.TotalMS)
		}
	}
	// Output:
	// MonitorWait: 3, 61 ms
	// Unknown: 3, 56 ms
}

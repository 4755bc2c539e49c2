package timeline_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Pauses and allocations, in four parts of the time.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/gc-background-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	parts := timeline.Parts{Analyses: []any{gc.New(&mux), alloc.New(&mux)}}
	over := timeline.New(parts)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	res := over.Result(timeline.Options{Origin: t.Start().UnixNano(), To: 4 * time.Second, Buckets: 4})
	for _, lane := range res.Lanes {
		fmt.Println(lane.Kind, lane.Unit, lane.How, lane.Values)
	}
	// Output:
	// gcPause ms sum [0 0 105.1175 199.70299]
	// heap MB highest [- - 38.76828 167.820568]
}

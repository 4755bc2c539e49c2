package threadpool_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// How many workers there were, and whether the pool was starved.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/pool-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	pool := threadpool.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range pool.Result().Runtimes {
		fmt.Println("at most", rt.MaxWorkers, "workers")
		for _, r := range rt.Reasons {
			fmt.Println(r.Reason, r.Count)
		}
		if rt.Starvation != nil {
			fmt.Println("starved:", rt.Starvation.Because)
		}
	}
	// Output:
	// at most 7 workers
	// CooperativeBlocking 6
	// Starvation 3
	// starved: [3 adjustments because of starvation 3 adjustments because of blocked workers]
}

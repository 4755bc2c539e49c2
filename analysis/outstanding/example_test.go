package outstanding_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/outstanding"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Memory of a pool that a driver allocates, and does not free.
func Example() {
	var mux etw.Mux
	pool := outstanding.Pool.New(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(pool.Result().Freed.Bytes, "bytes were freed")
	for s := range pool.Samples()[0].All() {
		fmt.Println(s.Labels, s.Values[1], "bytes were not")
	}
	// Output:
	// 64 bytes were freed
	// [{tag Oven} {pool nonpaged}] 4096 bytes were not
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	oven := uint32('O' | 'v'<<8 | 'e'<<16 | 'n'<<24)
	return testtrace.Source(
		testtrace.At{Time: 1 * ms, Process: 4, Thread: 7, Event: &kernel.PoolAllocationV2{Tag: oven, NumberOfBytes: 64, Entry: 0x1000}},
		testtrace.At{Time: 2 * ms, Process: 4, Thread: 7, Event: &kernel.PoolAllocationV2{Tag: oven, NumberOfBytes: 4096, Entry: 0x2000}},
		testtrace.At{Time: 3 * ms, Process: 4, Thread: 7, Event: &kernel.PoolFreeV2{Tag: oven, NumberOfBytes: 64, Entry: 0x1000}},
	)
}

package files_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Requests to the file system, and how long it took.
func ExampleNew() {
	var mux etw.Mux
	operations := files.New(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	samples, res := operations.Samples()[0], operations.Result()
	fmt.Println(res.Read, "bytes read in", time.Duration(res.Time))
	for s := range samples.All() {
		fmt.Println("thread", s.Thread, s.Labels, time.Duration(s.Values[1]))
	}
	// Output:
	// 4096 bytes read in 5ms
	// thread 7 [{op open} {file \shop\orders.db}] 1ms
	// thread 7 [{op read} {file \shop\orders.db}] 4ms
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	return testtrace.Source(
		testtrace.At{Time: 1 * ms, Process: 1, Thread: 7, Event: &kernel.FileIoCreateV3{IrpPtr: 1, FileObject: 0xe, TTID: 7, OpenPath: etw.MakeUTF16(`\shop\orders.db`)}},
		testtrace.At{Time: 2 * ms, Thread: -1, Event: &kernel.FileIoOperationEndV3{IrpPtr: 1}},
		testtrace.At{Time: 3 * ms, Process: 1, Thread: 7, Event: &kernel.FileIoReadV3{IrpPtr: 2, FileObject: 0xe, FileKey: 0xa, TTID: 7, IoSize: 4096}},
		testtrace.At{Time: 7 * ms, Thread: -1, Event: &kernel.FileIoOperationEndV3{IrpPtr: 2}},
	)
}

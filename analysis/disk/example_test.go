package disk_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Reads and writes of disks, file by file.
func ExampleNew() {
	var mux etw.Mux
	disks := disk.New(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	samples, res := disks.Samples()[0], disks.Result()
	fmt.Println(res.Operations, "operation,", res.Bytes, "bytes,", time.Duration(res.Time))
	for s := range samples.All() {
		fmt.Println("thread", s.Thread, s.Labels)
	}
	// Output:
	// 1 operation, 4096 bytes, 5ms
	// thread 7 [{op read} {disk disk 0} {file \shop\orders.db}]
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	return testtrace.Source(
		testtrace.At{Time: 1 * ms, Process: 1, Thread: 7, Event: &kernel.DiskIoReadInitV3{Irp: 9, IssuingThreadID: 7}},
		testtrace.At{Time: 6 * ms, Thread: -1, Event: &kernel.DiskIoReadV3{TransferSize: 4096, FileObject: 0xa, Irp: 9, HighResResponseTime: 5e6, IssuingThreadID: 7}},
		testtrace.At{Time: 9 * ms, Event: &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\shop\orders.db`)}},
	)
}

package system_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which processes there were, and their ends.
func ExampleOf() {
	var mux etw.Mux
	machine := system.Of(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	for _, p := range machine.Processes() {
		start, end := machine.Span(&p.Lifetime)
		fmt.Printf("%d %s, from %v to %v ms, ended with %d\n", p.PID, p.Name, start, end, p.ExitCode)
	}
	// Output: 8 shop.exe, from 1 to 7 ms, ended with 3
}

// The processor time of threads.
func ExampleNewUsage() {
	var mux etw.Mux
	machine := system.Of(&mux)
	usage := system.NewUsage(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	usage.Settle()
	for _, p := range machine.Processes() {
		fmt.Println(p.Name, usage.OfProcess(p).SampledMS(), "ms")
	}
	// Output: shop.exe 1 ms
}

// Who read and wrote which files.
func ExampleFilesOf() {
	var mux etw.Mux
	files := system.FilesOf(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	for _, use := range files.All() {
		fmt.Println(use.Thread.Process.Name, use.File.Path, use.BytesRead, "bytes read in", files.MS(use), "ms")
	}
	// Output: shop.exe \shop\orders.db 4096 bytes read in 1 ms
}

// The traffic of connections.
func ExampleNewNetwork() {
	var mux etw.Mux
	network := system.NewNetwork(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	for _, c := range network.Result().Connections {
		fmt.Println(c.Process, c.Protocol, c.BytesSent, "bytes sent")
	}
	// Output: shop.exe tcp 700 bytes sent
}

// Which code reads files: each event comes together with its call stack, which Windows logs
// behind it.
func ExampleBindStacks() {
	var mux etw.Mux
	machine := system.Of(&mux)
	type read struct {
		bytes uint32
		stack system.CallStack
	}
	var reads []read
	stacks := system.BindStacks(&mux, func(bytes uint32, s system.CallStack) { reads = append(reads, read{bytes, s}) })
	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyFileIoRead) error {
		stacks.Await(r, int64(e.TTID), e.IoSize)
		return nil
	})
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	stacks.Flush()            // those that are still waiting have none
	for _, r := range reads { // not before: many frames come at the end of a trace
		fmt.Printf("%d bytes, read at %#x\n", r.bytes, stacks.AppendFrames(nil, r.stack))
	}
	fmt.Println(len(machine.Processes()), "process")
	// Output:
	// 4096 bytes, read at [0x1010 0x2010]
	// 1 process
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	stack, err := etw.MakePointers(etw.Ptr64, 0x1010, 0x2010)
	if err != nil {
		panic(err)
	}
	return testtrace.Source(
		testtrace.At{Time: 1 * ms, Event: &kernel.ProcessStartV4{UniqueProcessKey: 0xa, ProcessID: 8, ParentID: 4, ImageFileName: etw.ANSI("shop.exe"), CommandLine: etw.MakeUTF16("shop -x")}},
		testtrace.At{Time: 1 * ms, Event: &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80}},
		testtrace.At{Time: 2 * ms, Event: &kernel.PerfInfoSampleV2{ThreadID: 80, Count: 1}},
		testtrace.At{Time: 3 * ms, Event: &kernel.FileIoReadV3{IrpPtr: 2, FileObject: 0xe, FileKey: 0xa, TTID: 80, IoSize: 4096}},
		testtrace.At{Time: 3 * ms, Event: &kernel.StackWalkStackKeyUserV2{EventTimeStamp: uint64(3 * ms), StackThread: 80, StackKey: 7}},
		testtrace.At{Time: 4 * ms, Event: &kernel.FileIoOperationEndV3{IrpPtr: 2}},
		testtrace.At{Time: 5 * ms, Event: &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\shop\orders.db`)}},
		testtrace.At{Time: 6 * ms, Event: &kernel.TCPIPSendV2{PID: 8, Size: 700, Sport: 80}},
		testtrace.At{Time: 7 * ms, Event: &kernel.ProcessStopV4{UniqueProcessKey: 0xa, ProcessID: 8, ExitStatus: 3, ImageFileName: etw.ANSI("shop.exe")}},
		testtrace.At{Time: 8 * ms, Event: &kernel.StackWalkKeyRundownV2{Key: 7, StackFrame: stack}},
	)
}

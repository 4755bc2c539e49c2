package cpu_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Samples that Windows took of processors, by thread.
func ExampleNewKernel() {
	var mux etw.Mux
	samples := cpu.NewKernel(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	taken, res := samples.Samples()[0], samples.Result()
	fmt.Println(res.Samples, "samples,", time.Duration(res.Weight), "and", res.Idle, "of idle processors")
	for s := range taken.All() {
		fmt.Println(s.Process, s.Thread, time.Duration(s.Values[1]))
	}
	// Output:
	// 2 samples, 2ms and 1 of idle processors
	// 8 80 1ms
	// 8 80 1ms
}

// The work of the threads of a .NET program, as EventPipe samples them.
func ExampleNew() {
	var mux etw.Mux
	sampled := cpu.New(&mux)
	// A recording of dotnet-trace or of etw collect, with the profile cpu.
	t, err := trace.Open("cpu.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, thread := range sampled.Result().Threads {
		fmt.Println(thread.Thread, thread.TimeMS, "ms, of which in managed code", thread.ManagedMS)
	}
}

// Samples that a recorder of Linux took.
func ExampleNewLinux() {
	var mux etw.Mux
	samples := cpu.NewLinux(&mux)
	r := &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: "cpu"}, ProcessID: 8, ThreadID: 80, Payload: []byte{1}}
	if err := mux.Dispatch(r); err != nil { // Run, of a trace
		fmt.Println(err)
	}
	res := samples.Result()
	fmt.Println(res.Samples, "sample,", time.Duration(res.Weight))
	// Output: 1 sample, 1ms
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	return testtrace.Source(
		testtrace.At{Time: 0, Event: &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 80}},
		testtrace.At{Time: 1 * ms, Event: &kernel.PerfInfoSampleV2{ThreadID: 80, Count: 1}},
		testtrace.At{Time: 2 * ms, Event: &kernel.PerfInfoSampleV2{ThreadID: 80, Count: 1}},
		testtrace.At{Time: 3 * ms, Event: &kernel.PerfInfoSampleV2{ThreadID: 0, Count: 1}},
	)
}

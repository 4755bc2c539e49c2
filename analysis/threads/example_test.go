package threads_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The time of threads, and the waits of one.
func ExampleNew() {
	var mux etw.Mux
	scheduled := threads.New(&mux)
	if err := mux.Run(context.Background(), recorded()); err != nil {
		fmt.Println(err)
	}
	for _, t := range scheduled.Result().Threads {
		fmt.Printf("%d ran %v ms, was ready %v ms, waited %v ms\n", t.TID, t.RunningMS, t.ReadyMS, t.WaitingMS)
	}
	for s := range scheduled.Spans() {
		fmt.Println(s.TID, s.State, s.Reason, s.By, time.Duration(s.To-s.From))
	}
	// Output:
	// 10 ran 3 ms, was ready 1 ms, waited 4 ms
	// 10 running   2ms
	// 10 waiting UserRequest thread 20 4ms
	// 10 ready   1ms
	// 10 running   1ms
}

// recorded is a trace of a machine: a program opens one with package trace.
func recorded() etw.Source {
	const ms = time.Millisecond
	return testtrace.Source(
		testtrace.At{Time: 0, Event: &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 10}},
		testtrace.At{Time: 1 * ms, Event: &kernel.ThreadCSwitchV4{NewThreadID: 10, OldThreadState: kernel.ThreadStateWaiting}},
		testtrace.At{Time: 3 * ms, Event: &kernel.ThreadCSwitchV4{OldThreadID: 10, NewThreadID: 0, OldThreadState: kernel.ThreadStateWaiting, OldThreadWaitReason: kernel.WaitReasonUserRequest}},
		testtrace.At{Time: 7 * ms, Thread: 20, Event: &kernel.ThreadReadyThreadV2{TThreadID: 10}},
		testtrace.At{Time: 8 * ms, Event: &kernel.ThreadCSwitchV4{NewThreadID: 10, OldThreadState: kernel.ThreadStateReady}},
		testtrace.At{Time: 9 * ms, Event: &kernel.ThreadCSwitchV4{OldThreadID: 10, OldThreadState: kernel.ThreadStateTerminated}},
	)
}

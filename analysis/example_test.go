package analysis_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// All answers in one pass. Each of them can be had alone, too: see the packages below.
func ExampleRun() {
	t, err := trace.Open("../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	res, err := analysis.Run(context.Background(), t)
	if err != nil {
		fmt.Println(err) // the result has what could be read
	}
	for _, thrown := range res.Exceptions.Types {
		fmt.Println(thrown.Count, thrown.Type)
	}
	// Output:
	// 4 System.InvalidOperationException
	// 1 System.ArgumentException
	// 1 System.NullReferenceException
}

// All analyses together, of a source that goes on: a result can be had at any time.
func ExampleNew() {
	t, err := trace.Open("../tests/recorded/gc.nettrace") // or a session of a live process
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	all := analysis.New(&mux)
	half := 0
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCEnd) error {
		if e.Count == 3 {
			half = all.Result().GC.Runtimes[0].Count
		}
		return nil
	})
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	fmt.Println(half, "collections, then", all.Result().GC.Runtimes[0].Count)
	// Output: 3 collections, then 5
}

// The course of events, in two buckets of equal length.
func ExampleTimeline() {
	t, err := trace.Open("../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	res, err := analysis.Run(context.Background(), t, analysis.Timeline(2, nil))
	if err != nil {
		fmt.Println(err)
	}
	for _, lane := range res.Timeline.Lanes {
		fmt.Println(lane.Kind, lane.Values)
	}
	// Output: exceptions [5 1]
}

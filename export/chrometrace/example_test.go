package chrometrace_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/export/chrometrace"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Collections and compilations on the tracks of threads, for https://ui.perfetto.dev.
func ExampleTrace() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	collections, compiled := gc.New(&mux), jit.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	var shown chrometrace.Trace
	shown.AddGC(collections.Result())
	shown.AddJIT(compiled.Result())
	var file strings.Builder
	if err := shown.Write(&file); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(shown.Spans), "spans,", len(shown.Counters), "values of counters")
	// Output: 10 spans, 5 values of counters
}

package asyncs_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The times in which threads went on with async methods. The trace is of .NET 10, which
// does not tell of these.
func Example() {
	t, err := trace.Open("../../tests/recorded/causes/cause-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	runs := 0
	asyncs.New(&mux).OnRun(func(pid int64, r asyncs.Run) {
		runs++
		fmt.Printf("process %d, thread %d: %v, %d methods\n", pid, r.Thread, r.To-r.From, len(r.Frames))
	})
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	fmt.Println(runs, "runs")
	// Output: 0 runs
}

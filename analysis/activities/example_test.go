package activities_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// On which threads work was done for requests.
func ExampleAnalysis_OnSpan() {
	t, err := trace.Open("../../tests/recorded/causes/cause-light-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	threads := make(map[int64]bool)
	flow := activities.New(&mux)
	flow.OnSpan(func(_ int64, s activities.Span) {
		if s.Of.Within(func(x *activities.Activity) bool { return x.Task == "Request" }) {
			threads[s.Thread] = true
		}
	})
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	flow.Finish()
	fmt.Println("more than one thread:", len(threads) > 1)
	// Output: more than one thread: true
}

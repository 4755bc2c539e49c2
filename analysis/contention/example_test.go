package contention_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Which locks were waited for, and who held them.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/locks-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	locks := contention.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range locks.Result().Runtimes {
		fmt.Printf("%d waits, the longest %.0f ms\n", rt.Count, rt.Longest[0].DurationMS)
		for _, owner := range rt.Owners {
			fmt.Println("held by thread", owner.Thread)
		}
	}
	// Output:
	// 3 waits, the longest 48 ms
	// held by thread 26434
	// held by thread 26433
}

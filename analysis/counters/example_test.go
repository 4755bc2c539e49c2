package counters_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The last value of each counter.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/counters-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	values := counters.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, p := range values.Result().Processes {
		for _, c := range p.Counters {
			fmt.Println(c.Provider, c.Name, c.Points[len(c.Points)-1].Mean, c.Unit)
		}
	}
	// Output: Etwgen-Shop stock 102 pieces
}

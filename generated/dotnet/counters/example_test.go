package counters_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/counters"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Events of counters are left over, as their ids are of no provider: Handler takes them.
func ExampleHandler() {
	t, err := trace.Open("../../../tests/recorded/answers/counters-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	last := make(map[string]float64)
	var mux etw.Mux
	mux.HandleRest(counters.Handler(
		func(r *etw.Record, v *counters.Value) error {
			last[v.Name.String()] = v.Mean
			return nil
		},
		func(r *etw.Record, i *counters.Increment) error {
			last[i.Name.String()] = i.Increment
			return nil
		},
	))
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	fmt.Println(last)
	// Output: map[stock:102]
}

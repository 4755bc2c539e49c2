package requests_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// How long requests took, by their server or client.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/requests-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	activities := requests.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, p := range activities.Result().Processes {
		for _, task := range p.Tasks {
			fmt.Printf("%s %s: %d, the slowest %.0f ms\n", task.Provider, task.Task, task.Count, task.DurationMS.Max.Or(0))
		}
	}
	// Output:
	// Etwgen-Shop Request: 12, the slowest 13 ms
	// Etwgen-Shop Lookup: 12, the slowest 12 ms
}

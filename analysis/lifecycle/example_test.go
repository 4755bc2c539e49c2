package lifecycle_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/lifecycle"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// When a program reached its own code.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/jit-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	life := lifecycle.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, p := range life.Result().Processes {
		for _, phase := range p.Phases {
			fmt.Println(phase.Phase, phase.From)
		}
	}
	// Output:
	// runtime the runtime
	// managed code the first method that is compiled
	// main its compilation
}

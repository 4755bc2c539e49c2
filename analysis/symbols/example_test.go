package symbols_test

import (
	"context"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Which methods have methods compiled that they call: those at the innermost frames.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/jit-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	code, compiled := symbols.New(&mux), jit.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	table := code.Table() // now, when all is known
	count := make(map[string]int)
	for _, samples := range compiled.Samples() {
		for s := range samples.All() {
			if frames := samples.Stack(s.Stack); len(frames) > 0 {
				loc := table.Lookup(s.Process, frames[0], time.Unix(0, s.Time))
				method := loc.Method()
				count[method.Qualified()]++
			}
		}
	}
	fmt.Println("Program.Compile:", count["Program.Compile"], "methods")
	// Output: Program.Compile: 4 methods
}

package figures_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/figures"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Two recordings of a program: the figures that got worse.
func ExampleOf() {
	recording := func(thrown int) []compare.Figure {
		var mux etw.Mux
		res := analysis.New(&mux).Result() // a program has the result of analysis.Run
		res.Exceptions = &exceptions.Result{Runtimes: []*exceptions.Runtime{{}}, Tally: exceptions.Tally{New: thrown}}
		return figures.Of(res)
	}
	for _, c := range compare.Sides([][]compare.Figure{recording(100)}, [][]compare.Figure{recording(250)}, compare.DefaultThreshold) {
		if c.IsWorse() {
			fmt.Printf("%s: %v, then %v\n", c.Figure.Metric, c.A.Median, c.B.Median)
		}
	}
	// Output:
	// exceptions.count: 100, then 250
}

package measure_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/measure"
)

// How long something took: a summary leaves out unknown values.
func ExampleSummarize() {
	s := measure.Summarize([]float64{4, 1, 3, 2})
	fmt.Println(s.Count, s.Mean, s.P50, s.Max)
	fmt.Println(measure.Summarize(nil).Max)
	// Output:
	// 4 2.5 2.5 4
	// -
}

// A number that may be unknown is not 0.
func ExampleFloat() {
	share := measure.Ratio(measure.Known(30), measure.Float{})
	if _, ok := share.Get(); !ok {
		fmt.Println("unknown:", share)
	}
	fmt.Println(measure.Ratio(measure.Known(30), measure.Known(60)))
	// Output:
	// unknown: -
	// 0.5
}

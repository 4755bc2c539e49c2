package compare_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/compare"
)

// Four recordings of each side: one number is worse by more than noise, the other is not.
func ExampleSides() {
	recording := func(pauses, allocated float64) []compare.Figure {
		return []compare.Figure{
			{Metric: "gc.pauseMs.p99", Area: "gc", Value: pauses},
			{Metric: "alloc.mb", Area: "alloc", Value: allocated, Sum: true},
		}
	}
	before := [][]compare.Figure{recording(10, 500), recording(11, 503), recording(10, 498), recording(12, 501)}
	after := [][]compare.Figure{recording(19, 502), recording(18, 499), recording(21, 500), recording(20, 504)}
	changes := compare.Sides(before, after, compare.DefaultThreshold)
	compare.Sort(changes)
	for _, c := range changes {
		fmt.Printf("%s %s: %v, then %v (p = %.2f)\n", c.Figure.Metric, c.Verdict, c.A.Median, c.B.Median, c.P.Or(1))
	}
	// Output:
	// gc.pauseMs.p99 more: 10.5, then 19.5 (p = 0.03)
	// alloc.mb small: 500.5, then 501 (p = 0.74)
}

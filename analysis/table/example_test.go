package table_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

// The collections of a result, with some of their columns.
func ExampleFind() {
	res := &gc.Result{Runtimes: []*gc.Runtime{{PID: 1, GCs: []*gc.GC{
		{Number: 1, Reason: "AllocSmall", PauseMS: measure.Known(0.25)},
		{Number: 2, Reason: "Induced", PauseMS: measure.Known(1.5)},
	}}}}
	v, _ := table.Find(res.Tables(), "collection")
	for row := range v.Rows {
		fmt.Println(v.At(row, v.Column("number")).Text(), v.At(row, v.Column("reason")).Text(), v.At(row, v.Column("pauseMs")).Text(), "ms")
	}
	// Output:
	// 2 Induced 1.5 ms
	// 1 AllocSmall 0.25 ms
}

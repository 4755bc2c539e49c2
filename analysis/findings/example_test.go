package findings_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The findings in a trace, with the numbers behind it.
func ExampleOf() {
	var mux etw.Mux
	res := analysis.New(&mux).Result() // a program has the result of analysis.Run
	res.Contention.Runtimes = []*contention.Runtime{{PID: 4711, Count: 3, TotalMS: 412, DurationMS: measure.Summary{Max: measure.Known(300)}}}
	for _, f := range findings.Of(res) {
		fmt.Printf("%s, %s of process %d: %s\n", f.Severity, f.ID, f.PID, f.Text)
		for _, x := range f.Figures {
			fmt.Println(" ", x.Name, x.Value, x.Unit)
		}
	}
	// Output:
	// note, contention.waited of process 4711: Threads waited 3 times for locks, 412 ms in all; the longest wait was 300 ms.
	//   count 3 count
	//   totalMs 412 ms
	//   maxMs 300 ms
}

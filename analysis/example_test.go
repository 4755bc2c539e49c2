package analysis_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/trace"
)

// All answers in one pass. Each of them can be had alone, too: see the packages below.
func ExampleRun() {
	t, err := trace.Open("../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	res, err := analysis.Run(context.Background(), t)
	if err != nil {
		fmt.Println(err) // the result has what could be read
	}
	for _, thrown := range res.Exceptions.Types {
		fmt.Println(thrown.Count, thrown.Type)
	}
	// Output:
	// 4 System.InvalidOperationException
	// 1 System.ArgumentException
	// 1 System.NullReferenceException
}

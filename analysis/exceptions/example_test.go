package exceptions_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The exceptions thrown, and how long handling took.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/exceptions-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	thrown := exceptions.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, rt := range thrown.Result().Runtimes {
		for _, m := range rt.Messages {
			fmt.Println(m.Count, m.Type, m.Message)
		}
		fmt.Println("handled:", rt.HandlingMS.Count)
	}
	// Output:
	// 5 System.InvalidOperationException nothing to do
	// 1 System.DivideByZeroException Attempted to divide by zero.
	// 1 System.FormatException not a number
	// handled: 7
}

package samples_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The samples of a trace of the kind that a user names.
func ExampleFind() {
	t, err := trace.Open("../../tests/recorded/answers/exceptions-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	kind := samples.Find("exceptions")
	fmt.Println("recorded by", need.Providers(kind.Needs))
	var mux etw.Mux
	source := kind.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, s := range source.Samples() {
		fmt.Println(s.Len(), s.Kind)
	}
	// Output:
	// recorded by Microsoft-Windows-DotNETRuntime:0x8000:2
	// 7 exceptions
}

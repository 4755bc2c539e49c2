package speedscope_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/speedscope"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A profile for https://www.speedscope.app.
func ExampleWrite() {
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
	profile := stacks.NewProfile(code.Table(), stacks.Options{}, compiled.Samples()...)
	var file strings.Builder
	if err := speedscope.Write(&file, profile, speedscope.Options{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(file.String(), speedscope.Schema))
	// Output: true
}

package pprof_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A profile for go tool pprof.
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
	if err := pprof.Write(&file, profile, pprof.Options{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println("packed by gzip:", strings.HasPrefix(file.String(), "\x1f\x8b"))
	// Output: packed by gzip: true
}

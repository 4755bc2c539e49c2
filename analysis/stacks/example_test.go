package stacks_test

import (
	"context"
	"fmt"
	"os"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Who throws exceptions, as a file for go tool pprof: while the trace is read, one analysis
// collects stacks and another one what code there is; then the frames get their names.
func ExampleNewProfile() {
	t, err := trace.Open("../../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	code, thrown := symbols.New(&mux), exceptions.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	profile := stacks.NewProfile(code.Table(), stacks.Options{}, thrown.Samples()...)
	f, err := os.CreateTemp("", "exceptions-*.pb.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := pprof.Write(f, profile, pprof.Options{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(profile.Len(), "stacks")
	// Output: 6 stacks
}

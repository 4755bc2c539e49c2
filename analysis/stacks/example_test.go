package stacks_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Who throws exceptions, as a file for go tool pprof: while the trace is read, one analysis
// collects stacks and another one the code; then the frames get their names.
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

// The code that has methods compiled: the methods below which most time goes, and who calls one.
func ExampleProfile_View() {
	profile := compiled("../../tests/recorded/answers/jit-10.nettrace.gz")
	match, err := stacks.Match("Program.Main*")
	if err != nil {
		fmt.Println(err)
		return
	}
	view := profile.View()
	for _, top := range view.Top() {
		if frame := &profile.Frames[top.Frame]; match(frame) {
			fmt.Println(frame.Name, top.Total[0], "methods, of all", profile.Totals()[0])
		}
	}
	// Output: Program.Main(class System.String[]) 17 methods, of all 1462
}

// The work of a server: of the first half of the time, with a group, the heaviest callers, and
// when they ran.
func ExampleProfile_Query() {
	profile := compiled("../../tests/recorded/answers/jit-10.nettrace.gz")
	first, last := profile.Times()
	begin, middle := time.Unix(0, first), time.Unix(0, (first+last)/2)
	ctx := context.Background() // that of the request
	view, err := profile.Query(ctx, stacks.Query{To: middle, Filter: stacks.Filter{Group: "System.Diagnostics.%->diagnostics"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	heaviest := view.Called(0)[:1]
	when, err := view.StacksWhen(ctx, stacks.Buckets{From: begin, To: middle.Add(time.Microsecond), N: 32}, heaviest...)
	if err != nil {
		fmt.Println(err)
		return
	}
	shaped := view.Profile()
	sum := int64(0)
	for _, weight := range when[0] {
		sum += weight
	}
	_, frame := shaped.Split(heaviest[0])
	fmt.Println(shaped.Frames[frame].Full, view.Total(heaviest[0])[0], "methods; all are in a bucket:", sum == view.Total(heaviest[0])[1])
	// Output: diagnostics 1301 methods; all are in a bucket: true
}

// The weights that one program has above another.
func ExampleDiff() {
	before := compiled("../../tests/recorded/jit.nettrace")
	after := compiled("../../tests/recorded/answers/jit-10.nettrace.gz")
	change := stacks.Diff(before, after)
	fmt.Println(before.Totals()[0], "methods, then", after.Totals()[0], "which makes", len(change.Totals()), "values of a sample")
	// Output: 23 methods, then 1462 which makes 2 values of a sample
}

// compiled returns the profile of the methods that a program compiled.
func compiled(path string) *stacks.Profile {
	t, err := trace.Open(path)
	if err != nil {
		panic(err)
	}
	defer t.Close()
	var mux etw.Mux
	code, methods := symbols.New(&mux), jit.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		panic(err)
	}
	return stacks.NewProfile(code.Table(), stacks.Options{}, methods.Samples()...)
}

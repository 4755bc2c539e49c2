package kinds_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The kinds of work in a profile, by rules that know this program, too.
func ExampleDefault() {
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
	rules, err := kinds.Default().Add(strings.NewReader("[shop] selling things\n*!Program.*\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	kindOf := rules.Classify(profile)
	sums := make(map[string]int64)
	for s := range profile.Samples() {
		sums[kindOf.Of(s).Name] += s.Values[0]
	}
	fmt.Println(sums)
	// Output: map[allocation:2 framework:1028 interop:2 loading:131 memory:9 shop:9 tracing:268 unknown:10 user:2 waiting:1]
}

package jit_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The methods compiled, by tier, and which method took longest.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/jit-10.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	compiled := jit.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	res := compiled.Result()
	for _, tier := range res.Runtimes[0].Tiers {
		fmt.Println(tier.Name, tier.Count)
	}
	fmt.Println(res.Methods[0].Method)
	// Output:
	// QuickJitted 1433
	// Optimized 24
	// OptimizedTier1 2
	// InstrumentedTier 2
	// OptimizedTier1OSR 1
	// System.Diagnostics.Tracing.ManifestBuilder.CreateManifestString()
}

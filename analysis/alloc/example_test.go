package alloc_test

import (
	"context"
	"fmt"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Which types a program allocated, and how sure that is.
func ExampleNew() {
	t, err := trace.Open("../../tests/recorded/answers/alloc-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	allocations := alloc.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	for _, typ := range allocations.Result().Types[:3] {
		fmt.Printf("%s: %.0f bytes in %d ticks, ± %.0f %%\n", typ.Type, typ.Bytes, typ.Ticks, typ.ErrorPercent.Or(0))
	}
	// Output:
	// System.Int64[]: 2124000 bytes in 20 ticks, ± 22 %
	// System.Int32[]: 1710592 bytes in 11 ticks, ± 30 %
	// Leaf: 1061720 bytes in 10 ticks, ± 32 %
}

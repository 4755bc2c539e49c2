// Allocations prints the allocations of a .NET program, by type, most bytes first:
//
//	go run ./examples/allocations tests/recorded/alloc.nettrace
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

func main() {
	t, err := trace.OpenAll(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	var mux etw.Mux
	bytes := make(map[string]uint64) // by type
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCAllocationTick) error {
		// Old versions have only the amount of 32 bits. String copies the name.
		bytes[e.TypeName.String()] += max(e.AllocationAmount64, uint64(e.AllocationAmount))
		return nil
	})
	err = mux.Run(context.Background(), t)
	byBytes := func(a, b string) int { return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(bytes), byBytes) {
		fmt.Printf("%12d  %s\n", bytes[name], name)
	}
	if err != nil {
		log.Fatal(err) // what could not be read; all else is printed
	}
}

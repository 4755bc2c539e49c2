// Jit prints how long a .NET program compiled its methods, the slowest first:
//
//	go run ./examples/jit tests/recorded/jit.nettrace
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"time"

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
	began := make(map[[2]uint64]time.Duration) // by thread and method
	took := make(map[string]time.Duration)     // by method and tier
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyMethodJittingStarted) error {
		began[[2]uint64{uint64(r.ThreadID), e.MethodID}] = r.Elapsed()
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyMethodLoadVerbose) error {
		if at, ok := began[[2]uint64{uint64(r.ThreadID), e.MethodID}]; ok {
			took[fmt.Sprintf("%v.%v, %v", e.MethodNamespace, e.MethodName, e.MethodFlags.Tier())] += r.Elapsed() - at
		}
		return nil
	})
	err = mux.Run(context.Background(), t)
	for _, name := range slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Or(cmp.Compare(took[b], took[a]), cmp.Compare(a, b)) }) {
		fmt.Printf("%12v  %s\n", took[name], name)
	}
	if err != nil {
		log.Fatal(err) // what could not be read; all else is printed
	}
}

// Allocations prints which types a .NET program allocated, from a .nettrace
// file that was recorded with the keyword GC at level Verbose:
//
//	go run ./examples/allocations tests/recorded/alloc.nettrace
//
// The runtime logs an event about every 100 KB, so the bytes are an estimate.
package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: allocations FILE.nettrace")
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// A total is what was allocated of one type.
type total struct {
	name  string
	ticks int
	bytes uint64
}

func run(w io.Writer, path string) error {
	trace, err := nettrace.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()

	var mux etw.Mux
	totals := make(map[string]*total)
	var name []byte
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCAllocationTick) error {
		// The name is a view of the payload. Looking up string(name) in a map
		// does not allocate, so only the first tick of a type does.
		name = e.TypeName.AppendTo(name[:0])
		t, ok := totals[string(name)]
		if !ok {
			t = &total{name: string(name)}
			totals[t.name] = t
		}
		t.ticks++
		if e.HasAllocationAmount64() {
			t.bytes += e.AllocationAmount64
		} else {
			t.bytes += uint64(e.AllocationAmount)
		}
		return nil
	})
	for rec, err := range trace.Records() {
		if err != nil {
			return err
		}
		if err := mux.Dispatch(rec); err != nil {
			return err
		}
	}

	sorted := slices.SortedFunc(maps.Values(totals), func(a, b *total) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintf(w, "%12s  %8s  %s\n", "BYTES", "TICKS", "TYPE")
	for _, t := range sorted {
		fmt.Fprintf(w, "%12d  %8d  %s\n", t.bytes, t.ticks, t.name)
	}
	if lost := trace.Stats().Lost; lost > 0 {
		fmt.Fprintf(w, "%d events were lost\n", lost)
	}
	return mux.Stats().FirstError // of payloads that did not decode
}

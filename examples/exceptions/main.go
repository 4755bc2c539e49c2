// Exceptions prints the exceptions that a .NET program threw, by type:
//
//	go run ./examples/exceptions tests/recorded/exceptions.nettrace
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
	count := make(map[string]int)
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyExceptionThrown) error {
		count[e.ExceptionType.String()]++ // a copy: the next record overwrites what e holds
		return nil
	})
	err = mux.Run(context.Background(), t)
	byCount := func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(count), byCount) {
		fmt.Printf("%8d  %s\n", count[name], name)
	}
	if err != nil {
		log.Fatal(err) // what could not be read; all else is printed
	}
}

// Merge reads several traces as one, in the order of time, and prints how many
// events of which provider each file adds:
//
//	go run ./examples/merge tests/recorded/gc.nettrace tests/recorded/jit.nettrace
package main

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/etwgen/etwgen/trace"
)

type part struct{ file, provider string }

func main() {
	t, err := trace.OpenAll(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	events := make(map[part]int)
	for r, e := range t.Records() {
		if err = e; err != nil {
			break // the loop ends with what could not be read; all else was counted
		}
		events[part{r.File, cmp.Or(r.ProviderName, r.Provider.String())}]++
	}
	order := func(a, b part) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.provider, b.provider)) }
	for _, p := range slices.SortedFunc(maps.Keys(events), order) {
		fmt.Printf("%8d  %s  %s\n", events[p], p.file, p.provider)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Processes prints how many events and processor samples the processes of an .etl
// file have, the busiest first:
//
//	go run ./examples/processes trace.etl
package main

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

func main() {
	t, err := trace.OpenAll(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	d := etw.NewDecoder(kernel.Provider)
	names, events, samples := map[int64]string{}, map[int64]int{}, map[int64]int{}
	for r, e := range t.Records() {
		if err = e; err != nil {
			break // the loop ends with what could not be read; all else was counted
		}
		events[r.ProcessID]++
		switch d.Event(r).Name {
		case "PerfInfo/Sample":
			samples[r.ProcessID]++
		case "Process/Start", "Process/DCStart":
			e, _ := d.Decode(r)
			name, _ := etw.Field(e, "ImageFileName")
			names[r.ProcessID] = name.Text()
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(events), func(a, b int64) int { return cmp.Or(events[b]-events[a], cmp.Compare(a, b)) }) {
		fmt.Printf("%8d events  %8d samples  %6d %s\n", events[id], samples[id], id, names[id])
	}
	if err != nil {
		log.Fatal(err)
	}
}

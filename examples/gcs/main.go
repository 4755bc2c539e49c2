// Gcs lists the garbage collections of .NET programs, why each was made and the heap that it
// left:
//
//	go run ./examples/gcs tests/recorded/gc.nettrace
package main

import (
	"context"
	"fmt"
	"log"
	"os"
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
	// Of two collections at once, one in the background, the number tells them
	// apart; of several runtimes in a process, the instance.
	type key struct{ process, runtime, number int64 }
	started := make(map[key]time.Duration)
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		started[key{r.ProcessID, int64(e.ClrInstanceID), int64(e.Count)}] = r.Elapsed()
		fmt.Printf("%12v  collection %d of generation %d: %v, %v\n", r.Elapsed(), e.Count, e.Depth, e.Type, e.Reason)
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCEnd) error {
		took := r.Elapsed() - started[key{r.ProcessID, int64(e.ClrInstanceID), int64(e.Count)}]
		fmt.Printf("%12v  collection %d took %v\n", r.Elapsed(), e.Count, took)
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCHeapStats) error {
		fmt.Printf("%12v  heap: %d, %d, %d and %d bytes\n", r.Elapsed(), e.GenerationSize0, e.GenerationSize1, e.GenerationSize2, e.GenerationSize3)
		return nil
	})
	if err := mux.Run(context.Background(), t); err != nil {
		log.Fatal(err) // what could not be read; all else is printed
	}
}

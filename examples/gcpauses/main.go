// Gcpauses prints the pauses that garbage collections caused in .NET programs,
// from a trace that was recorded with the keyword GC:
//
//	go run ./examples/gcpauses tests/recorded/gc.nettrace
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, paths []string) error {
	t, err := trace.OpenAll(paths)
	if err != nil {
		return err
	}
	defer t.Close()

	// A pause runs from the start of a suspension to the end of the restart, both
	// on one thread. Other threads suspend the program too, a profiler's a thousand
	// times a second, so that the reason counts, and the thread.
	var mux etw.Mux
	suspended := make(map[int64]time.Duration) // by thread
	pauses := 0
	reason := ""
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) error {
		switch e.Reason {
		case clr.GCSuspendEEReasonSuspendForGC, clr.GCSuspendEEReasonSuspendForGCPrep:
			suspended[r.ThreadID], reason = r.Elapsed(), e.Reason.String()
		}
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		reason = fmt.Sprintf("collection %d of generation %d, %v", e.Count, e.Depth, e.Reason)
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, _ *clr.AnyGCRestartEEEnd) error {
		if start, ok := suspended[r.ThreadID]; ok {
			delete(suspended, r.ThreadID)
			pauses++
			fmt.Fprintf(w, "%12.3f ms  paused %8.3f ms  %s\n", ms(start), ms(r.Elapsed()-start), reason)
		}
		return nil
	})
	err = mux.Run(context.Background(), t)

	// All that could be read counts, also of a trace that is cut off.
	fmt.Fprintf(w, "%d pauses\n", pauses)
	if lost := t.Stats().Lost; lost > 0 {
		fmt.Fprintf(w, "%d events were lost\n", lost)
	}
	if err == nil {
		err = mux.Stats().FirstError // of payloads that did not decode
	}
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

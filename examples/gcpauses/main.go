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

	// A pause runs from the start of a suspension to the end of the restart, both on one
	// thread of a runtime, of which a process may have several. Other threads suspend the
	// program too, a profiler's a thousand times a second, so that the reason counts, and
	// the thread.
	type runtime struct {
		process int64
		number  uint16
	}
	type pause struct {
		thread int64
		start  time.Duration
		reason string
	}
	var mux etw.Mux
	suspended := make(map[runtime]pause)
	pauses := 0
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) error {
		switch e.Reason {
		case clr.GCSuspendEEReasonSuspendForGC, clr.GCSuspendEEReasonSuspendForGCPrep:
			suspended[runtime{r.ProcessID, e.ClrInstanceID}] = pause{r.ThreadID, r.Elapsed(), e.Reason.String()}
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		of := runtime{r.ProcessID, e.ClrInstanceID}
		if p, ok := suspended[of]; ok {
			p.reason = fmt.Sprintf("collection %d of generation %d, %v", e.Count, e.Depth, e.Reason)
			suspended[of] = p
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCRestartEEEnd) error {
		of := runtime{r.ProcessID, e.ClrInstanceID}
		if p, ok := suspended[of]; ok && p.thread == r.ThreadID {
			delete(suspended, of)
			pauses++
			fmt.Fprintf(w, "%12.3f ms  paused %8.3f ms  %s\n", ms(p.start), ms(r.Elapsed()-p.start), p.reason)
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

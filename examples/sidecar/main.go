// Sidecar watches the garbage collector of a live .NET process, and serves its pauses
// as a histogram for Prometheus:
//
//	go run ./examples/sidecar 1234 localhost:9101
//
// In the place of the number of the process it takes the path of its socket, as a sidecar
// sees that in another container.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sidecar PID|SOCKET ADDRESS")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	h := new(histogram)
	http.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { h.write(w) })
	go func() { log.Fatal(http.ListenAndServe(os.Args[2], nil)) }()
	if err := watch(ctx, os.Args[1], h); err != nil {
		log.Fatal(err)
	}
}

// watch adds the pauses of a process to h until the process ends, or ctx does.
func watch(ctx context.Context, process string, h *histogram) error {
	var mux etw.Mux
	begun := make(map[int64]time.Duration) // by thread
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) error {
		switch e.Reason { // profilers suspend the program, too
		case clr.GCSuspendEEReasonSuspendForGC, clr.GCSuspendEEReasonSuspendForGCPrep:
			begun[r.ThreadID] = r.Elapsed()
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, _ *clr.AnyGCRestartEEEnd) error {
		if at, ok := begun[r.ThreadID]; ok {
			delete(begun, r.ThreadID)
			h.add(r.Elapsed() - at)
		}
		return nil
	})

	c, err := dial(ctx, process)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.Start(ctx, eventpipe.Config{Providers: eventpipe.ForMux(&mux), BufferMB: 10})
	if err != nil {
		return err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Stop(context.Background()) })()
	return mux.Run(context.Background(), s) // to the end that Stop brings about
}

// dial connects to a process, by its number or the path of its socket.
func dial(ctx context.Context, process string) (*eventpipe.Client, error) {
	if pid, err := strconv.Atoi(process); err == nil {
		return eventpipe.DialPID(ctx, pid)
	}
	return eventpipe.DialSocket(ctx, process)
}

// bounds are those of the buckets, in seconds.
var bounds = [...]float64{0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1}

// A histogram counts pauses by their length.
type histogram struct {
	mu      sync.Mutex
	buckets [len(bounds)]int64
	count   int64
	sum     float64
}

func (h *histogram) add(pause time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	h.sum += pause.Seconds()
	for i, b := range bounds {
		if pause.Seconds() <= b {
			h.buckets[i]++
		}
	}
}

func (h *histogram) write(w io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	const name = "dotnet_gc_pause_seconds"
	fmt.Fprintf(w, "# TYPE %s histogram\n", name)
	for i, b := range bounds {
		fmt.Fprintf(w, "%s_bucket{le=\"%g\"} %d\n", name, b, h.buckets[i])
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%[1]s_sum %[3]g\n%[1]s_count %[2]d\n", name, h.count, h.sum)
}

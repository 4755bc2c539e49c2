// Sidecar watches the garbage collector of a live .NET process, and serves its pauses
// as a histogram for Prometheus:
//
//	go run ./examples/sidecar shop localhost:9101
//
// In the place of the number of the process it takes its name, of the program or the service,
// or a pattern of paths of sockets, as a sidecar sees those in another container. It follows
// restarts.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sidecar NAME|PID|SOCKET ADDRESS")
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

// watch adds the pauses of a process to h, and of the one that is started when it has
// ended, until ctx is done.
func watch(ctx context.Context, process string, h *histogram) error {
	s := attach.Supervisor{Targets: []attach.Target{target(process)}, Log: slog.Default()}
	return s.Run(ctx, func(ctx context.Context, p *attach.Process) error {
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
		return p.Run(ctx, &mux)
	})
}

// target says which process is meant: by its number, the path of its socket, or its name.
func target(process string) attach.Target {
	if pid, err := strconv.Atoi(process); err == nil {
		return attach.Target{PID: pid}
	}
	if strings.ContainsRune(process, '/') {
		return attach.Target{Socket: process}
	}
	return attach.Target{Name: process}
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

func (h *histogram) total() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
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

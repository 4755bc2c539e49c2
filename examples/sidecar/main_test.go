package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A buffer is text that several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// watch watches a runtime for tests that plays a recorded trace, until done is.
func watch(t *testing.T, trace string, w *watcher, done func() bool) {
	data, err := os.ReadFile("../../tests/recorded/" + trace)
	if err != nil {
		t.Fatal(err)
	}
	rt := eventpipetest.NewRuntime(9)
	rt.Environ = []string{"OTEL_SERVICE_NAME=shop"}
	rt.Play(data)
	socket, stop, err := rt.Listen(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error)
	go func() { ended <- w.run(ctx, socket) }()
	for !done() && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// TestWatch counts the pauses of a recorded trace.
func TestWatch(t *testing.T) {
	w := &watcher{log: slog.New(slog.DiscardHandler)}
	pauses := func() (n int) {
		var b strings.Builder
		w.metrics.Write(&b)
		_, text, _ := strings.Cut(b.String(), `dotnet_gc_pause_seconds_count{service="shop",program="app"} `)
		fmt.Sscan(text, &n)
		return n
	}
	watch(t, "gc.nettrace", w, func() bool { return pauses() >= 5 })
	if n := pauses(); n < 5 {
		t.Errorf("%d pauses", n)
	}
}

// TestManifest logs the events of a provider with their fields.
func TestManifest(t *testing.T) {
	b := new(buffer)
	w := &watcher{log: slog.New(slog.NewTextHandler(b, nil)), providers: []*etw.Provider{{Desc: &etw.ProviderDesc{Name: "Etwgen-Workload"}}}}
	watch(t, "eventsource.nettrace", w, func() bool { return strings.Contains(b.String(), "msg=Text") })
	if text := b.String(); !strings.Contains(text, "msg=Text") || !strings.Contains(text, "fields.") {
		t.Error(text)
	}
}

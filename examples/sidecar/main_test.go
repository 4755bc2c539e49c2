package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// TestWatch counts the pauses of a recorded trace, which a runtime for tests plays.
func TestWatch(t *testing.T) {
	trace, err := os.ReadFile("../../tests/recorded/gc.nettrace")
	if err != nil {
		t.Fatal(err)
	}
	rt := eventpipetest.NewRuntime(9)
	rt.Play(trace)
	socket, stop, err := rt.Listen(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	h := new(histogram)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error)
	go func() { ended <- watch(ctx, socket, h) }()
	for h.total() < 5 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h.write(&b)
	if h.total() < 5 || !strings.Contains(b.String(), `dotnet_gc_pause_seconds_bucket{le="+Inf"} `) {
		t.Errorf("%d pauses:\n%s", h.total(), b.String())
	}
}

package main

import (
	"os"
	"strings"
	"testing"

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
	if err := watch(t.Context(), socket, h); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h.write(&b)
	if h.count < 5 || !strings.Contains(b.String(), `dotnet_gc_pause_seconds_bucket{le="+Inf"} `) {
		t.Errorf("%d pauses:\n%s", h.count, b.String())
	}
}

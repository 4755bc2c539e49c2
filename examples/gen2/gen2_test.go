package gen2

import (
	"os"
	"testing"

	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A quiet test counts the errors of another one.
type quiet struct {
	testing.TB
	errors int
}

func (q *quiet) Errorf(string, ...any) { q.errors++ }

// TestNone watches a program that collects generation 2, and one that does not.
func TestNone(t *testing.T) {
	for name, want := range map[string]bool{"gc.nettrace": true, "exceptions.nettrace": false} {
		trace, err := os.ReadFile("../../tests/recorded/" + name)
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
		c, err := eventpipe.DialSocket(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		q := &quiet{TB: t}
		done := false
		None(q, c, func() { done = true })
		if !done || q.errors > 0 != want {
			t.Errorf("%s: %d errors, want some: %v", name, q.errors, want)
		}
	}
}

// Package gen2 is a helper for tests of .NET programs: it fails a test if a program
// made a full garbage collection where it should not.
package gen2

import (
	"context"
	"errors"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// None calls do, and fails the test if the process of c made a collection of generation
// 2 meanwhile:
//
//	c, err := eventpipe.DialPID(t.Context(), server.Process.Pid)
//	...
//	gen2.None(t, c, func() { sendRequests(1000) })
func None(t testing.TB, c *eventpipe.Client, do func()) {
	t.Helper()
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		if e.Depth == 2 {
			t.Errorf("%v: collection %d of generation 2, %v", c, e.Count, e.Reason)
		}
		return nil
	})
	s, err := c.Start(t.Context(), eventpipe.Config{Providers: eventpipe.ForMux(&mux), BufferMB: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := make(chan error, 1)
	go func() { read <- mux.Run(context.Background(), s) }()
	do()
	if err := errors.Join(s.Stop(t.Context()), <-read); err != nil {
		t.Errorf("the collections of %v are not all known: %v", c, err)
	}
	if lost := s.Stats().Lost; lost > 0 {
		t.Errorf("%d events of %v were lost", lost, c)
	}
}

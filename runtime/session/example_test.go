package session_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/session"
)

// Typed events of the whole machine, for ten seconds: the session enables the events that
// the mux has handlers for. It takes Windows, and an administrator.
func ExampleStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println(r.ProcessID, "collection", e.Count, "of generation", e.Depth)
		return nil
	})
	ctx := context.Background()
	s, err := session.Start(ctx, session.Config{Providers: session.ForMux(&mux)})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("sessions are there on Windows alone")
		return
	} else if err != nil {
		fmt.Println(err) // with what to do, such as to run it as an administrator
		return
	}
	defer s.Close()
	time.AfterFunc(10*time.Second, func() { s.Stop(ctx) })
	if err := mux.Run(ctx, s); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Stats().Lost, "events were lost")
}

// Sessions that programs of ours left behind when they died.
func ExampleStopOrphans() {
	stopped, err := session.StopOrphans(session.Prefix)
	if err != nil {
		fmt.Println(err)
	}
	for _, s := range stopped {
		fmt.Println("stopped", s.Name)
	}
}

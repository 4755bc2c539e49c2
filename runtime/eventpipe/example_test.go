package eventpipe_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// Typed events of a live process, for ten seconds. The process logs those events that the
// mux has handlers for, and no others.
func ExampleClient_Start() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println(r.Time(), "collection", e.Count, "of generation", e.Depth)
		return nil
	})
	ctx := context.Background()
	c, err := eventpipe.DialPID(ctx, 1234)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s, err := c.Start(ctx, eventpipe.Config{Providers: eventpipe.ForMux(&mux)})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	time.AfterFunc(10*time.Second, func() { s.Stop(ctx) })
	if err := mux.Run(ctx, s); err != nil {
		log.Fatal(err)
	}
}

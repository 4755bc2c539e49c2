// Stacks prints the call stack of each exception, from the innermost method on: of a file,
// .nettrace or .etl, or of a live .NET process for ten seconds:
//
//	go run ./examples/stacks app.nettrace
//	go run ./examples/stacks 1234
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/trace"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: stacks FILE|PID")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, from string) error {
	var mux etw.Mux
	code, machine := symbols.New(&mux), system.Of(&mux) // where methods are, and images
	type exception struct {
		record *etw.Record
		stack  system.CallStack
	}
	var all []exception
	bound := system.BindStacks(&mux, func(r *etw.Record, s system.CallStack) { all = append(all, exception{r, s}) })
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyExceptionThrown) error {
		bound.Await(r, r.ThreadID, r.Clone()) // Windows logs it behind the event, in halves
		return nil
	})
	err := read(ctx, from, &mux)
	bound.Flush() // those that still wait have none
	thrown := stacks.NewSamples("exceptions", stacks.ValueType{Name: "exceptions", Unit: "count"})
	for _, e := range all { // now, since Windows logs many frames when the recording ends
		thrown.AddFrames(e.record, bound.AppendFrames(nil, e.stack), thrown.Label(0, "time", e.record.Time().Format(time.TimeOnly)), 1)
	}
	profile := stacks.NewProfile(code.Table(), stacks.Options{Native: machine.Native}, thrown)
	for s := range profile.Samples() {
		fmt.Println("exception", s.Labels)
		for frame := range profile.Stack(s.Stack) {
			fmt.Println("   ", profile.Frames[frame].Name)
		}
	}
	return err // what could not be read; all else was printed
}

// read has the mux handle the records of a file, or of a live process, whose runtime lists
// its methods when the session ends.
func read(ctx context.Context, from string, mux *etw.Mux) error {
	pid, err := strconv.Atoi(from)
	if err != nil {
		t, err := trace.Open(from)
		if err != nil {
			return err
		}
		defer t.Close()
		return mux.Run(ctx, t)
	}
	c, err := eventpipe.DialPID(ctx, pid)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.Start(ctx, eventpipe.Config{Providers: eventpipe.ForMux(mux), Rundown: eventpipe.DefaultRundown})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	defer context.AfterFunc(ctx, func() { s.Stop(context.Background()) })()
	return mux.Run(context.Background(), s) // to the end that Stop brings about
}

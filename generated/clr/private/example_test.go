package private_test

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Measure how long a runtime took to start.
func ExampleAnyEEStartupStart() {
	var mux etw.Mux
	var start time.Time
	etw.Handle(&mux, func(r *etw.Record, _ *private.AnyEEStartupStart) error {
		start = r.Time()
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, _ *private.AnyEEStartupEnd) error {
		fmt.Println("the runtime started in", r.Time().Sub(start))
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("enable %s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}

	clock := &etw.Clock{Frequency: 1000} // ticks of a millisecond
	for _, logged := range []struct {
		at    int64
		event etw.Event
	}{
		{100, new(private.EEStartupStartV1)},
		{142, new(private.EEStartupEndV1)},
	} {
		payload, err := logged.event.AppendPayload(nil, etw.Ptr64)
		if err != nil {
			fmt.Println(err)
		}
		k := logged.event.EventDesc().Key()
		if err := mux.Dispatch(&etw.Record{
			Provider: k.Provider, ID: k.ID, Version: k.Version,
			Timestamp: logged.at, Clock: clock, PointerSize: etw.Ptr64, Payload: payload,
		}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// enable Microsoft-Windows-DotNETRuntimePrivate:0x80000000:4
	// the runtime started in 42ms
}

package nettracetest_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// A stream with one event, for a test of a reader.
func ExampleNewWriter() {
	event := &clr.GCStartV1{Count: 7, Depth: 2}
	payload, err := event.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := event.EventDesc()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Pointer: etw.Ptr64, ProcessID: 100})
	w.Metadata(nettracetest.Row{ID: 1, Provider: d.Provider.Name, EventID: uint32(d.ID), Version: uint32(d.Version)})
	w.Events(nettracetest.Event{Metadata: 1, Time: 100, Thread: 200, SortPoint: true, Payload: payload})
	w.End()
	r, err := nettrace.NewReader(bytes.NewReader(w.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println("process", r.ProcessID, "collection", e.Count)
		return nil
	})
	if err := mux.Run(context.Background(), r); err != nil {
		fmt.Println(err)
	}
	// Output: process 100 collection 7
}

package etltest_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A file with one event, for a test of a reader.
func ExampleFile() {
	h := etltest.DefaultHeader()
	event := &clr.GCStartV1{Count: 7, Depth: 2}
	payload, err := event.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
		return
	}
	k := event.EventDesc().Key()
	file, err := etltest.File(h, &etw.Record{
		Provider: k.Provider, ID: k.ID, Version: k.Version, PointerSize: etw.Ptr64,
		ProcessID: 100, ThreadID: 200, Timestamp: h.Clock.Origin, Payload: payload,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := etl.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
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

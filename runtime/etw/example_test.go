package etw_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// Print the collections of a program, whatever version its events have.
func ExampleHandle() {
	trace, err := nettrace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()

	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Printf("collection %d of generation %d: %v\n", e.Count, e.Depth, e.Reason)
		return nil
	})
	if err := mux.Run(context.Background(), trace); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mux.Stats())
	// Output:
	// collection 1 of generation 0: Induced
	// collection 2 of generation 1: Induced
	// collection 3 of generation 2: InducedCompacting
	// collection 4 of generation 2: InducedNoForce
	// collection 5 of generation 0: InducedNoForce
	// 203 records, 198 unhandled, 0 undecodable, 0 newer
}

// The program that wrote this trace was killed. Its events are counted, and only then
// reported as incomplete.
func ExampleMux_Run() {
	trace := cutOffTrace() // of two collections

	collections := 0
	var mux etw.Mux
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCStart) error {
		collections++
		return nil
	})
	err := mux.Run(context.Background(), trace)
	if err != nil && !errors.Is(err, etw.ErrIncomplete) {
		log.Fatal(err)
	}
	fmt.Println(collections, "collections")
	if err != nil {
		fmt.Println("incomplete:", err)
	}
	// Output:
	// 2 collections
	// incomplete: nettrace: app.nettrace: offset 2842: event block: unexpected EOF
}

// Without a Mux, a loop takes all that a cut-off trace has, and then the error.
func ExampleRecords() {
	trace := cutOffTrace() // of two collections

	var incomplete error
	n := 0
	for r, err := range etw.Records(trace) {
		if err != nil {
			incomplete = err
			break
		}
		fmt.Println("event", r.ID, "of", len(r.Payload), "bytes")
		n++
	}
	fmt.Println(n, "events")
	if incomplete != nil {
		fmt.Println("incomplete:", incomplete)
	}
	// Output:
	// event 1 of 26 bytes
	// event 1 of 26 bytes
	// 2 events
	// incomplete: nettrace: app.nettrace: offset 2842: event block: unexpected EOF
}

// Print whatever is in a trace: by the types of the packages that are at hand, and by the
// trace's own descriptions.
func ExampleDecoder() {
	trace, err := nettrace.Open("../../tests/recorded/eventsource.nettrace")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()

	decoder := etw.NewDecoder(clr.Provider)
	for r, err := range etw.Records(trace) {
		if err != nil {
			log.Fatal(err)
		}
		if r.Opcode == etw.OpcodeInfo {
			continue
		}
		values, err := decoder.Decode(r)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(decoder.Event(r).Provider, values)
	}
	// Output:
	// Etwgen-Workload RequestStart number=1
	// Etwgen-Workload RequestStart number=2
	// Etwgen-Workload RequestStop number=2
	// Etwgen-Workload RequestStop number=1
}

// Find values by the names of their fields.
func ExampleField() {
	event := &clr.GCStartV2{Count: 7, Depth: 2, Reason: clr.GCReasonInduced}

	reason, ok := etw.Field(event, "Reason")
	fmt.Println(reason, reason.Uint(), ok)
	_, ok = etw.Field(event, "Duration")
	fmt.Println(ok)
	for name, value := range etw.Fields(event) {
		fmt.Print(name, "=", value.Any(), " ")
	}
	// Output:
	// Induced 1 true
	// false
	// Count=7 Depth=2 Reason=1 Type=0 ClrInstanceID=0 ClientSequenceNumber=0
}

// A program that prints many strings reuses a buffer and allocates nothing.
func ExampleUTF16_AppendTo() {
	names := []etw.UTF16{etw.MakeUTF16("System.String"), etw.MakeUTF16("Größe")}

	var line []byte
	for _, name := range names {
		line = append(line[:0], "type "...)
		line = name.AppendTo(line)
		fmt.Printf("%s\n", line)
	}
	// Output:
	// type System.String
	// type Größe
}

// Build an event and encode it, as the test of a handler does.
func Example_building() {
	event := clr.ExceptionThrownV1{
		ExceptionType:    etw.MakeUTF16("System.InvalidOperationException"),
		ExceptionMessage: etw.MakeUTF16("no such order"),
		ExceptionHRESULT: 0x80131509,
	}
	payload, err := event.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		log.Fatal(err)
	}

	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyExceptionThrown) error {
		fmt.Printf("%v: %v\n", e.ExceptionType, e.ExceptionMessage)
		return nil
	})
	key := event.EventDesc().Key()
	err = mux.Dispatch(&etw.Record{
		Provider: key.Provider, ID: key.ID, Version: key.Version,
		PointerSize: etw.Ptr64, Payload: payload,
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// System.InvalidOperationException: no such order
}

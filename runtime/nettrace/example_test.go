package nettrace_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// Records of event sources describe themselves.
func ExampleReader_Records() {
	r, err := nettrace.Open("../../tests/recorded/eventsource.nettrace")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var d etw.Dynamic
	for rec, err := range r.Records() {
		if err != nil {
			log.Fatal(err)
		}
		if rec.ProviderName != "Etwgen-Workload" || rec.Level > 4 {
			continue
		}
		d.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize)
		fmt.Println(string(etw.AppendText(nil, &d)))
		if rec.ID == 3 {
			break
		}
	}
	// Output:
	// Integers flag=true u8=254 i8=-2 i16=-30000 u16=60000 i32=-2000000000 u32=4000000000 i64=-9000000000000000000 u64=18000000000000000000
	// Integers flag=false u8=0 i8=0 i16=0 u16=0 i32=0 u32=0 i64=0 u64=0
	// Text text=plain
}

// A session that was killed leaves a trace without an end. Its events are delivered first.
func ExampleReader_Next() {
	r, err := nettrace.Open("../../tests/recorded/lost.nettrace")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	events := 0
	for _, err := range r.Records() {
		switch {
		case errors.Is(err, etw.ErrIncomplete):
			fmt.Println("incomplete:", err)
		case err != nil:
			log.Fatal(err)
		default:
			events++
		}
	}
	s := r.Stats()
	fmt.Println(events > 0, s.Lost > 0, s.Stopped)
	// Output: true true true
}

// Events of a program describe themselves, and any reader shows them.
func ExampleWriter() {
	const provider = "My-Recorder"
	desc := &etw.EventDesc{ID: 1, Name: "Sampled", Fields: []etw.FieldDesc{
		{Name: "Value", Type: etw.InUInt32}, {Name: "Unit", Type: etw.InUnicodeString},
	}}
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer // or a file
	w, err := nettrace.NewWriter(&out, nettrace.Header{
		Clock:     etw.Clock{Start: etw.FileTimeOf(start), Frequency: 1e9}, // nanoseconds since start
		ProcessID: 4711,
	})
	if err != nil {
		log.Fatal(err)
	}
	err = w.Write(&etw.Record{
		Provider: nettrace.ProviderGUID(provider), ProviderName: provider, ID: 1, Schema: desc,
		ProcessID: 4711, ThreadID: 1, Processor: -1, Timestamp: int64(1500 * time.Millisecond),
		Payload: append([]byte{42, 0, 0, 0}, "m\x00s\x00\x00\x00"...),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := nettrace.NewReader(&out)
	if err != nil {
		log.Fatal(err)
	}
	var d etw.Dynamic
	for rec, err := range r.Records() {
		if err != nil {
			log.Fatal(err)
		}
		d.Decode(rec.Schema, rec.Payload, rec.PointerSize)
		fmt.Println(rec.Time().Format("15:04:05.0"), string(etw.AppendText(nil, &d)))
	}
	// Output: 12:00:01.5 Sampled Value=42 Unit=ms
}

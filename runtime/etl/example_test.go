package etl_test

import (
	"bytes"
	"fmt"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A trace with one event of TraceLogging, which describes itself.
func exampleTrace() []byte {
	h := etltest.DefaultHeader()
	data, err := etltest.File(h, &etw.Record{
		Provider: etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"), PointerSize: etw.Ptr64,
		ProcessID: 100, ThreadID: 200, Timestamp: h.Clock.Origin + 2_500_000,
		Extended: []etw.ExtendedItem{
			{Type: etw.ExtProviderTraits, Data: []byte("\x0a\x00Kitchen\x00")},
			{Type: etw.ExtSchema, Data: []byte("\x19\x00\x00Boiled\x00minutes\x00\x04what\x00\x02")},
		},
		Payload: []byte("\x04egg\x00"),
	})
	if err != nil {
		panic(err)
	}
	return data
}

func ExampleReader_Records() {
	trace := exampleTrace()
	r, err := etl.NewReader(bytes.NewReader(trace), int64(len(trace)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	var event etw.Dynamic
	for rec, err := range r.Records() {
		if err != nil {
			fmt.Println(err) // damage, after all that could be read
			return
		}
		if rec.Schema == nil {
			fmt.Println(rec.Elapsed(), classic.ClassName(rec.Provider), classic.OpcodeName(rec.Provider, rec.Opcode))
			continue
		}
		if _, err := event.Decode(rec.Schema, rec.Payload, rec.PointerSize); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%v %s %s\n", rec.Elapsed(), rec.ProviderName, etw.AppendText(nil, &event))
	}
	// Output:
	// 0s EventTrace Header
	// 250ms Kitchen Boiled minutes=4 what=egg
}

// A copy of a trace without the events of some kind: the copied records stay as they were,
// byte for byte.
func ExampleWriter_Copy() {
	data := exampleTrace()
	r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(err)
	}
	defer r.Close()
	var out bytes.Buffer // or a file, whose header Close completes
	w, err := etl.NewWriter(&out, r.Header())
	if err != nil {
		panic(err)
	}
	for rec, err := range r.Records() {
		if err != nil {
			panic(err)
		}
		if rec.Kind == etw.KindMessage {
			continue
		}
		if err := w.Copy(r, rec); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	fmt.Println(etl.Recognizes(out.Bytes()))
	// Output: true
}

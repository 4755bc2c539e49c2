package schema_test

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// An event of TraceLogging brings its layout along. Of a file the reader has asked already:
// a Set is for who delivers records of its own.
func ExampleSet() {
	r := &etw.Record{
		Provider: etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"), PointerSize: etw.Ptr64,
		Extended: []etw.ExtendedItem{
			{Type: etw.ExtProviderTraits, Data: []byte("\x0a\x00Kitchen\x00")},
			{Type: etw.ExtSchema, Data: []byte("\x19\x00\x00Boiled\x00minutes\x00\x04what\x00\x02")},
		},
		Payload: []byte("\x04egg\x00"),
	}
	var set schema.Set
	set.Learn(r) // what it says of others
	set.Describe(r)
	var event etw.Dynamic
	if _, err := event.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.ProviderName, string(etw.AppendText(nil, &event)))
	// Output: Kitchen Boiled minutes=4 what=egg
}

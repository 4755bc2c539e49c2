package eventheader_test

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
)

// An event that says it is Baked and has a number, of a tracepoint whose name says the provider.
func ExampleDecoder() {
	of, ok := eventheader.ParseName("Bakery_L4K1")
	if !ok {
		return
	}
	metadata := "Baked\x00loaves\x00\x04" // a number of 32 bits
	event := append([]byte{6, 0, 0, 0, 0, 0, 0, 4, byte(len(metadata)), 0, 1, 0}, metadata...)
	event = append(event, 12, 0, 0, 0)
	var decoder eventheader.Decoder
	e, err := decoder.Decode(of, event)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := etw.NewDecoder().Decode(&etw.Record{ProviderName: of.Provider, Schema: e.Desc, Payload: e.Payload, PointerSize: etw.Ptr64})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(of.Provider, string(etw.AppendText(nil, v)))
	// Output: Bakery Baked loaves=12
}

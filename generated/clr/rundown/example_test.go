package rundown_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Collect the methods of an end rundown, to give names to addresses. The needs of the
// handlers lack the keyword that causes the rundown, and the level at which every method has
// a name: AtEnd adds both.
func ExampleAtEnd() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *rundown.AnyMethodDCEndVerbose) error {
		fmt.Printf("%#x to %#x is %v.%v\n", e.MethodStartAddress, e.MethodStartAddress+uint64(e.MethodSize),
			e.MethodNamespace, e.MethodName)
		return nil
	})
	for _, e := range mux.Enablement() {
		end := rundown.AtEnd(e)
		fmt.Printf("%#x:%d, with the rundown %#x:%d\n", e.Keywords, e.Level, end.Keywords, end.Level)
	}

	method := rundown.MethodDCEndVerboseV1{
		MethodStartAddress: 0x7ff81000,
		MethodSize:         0x40,
		MethodFlags:        rundown.MethodFlagsJitted,
		MethodNamespace:    etw.MakeUTF16("Program"),
		MethodName:         etw.MakeUTF16("Main"),
		MethodSignature:    etw.MakeUTF16("void  (class System.String[])"),
	}
	payload, err := method.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
	}
	d := method.EventDesc()
	if err := mux.Dispatch(&etw.Record{
		Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, PointerSize: etw.Ptr64, Payload: payload,
	}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0x30:4, with the rundown 0x130:5
	// 0x7ff81000 to 0x7ff81040 is Program.Main
}

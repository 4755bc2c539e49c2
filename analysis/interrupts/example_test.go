package interrupts_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

func Example() {
	var mux etw.Mux
	analysis := interrupts.New(&mux)
	// The records of a trace, or of a session, go to the mux; here it is one.
	dpc := &kernel.PerfInfoDPCV2{InitialTime: 1000, Routine: 0xfffff80012345678}
	desc := dpc.EventDesc()
	payload, err := dpc.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = mux.Dispatch(&etw.Record{
		Kind: desc.Kind, Provider: desc.Class, Opcode: desc.Opcode, Version: desc.Version, PointerSize: etw.Ptr64,
		Timestamp: 701_000, Clock: &etw.Clock{Frequency: 1e9}, Payload: payload,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range analysis.Result().Routines {
		fmt.Printf("%s at %v: %d, the longest %g µs\n", r.Kind, r.Routine, r.Count, r.LongestUS)
	}
	// Output: DPC at 0xfffff80012345678: 1, the longest 700 µs
}

package stress_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Print the log of the garbage collector, from warnings up.
func ExampleAnyLogEvent() {
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *stress.AnyLogEvent) error {
		if e.Facility&stress.LogFacilityGC != 0 && e.LogLevel <= stress.LogLevelWarning {
			fmt.Printf("%v: %v: %v\n", e.Facility, e.LogLevel, e.Message)
		}
		return nil
	})

	for _, e := range []stress.LogEventV1{
		{Facility: stress.LogFacilityGC | stress.LogFacilityGCRoots, LogLevel: stress.LogLevelWarning, Message: etw.ANSI("a root is not in the heap")},
		{Facility: stress.LogFacilityGC, LogLevel: stress.LogLevelInfo1000, Message: etw.ANSI("marking begins")},
		{Facility: stress.LogFacilityJIT, LogLevel: stress.LogLevelError, Message: etw.ANSI("no code")},
	} {
		payload, err := e.AppendPayload(nil, etw.Ptr64)
		if err != nil {
			fmt.Println(err)
		}
		k := e.EventDesc().Key()
		if err := mux.Dispatch(&etw.Record{Provider: k.Provider, ID: k.ID, Version: k.Version, PointerSize: etw.Ptr64, Payload: payload}); err != nil {
			fmt.Println(err)
		}
	}
	// Output: GC|GCRoots: Warning: a root is not in the heap
}

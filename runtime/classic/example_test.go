package classic_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

// Names of kernel events, which no trace contains.
func ExampleNames() {
	r := &etw.Record{Kind: etw.KindClassic, Provider: etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), Opcode: 1}
	fmt.Println(classic.Names(r))
	// Output: Process Start
}

// Whom the events of a live session are about: readers of files have attributed already.
func ExampleOwners() {
	var owners classic.Owners
	for r, err := range etw.Records(session()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		owners.Learn(r)
		owners.Attribute(r)
		task, opcode := classic.Names(r)
		fmt.Println(task, opcode, "process", r.ProcessID)
	}
	// Output: Process Start process 4242
}

// session is a live source with one event, the start of a process.
func session() etw.Source {
	var log provider.Memory
	start := &kernel.ProcessStartV4{ProcessID: 4242, ParentID: 4}
	d := start.EventDesc()
	payload, err := start.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		panic(err)
	}
	if err := log.Write(&etw.Record{Kind: d.Kind, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, ProcessID: 4, PointerSize: etw.Ptr64, Payload: payload}); err != nil {
		panic(err)
	}
	return log.Source()
}

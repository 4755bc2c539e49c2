// Service writes events of its own manifest. On Windows they go to ETW, where
// sessions and the event log find them: the resource that describes them is part of
// the program, by the .syso files beside this one. Elsewhere the program prints
// what it would write.
package main

import (
	"fmt"
	"os"

	"github.com/etwgen/etwgen/examples/service/events"
	"github.com/etwgen/etwgen/runtime/etw"
)

//go:generate go run github.com/etwgen/etwgen/cmd/etwgen compile --syso amd64,arm64,386 events/service.man

func main() {
	p, err := register(events.Provider.Desc.GUID)
	if err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
	defer p.close()
	for number := range uint64(3) {
		p.write(&events.OrderStart{Number: number, Customer: etw.MakeUTF16("Miller")})
		p.write(&events.OrderStop{Number: number, Outcome: events.OutcomeDone})
	}
}

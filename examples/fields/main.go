// Fields prints one field of all events that have it, by its name, whatever their
// provider is and whether it has a generated package or not:
//
//	go run ./examples/fields text tests/recorded/eventsource.nettrace
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: fields NAME FILE...")
	}
	t, err := trace.OpenAll(os.Args[2:])
	if err != nil {
		log.Fatal(err)
	}
	d := etw.NewDecoder(clr.Provider) // other events by what the trace says of them
	for r, err := range t.Records() {
		if err != nil {
			log.Fatal(err) // what could not be read; all else is printed
		}
		e, _ := d.Decode(r) // up to a fault, if there is one
		if v, ok := etw.Field(e, os.Args[1]); ok {
			info := d.Event(r)
			fmt.Printf("%s/%s %v\n", info.Provider, info.Name, v)
		}
	}
}

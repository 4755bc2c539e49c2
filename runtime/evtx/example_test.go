package evtx_test

import (
	"fmt"
	"log"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
)

// The errors of a log are printed, each with its fields.
func ExampleReader() {
	f, err := os.Open("System.evtx")
	if err != nil {
		log.Print(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		log.Print(err)
		return
	}
	r, err := evtx.NewReader(f, info.Size())
	if err != nil {
		log.Print(err)
		return
	}
	var event etw.Dynamic
	for rec, err := range r.Records() {
		if err != nil {
			log.Print(err)
			break
		}
		if rec.Level > etw.LevelError {
			continue
		}
		if _, err := event.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize); err == nil {
			fmt.Println(rec.Time(), r.Event().Channel, rec.ProviderName, rec.ID, &event)
		}
	}
}

package eventrecord_test

import (
	"fmt"
	"unsafe"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventrecord"
)

// Typed handlers take the events of another package's callback.
func ExampleOf() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println(r.ProcessID, e.Count)
		return nil
	})
	var r etw.Record // used again for each event
	callback := func(event unsafe.Pointer) error {
		eventrecord.Of(&r, event, nil)
		return mux.Dispatch(&r)
	}
	_ = callback // which the other package calls
}

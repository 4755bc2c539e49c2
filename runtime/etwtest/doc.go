// Package etwtest tests packages that etwgen generated. A package's tests are a
// few lines:
//
//	func TestRoundTrip(t *testing.T) { etwtest.RoundTrip(t, clr.Provider) }
//	func TestTruncate(t *testing.T)  { etwtest.Truncate(t, clr.Provider) }
//	func TestAllocs(t *testing.T)    { etwtest.Allocs(t, clr.Provider) }
//	func FuzzDecode(f *testing.F)    { etwtest.Fuzz(f, clr.Provider) }
//
// They make payloads from the descriptions of the events, and hold what the
// generated code does with them against what [etw.Dynamic] does, which decodes
// by the descriptions alone. etwgen gen --tests writes such tests.
//
// [Payload] is of use by itself: it makes payloads for tests of programs that
// handle events.
package etwtest

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ptrSizes are the sizes of pointers that everything is tested with.
var ptrSizes = [...]etw.PtrSize{etw.Ptr32, etw.Ptr64}

// label names a test of an event.
func label(d *etw.EventDesc, ptr etw.PtrSize) string {
	return fmt.Sprintf("%s (%d.%d, %d-byte pointers)", d.Title(), d.ID, d.Version, ptr)
}

// typed returns the events of a provider that have generated types.
func typed(p *etw.Provider) []*etw.EventDesc {
	var list []*etw.EventDesc
	for _, d := range p.Events {
		if d.New != nil {
			list = append(list, d)
		}
	}
	return list
}

// Package etwtest tests packages that etwgen generated. Use it for packages of your own, and
// for programs that keep values of events. A package's tests are a few lines:
//
//	func TestRoundTrip(t *testing.T) { etwtest.RoundTrip(t, clr.Types()...) }
//	func TestTruncate(t *testing.T)  { etwtest.Truncate(t, clr.Types()...) }
//	func TestClone(t *testing.T)     { etwtest.Clone(t, clr.Types()...) }
//	func TestAllocs(t *testing.T)    { etwtest.Allocs(t, clr.Types()...) }
//	func FuzzDecode(f *testing.F)    { etwtest.Fuzz(f, clr.Types()...) }
//
// They make payloads from the descriptions of the events, and hold the results of generated
// code against those of [etw.Dynamic], which decodes by the descriptions alone. etwgen gen
// --tests writes such tests.
//
// Two things are for tests of programs that handle events: [Payload] makes
// payloads, and [Poison] finds views that outlive their record.
package etwtest

import (
	"fmt"
	"reflect"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ptrSizes are the sizes of pointers that everything is tested with.
var ptrSizes = [...]etw.PtrSize{etw.Ptr32, etw.Ptr64}

// label names a test of an event.
func label(d *etw.EventDesc, ptr etw.PtrSize) string {
	return fmt.Sprintf("%s (%d.%d, %d-byte pointers)", d.Title(), d.Key().ID, d.Version, ptr)
}

// New returns a new event of the type of e.
func New(e etw.Event) etw.Event {
	return reflect.New(reflect.TypeOf(e).Elem()).Interface().(etw.Event)
}

// Package adapters plugs typed events into packages for ETW that a program already has.
//
// Consumers that show the callback of Windows give its EVENT_RECORD to [Dispatch]:
//
//	// github.com/tekert/goetw
//	consumer.EventRecordCallback = func(r *goetw.EventRecord) bool {
//		return adapters.Dispatch(&mux, unsafe.Pointer(r)) != nil
//	}
//
//	// github.com/0xrawsec/golang-etw
//	consumer.EventRecordCallback = func(r *golangetw.EventRecord) bool {
//		return adapters.Dispatch(&mux, unsafe.Pointer(r)) != nil
//	}
//
//	// github.com/bi-zone/etw keeps it to itself: Inside finds it
//	session.Process(func(e *bizone.Event) {
//		adapters.Dispatch(&mux, adapters.Inside(e))
//	})
//
// Github.com/Microsoft/go-winio only writes: [Fields] makes fields for its providers of
// any event.
package adapters

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventrecord"
)

// records are used again.
var records = sync.Pool{New: func() any { return new(etw.Record) }}

// Dispatch gives an EVENT_RECORD of Windows to the handlers of a mux, which is for one
// goroutine at a time, as a callback of one session is.
func Dispatch(mux *etw.Mux, event unsafe.Pointer) error {
	if event == nil {
		return nil
	}
	r := records.Get().(*etw.Record)
	defer records.Put(r)
	eventrecord.Of(r, event, nil)
	return mux.Dispatch(r)
}

// Inside returns the pointer to an EVENT_RECORD that a struct has as its field
// eventRecord, or nil. Outside of a callback there is none.
func Inside(event any) unsafe.Pointer {
	v := reflect.ValueOf(event)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	field := v.FieldByName("eventRecord")
	if field.Kind() != reflect.Pointer {
		return nil
	}
	return field.UnsafePointer()
}

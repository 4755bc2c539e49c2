package etwtest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Clone decodes payloads of every event, clones it and overwrites the payload. It
// checks that the clone stays the event that it was.
func Clone(t testing.TB, types ...etw.Event) {
	t.Helper()
	for _, e := range types {
		vary(t, e.EventDesc(), "", func(ptr etw.PtrSize, payload []byte) error {
			e := New(e)
			decode := func(p []byte) error { _, err := e.DecodePayload(p, ptr); return err }
			return clones(e, decode, payload)
		})
	}
}

// vary checks payloads of an event with both sizes of pointers. Who is checked is "", or a text
// before the name of the event.
func vary(t testing.TB, d *etw.EventDesc, who string, check func(ptr etw.PtrSize, payload []byte) error) {
	t.Helper()
	for _, ptr := range ptrSizes {
		for seed := range uint64(variations) {
			if err := check(ptr, Payload(d, ptr, seed)); err != nil {
				t.Errorf("%s%s, seed %d: %v", who, label(d, ptr), seed, err)
				break
			}
		}
	}
}

// clones decodes the payload into e and checks that e's clone does not change
// with it.
func clones(e etw.Described, decode func([]byte) error, payload []byte) error {
	lent := bytes.Clone(payload)
	if err := decode(lent); err != nil {
		return err
	}
	clone, err := cloneOf(e)
	if err != nil {
		return err
	}
	for i := range lent {
		lent[i] = ^lent[i]
	}
	if err := decode(payload); err != nil {
		return err
	}
	if !reflect.DeepEqual(clone, e) {
		return fmt.Errorf("the clone became\n%v, was\n%v", clone, e)
	}
	return nil
}

// cloneOf calls e.Clone, which each type has for itself.
func cloneOf(e etw.Described) (any, error) {
	method := reflect.ValueOf(e).MethodByName("Clone")
	if !method.IsValid() || method.Type() != reflect.FuncOf(nil, []reflect.Type{reflect.TypeOf(e)}, false) {
		return nil, fmt.Errorf("%T has no method Clone() %[1]T", e)
	}
	clone := method.Call(nil)[0]
	if clone.Pointer() == reflect.ValueOf(e).Pointer() && clone.Elem().Type().Size() > 0 {
		return nil, errors.New("the clone is the event itself")
	}
	return clone.Interface(), nil
}

package etwtest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// OfTask returns those of the given types that are events of a task.
func OfTask(task string, types ...etw.Event) []etw.Event {
	return slices.DeleteFunc(types, func(e etw.Event) bool { return e.EventDesc().TaskName != task })
}

// Fuzz is a fuzz target for all events of the given types. An input is the index of
// an event, the size of pointers and a payload. It checks that
//   - the generated and the dynamic decoder agree on errors, on values and on how
//     much they read;
//   - encoding the event gives back the bytes that were read, or fewer if integers of
//     variable length were longer than they need to be;
//   - those bytes by themselves decode as the same event;
//   - every array has as many elements as it says.
func Fuzz(f *testing.F, types ...etw.Event) {
	if len(types) == 0 {
		f.Skip("no events")
	}
	for i, e := range types {
		for _, ptr := range ptrSizes {
			f.Add(uint16(i), ptr == etw.Ptr64, Payload(e.EventDesc(), ptr, uint64(i)))
		}
	}
	f.Fuzz(func(t *testing.T, index uint16, wide bool, payload []byte) {
		e := types[int(index)%len(types)]
		ptr := etw.Ptr32
		if wide {
			ptr = etw.Ptr64
		}
		if err := check(e, ptr, payload); err != nil {
			t.Errorf("%s: %v", label(e.EventDesc(), ptr), err)
		}
	})
}

// check decodes any bytes as an event.
func check(like etw.Event, ptr etw.PtrSize, payload []byte) error {
	e, d := New(like), like.EventDesc()
	n, err := e.DecodePayload(payload, ptr)
	if err := agrees(d, ptr, payload, e, n, err); err != nil {
		return err
	}
	if err != nil {
		return nil
	}
	encoded, err := e.AppendPayload(nil, ptr)
	if err != nil {
		return fmt.Errorf("what was decoded does not encode: %w", err)
	}
	if !bytes.Equal(encoded, payload[:n]) && !shortened(e, ptr, encoded, n) {
		return fmt.Errorf("encoded as\n%x, want\n%x", encoded, payload[:n])
	}
	again := New(e)
	if m, err := again.DecodePayload(payload[:n:n], ptr); err != nil || m != n {
		return fmt.Errorf("the %d bytes that were read do not decode by themselves: %d, %v", n, m, err)
	}
	return countElements(reflect.ValueOf(e).Elem())
}

// shortened reports whether an encoding is shorter than the payload read, since integers of
// variable length were longer there than they need to be, and is that of the same event.
func shortened(like etw.Event, ptr etw.PtrSize, encoded []byte, read int) bool {
	if len(encoded) >= read || !hasVariable(like.EventDesc().Fields) {
		return false
	}
	e := New(like)
	if n, err := e.DecodePayload(encoded, ptr); err != nil || n != len(encoded) {
		return false
	}
	again, err := e.AppendPayload(nil, ptr)
	return err == nil && bytes.Equal(again, encoded)
}

func hasVariable(fields []etw.FieldDesc) bool {
	return slices.ContainsFunc(fields, func(f etw.FieldDesc) bool {
		return f.Type == etw.InVarInt || f.Type == etw.InVarUint || hasVariable(f.Fields)
	})
}

// countElements checks that all arrays of an event or struct have as many
// elements as their Len says.
func countElements(v reflect.Value) error {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		x := v.Field(i)
		length, all := x.MethodByName("Len"), x.MethodByName("All")
		if !length.IsValid() || !all.IsValid() {
			if err := countElements(x); err != nil {
				return err
			}
			continue
		}
		n := 0
		for range all.Call(nil)[0].Seq() {
			n++
		}
		if want := int(length.Call(nil)[0].Int()); n != want {
			return fmt.Errorf("%s has %d elements, Len says %d", f.Name, n, want)
		}
	}
	return nil
}

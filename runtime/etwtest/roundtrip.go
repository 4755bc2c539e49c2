package etwtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// variations is how many payloads each event is tested with.
const variations = 8

// RoundTrip decodes and encodes payloads of every event, with both sizes of
// pointers. It checks that
//   - the payload is read to its end, and what follows it is left alone;
//   - encoding the event gives the payload back, after what the buffer held;
//   - decoding that gives the same event;
//   - the dynamic decoder finds the same values;
//   - the event has a text, and so has a pointer to it, and valid JSON shows it.
func RoundTrip(t testing.TB, types ...etw.Event) {
	t.Helper()
	for _, e := range types {
		vary(t, e.EventDesc(), "", func(ptr etw.PtrSize, payload []byte) error { return roundTrip(e, ptr, payload) })
	}
}

func roundTrip(like etw.Event, ptr etw.PtrSize, payload []byte) error {
	e, d := New(like), like.EventDesc()
	n, err := e.DecodePayload(payload, ptr)
	if err != nil {
		return err
	}
	if n != len(payload) {
		return fmt.Errorf("read %d of %d bytes", n, len(payload))
	}
	if err := agrees(d, ptr, payload, e, n, nil); err != nil {
		return err
	}
	before := []byte("before")
	encoded, err := e.AppendPayload(before, ptr)
	if err != nil {
		return err
	}
	if want := append(before, payload...); !bytes.Equal(encoded, want) {
		return fmt.Errorf("encoded as\n%x, want\n%x", encoded, want)
	}
	again := New(e)
	if _, err := again.DecodePayload(encoded[len(before):], ptr); err != nil {
		return fmt.Errorf("decoding what was encoded: %w", err)
	}
	if !reflect.DeepEqual(e, again) {
		return fmt.Errorf("decoded again as\n%v, want\n%v", again, e)
	}
	if !takesRest(d.Fields) {
		longer := append(append([]byte(nil), payload...), "and more"...)
		if got, err := again.DecodePayload(longer, ptr); err != nil || got != n {
			return fmt.Errorf("of a longer payload read %d bytes, want %d (%v)", got, n, err)
		}
		if !reflect.DeepEqual(e, again) {
			return fmt.Errorf("decoded a longer payload as\n%v, want\n%v", again, e)
		}
	}
	return shown(e)
}

// shown checks the JSON of an event, and its text, which is that of a pointer to it as well.
func shown(e etw.Event) error {
	value := reflect.ValueOf(e).Elem().Interface()
	for _, shown := range []any{e, etw.Show(e)} {
		if text, err := json.Marshal(shown); err != nil || !json.Valid(text) {
			return fmt.Errorf("JSON %q: %v", text, err)
		}
	}
	if text, other := fmt.Sprint(e), fmt.Sprint(value); text == "" || text != other {
		return fmt.Errorf("text %q, of the value %q", text, other)
	}
	return nil
}

// agrees checks that the dynamic decoder does as the generated one did, which
// read n bytes of the payload into e or failed with an error.
func agrees(d *etw.EventDesc, ptr etw.PtrSize, payload []byte, e etw.Event, n int, failed error) error {
	var dyn etw.Dynamic
	m, err := dyn.Decode(d, payload, ptr)
	switch {
	case (err == nil) != (failed == nil):
		return fmt.Errorf("the dynamic decoder disagrees: %v, generated: %v", err, failed)
	case failed != nil:
		return nil
	case m != n:
		return fmt.Errorf("the dynamic decoder read %d bytes, the generated one %d", m, n)
	}
	for i := range d.Fields {
		got, want := e.FieldValue(i), dyn.FieldValue(i)
		if !got.Equal(want) {
			return fmt.Errorf("field %s is %s, by the dynamic decoder %s", d.Fields[i].Name,
				etw.AppendFieldText(nil, &d.Fields[i], got), etw.AppendFieldText(nil, &d.Fields[i], want))
		}
	}
	return nil
}

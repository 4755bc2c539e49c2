package etw_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/golden/lenient/want"
)

// TestStringEndsWithPayload: a string that ends with the payload is whole, as for Windows, in
// handlers of one version and of all, and in a decoder; half a character is not.
func TestStringEndsWithPayload(t *testing.T) {
	var mux etw.Mux
	got := ""
	etw.Handle(&mux, func(_ *etw.Record, e *want.Names) error { got += e.Name.String(); return nil })
	etw.Handle(&mux, func(_ *etw.Record, e *want.AnyNames) error { got += e.Name.String(); return nil })
	event := &want.Names{Name: etw.MakeUTF16("orders/7")}
	whole, _ := event.AppendPayload(nil, etw.Ptr64)
	d := etw.NewDecoder(want.Provider)
	for cut, text := range []string{"orders/7orders/7", "", "orders/7orders/7", ""} {
		got = ""
		r := &etw.Record{Provider: want.Provider.Desc.GUID, ID: event.EventDesc().ID, Version: event.EventDesc().Version, PointerSize: etw.Ptr64, Payload: whole[:len(whole)-cut]}
		if err := mux.Dispatch(r); err != nil || got != text {
			t.Errorf("%d bytes fewer: %q, %v", cut, got, err)
		}
		if _, err := d.Decode(r); (err == nil) != (text != "") {
			t.Errorf("%d bytes fewer: the decoder says %v", cut, err)
		}
	}
	if s := mux.Stats(); s.Undecodable != 2 {
		t.Errorf("stats %v", s)
	}
}

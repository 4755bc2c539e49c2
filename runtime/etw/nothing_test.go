package etw_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An event of a struct without members, and without any bytes, is shown.
func TestStructOfNothing(t *testing.T) {
	desc := &etw.EventDesc{Name: "Empty", Named: true, Provider: &etw.ProviderDesc{Name: "Bakery"},
		Fields: []etw.FieldDesc{{Name: "outer", Type: etw.InStruct, Fields: []etw.FieldDesc{{Name: "inner", Type: etw.InStruct}}}}}
	for _, payload := range [][]byte{nil, {}} {
		v, err := etw.NewDecoder().Decode(&etw.Record{ProviderName: "Bakery", Schema: desc, PointerSize: etw.Ptr64, Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(etw.AppendText(nil, v)), "Empty outer={inner={}}"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

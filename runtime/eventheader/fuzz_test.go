package eventheader

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzDecode decodes anything, twice with one decoder: a decoded event fits its description, and
// is no more than several times as long.
func FuzzDecode(f *testing.F) {
	head := []byte{flagLittle | flagExtension, 1, 5, 0, 0, 0, 0, 4}
	for _, metadata := range []string{
		"Baked\x00", "Baked\x00crumbs\x00\x04", "Baked\x00loaf\x00\x81\x01\x02a\x00\x02b\x00\x03", "Baked\x00list\x00\x64\x00\x03\x00",
	} {
		b := append(append([]byte{}, head...), byte(len(metadata)), 0, kindMetadata, 0)
		f.Add("Bakery_L4K1", append(append(b, metadata...), 1, 2, 3, 4, 5, 6, 7, 8))
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		tp, ok := ParseName(name)
		if !ok {
			tp = Tracepoint{Provider: "Bakery"}
		}
		var d Decoder
		for range 2 {
			e, err := d.Decode(tp, b)
			if err != nil {
				return
			}
			if len(e.Payload) > 1<<10+16*len(b) {
				t.Errorf("%d bytes became %d", len(b), len(e.Payload))
			}
			dec := etw.NewDecoder()
			rec := &etw.Record{Provider: e.Desc.Provider.GUID, ProviderName: e.Desc.Provider.Name, ID: e.Desc.ID, Schema: e.Desc, PointerSize: etw.Ptr64, Payload: e.Payload}
			if v, err := dec.Decode(rec); err == nil && v != nil {
				etw.AppendText(nil, v)
			}
		}
	})
}

package look

import (
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestMessenger: a log describes its events itself, and has no messages. That of a manifest takes
// the values as the manifest has them, and of another layout as the log has them.
func TestMessenger(t *testing.T) {
	guid := etw.NameGUID("Bakery")
	state := etw.MapDesc{Name: "State", Entries: []etw.MapEntry{{Value: 2, Name: "Warm"}}}
	desc := func(message string, second etw.InType, m *etw.MapDesc) *etw.EventDesc {
		return &etw.EventDesc{Provider: &etw.ProviderDesc{Name: "Bakery", GUID: guid}, ID: 7, Message: message,
			Fields: []etw.FieldDesc{{Name: "Size", Type: etw.InUInt32}, {Name: "State", Type: second, Map: m}}}
	}
	log := desc("", etw.InUInt32, nil)
	for _, x := range []struct {
		known *etw.EventDesc
		want  string
	}{
		{desc("baked %1, %2", etw.InUInt32, &state), "baked 5, Warm"},
		{desc("baked %1, %2", etw.InUInt64, &state), "baked 5, 2"},
		{desc("baked %1, %2", etw.InUInt16, nil), "baked 5, 2"},
		{desc("", etw.InUInt32, nil), ""},
	} {
		m := &messenger{given: etw.NewDecoder(&etw.Provider{Desc: x.known.Provider, Events: []*etw.EventDesc{x.known}})}
		r := &etw.Record{Provider: guid, ID: 7, Schema: log, Payload: []byte{5, 0, 0, 0, 2, 0, 0, 0}, PointerSize: etw.Ptr64}
		values, err := etw.NewDecoder().Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(m.append(nil, &pick.Shot{Record: r, Values: values})); got != x.want || m.some != (x.want != "") || r.Schema != log {
			t.Errorf("%q: %q, want %q", x.known.Message, got, x.want)
		}
	}
}

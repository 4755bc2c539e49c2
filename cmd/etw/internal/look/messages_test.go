package look

import (
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
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

// TestMessageFiles: texts of sources are in files, of which that with the name of the source counts
// first; others have to agree. Inserts are the texts of the event, and parameters have texts, too.
func TestMessageFiles(t *testing.T) {
	desc := &etw.EventDesc{ID: 15, Fields: []etw.FieldDesc{
		{Name: "Data", Type: etw.InUnicodeString, Count: etw.Size{Kind: etw.SizeConst, N: 2}},
		{Name: "field1", Type: etw.InUInt32}, {Name: "Binary", Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeField, N: 1}},
	}}
	payload := etw.AppendUTF16(nil, "oven\x00%%14592\x00")
	payload = append(payload, 1, 0, 0, 0, 0xaa)
	for name, x := range map[string]struct {
		files []messageFile
		want  string
		torn  int
	}{
		"one":            {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%1 is %2.", 15: "not this"}}}, "oven is %%14592.", 0},
		"parameter":      {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%2: %1%3", 14592: "Warm\r\n"}}}, "Warm: oven%3", 0},
		"that agree":     {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%1"}}, {[]string{"b", "x"}, map[uint32]string{0x4000000f: "%1"}}}, "oven", 0},
		"that differ":    {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%1"}}, {[]string{"b", "x"}, map[uint32]string{0x4000000f: "%2"}}}, "", 1},
		"by its name":    {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%1"}}, {[]string{"bakery", "x"}, map[uint32]string{0x4000000f: "mine"}}}, "mine", 0},
		"by its folder":  {[]messageFile{{[]string{"a", "x"}, map[uint32]string{0x4000000f: "%1"}}, {[]string{"b", "bakery"}, map[uint32]string{0x4000000f: "mine"}}}, "mine", 0},
		"none has it":    {[]messageFile{{[]string{"a", "x"}, map[uint32]string{15: "%1"}}}, "", 0},
		"without a file": {nil, "", 0},
	} {
		m := &messenger{given: etw.NewDecoder(), files: messageFiles{read: true, files: x.files, torn: map[string]bool{}}}
		r := &etw.Record{ProviderName: "Bakery", ID: 15, Schema: desc, Payload: payload, PointerSize: etw.Ptr64, Extended: []etw.ExtendedItem{{Type: evtx.ExtQualifiers, Data: []byte{0, 0x40}}}}
		values, err := etw.NewDecoder().Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(m.append(nil, &pick.Shot{Record: r, Values: values})); got != x.want || len(m.files.torn) != x.torn {
			t.Errorf("%s: %q, %v, want %q", name, got, m.files.torn, x.want)
		}
		if m.append(nil, &pick.Shot{Record: &etw.Record{ID: 15}, Values: values}); len(m.files.torn) != x.torn {
			t.Errorf("%s: an event without qualifiers has a message", name)
		}
	}
}

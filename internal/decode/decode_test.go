package decode_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	acme    = &etw.ProviderDesc{Name: "Acme", GUID: etw.MustParseGUID("11111111-2222-3333-4444-555555555555")}
	number  = []etw.FieldDesc{{Name: "Number", Type: etw.InUInt32}}
	numbers = append(number[:1:1], etw.FieldDesc{Name: "Text", Type: etw.InUnicodeString}, etw.FieldDesc{Name: "Tail", Type: etw.InUInt16})
	made    = &etw.EventDesc{Provider: acme, ID: 7, Version: 2, Name: "Made", TaskName: "Make", OpcodeName: "Start", Fields: number}
)

func manifests() []*etw.Provider {
	return []*etw.Provider{{Desc: acme, Events: []*etw.EventDesc{made, {Provider: acme, ID: 8, TaskName: "Nameless"}}}}
}

// classic is the class of process events of the kernel.
var classic = etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")

func classes() []*etw.Provider {
	process := &etw.ProviderDesc{Name: "Process", GUID: classic}
	return []*etw.Provider{{Desc: process, Events: []*etw.EventDesc{
		{Provider: process, ID: 2, Version: 3, Opcode: 2, Name: "ProcessStop", TaskName: "Process", Fields: number},
	}}}
}

func TestDecode(t *testing.T) {
	gcStart := (&clr.GCStartV2{Count: 3, Reason: clr.GCReasonInduced}).EventDesc()
	gcPayload, err := (&clr.GCStartV2{Count: 3, Reason: clr.GCReasonInduced}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	runtime := func(id uint16, version uint8, payload []byte) *etw.Record {
		return &etw.Record{Provider: gcStart.Provider.GUID, ID: id, Version: version, Payload: payload, PointerSize: etw.Ptr64}
	}
	own := func(id uint16, version uint8, payload []byte) *etw.Record {
		return &etw.Record{Provider: acme.GUID, ID: id, Version: version, Payload: payload, PointerSize: etw.Ptr64}
	}
	withSchema := func(r *etw.Record, name string, fields []etw.FieldDesc) *etw.Record {
		r.Schema = &etw.EventDesc{Name: name, Fields: fields, Provider: &etw.ProviderDesc{Name: "From-The-Trace"}}
		return r
	}
	for _, c := range []struct {
		name     string
		rec      *etw.Record
		basis    decode.Basis
		provider string
		event    string
		text     string
		rest     string
		err      error
	}{
		{"generated type", runtime(1, 2, gcPayload), decode.Typed, "Microsoft-Windows-DotNETRuntime", "GCStart_V2",
			"GCStart_V2 Count=3 Depth=0 Reason=Induced Type=NonConcurrentGC ClrInstanceID=0 ClientSequenceNumber=0", "", nil},
		{"generated type before schema", withSchema(runtime(1, 2, gcPayload), "Other", number), decode.Typed, "Microsoft-Windows-DotNETRuntime", "GCStart_V2",
			"GCStart_V2 Count=3 Depth=0 Reason=Induced Type=NonConcurrentGC ClrInstanceID=0 ClientSequenceNumber=0", "", nil},
		{"longer than its type", runtime(1, 2, append(gcPayload[:len(gcPayload):len(gcPayload)], 9, 9)), decode.Typed, "Microsoft-Windows-DotNETRuntime", "GCStart_V2",
			"GCStart_V2 Count=3 Depth=0 Reason=Induced Type=NonConcurrentGC ClrInstanceID=0 ClientSequenceNumber=0", "\x09\x09", nil},
		{"cut off", runtime(1, 2, gcPayload[:10]), decode.Typed, "Microsoft-Windows-DotNETRuntime", "GCStart_V2",
			"GCStart_V2 Count=3 Depth=0", "\x01\x00", etw.ErrTruncated},
		{"newer version", runtime(1, 9, append(gcPayload[:len(gcPayload):len(gcPayload)], 1)), decode.Older, "Microsoft-Windows-DotNETRuntime", "GCStart_V2",
			"GCStart_V2 Count=3 Depth=0 Reason=Induced Type=NonConcurrentGC ClrInstanceID=0 ClientSequenceNumber=0", "\x01", nil},
		{"unknown event of a known provider", runtime(9999, 0, []byte{1}), decode.None, "Microsoft-Windows-DotNETRuntime", "Microsoft-Windows-DotNETRuntime/9999", "", "\x01", nil},
		{"schema", withSchema(own(1, 0, []byte{5, 0, 0, 0}), "Mine", number), decode.Schema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema before manifest", withSchema(own(7, 2, []byte{5, 0, 0, 0}), "Mine", number), decode.Schema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema before older version", withSchema(own(7, 3, []byte{5, 0, 0, 0}), "Mine", number), decode.Schema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema that does not fit", withSchema(own(1, 0, []byte{5, 0, 0, 0, 'a', 0, 0, 0, 7}), "Mine", numbers), decode.Schema, "From-The-Trace", "Mine", "Mine Number=5 Text=a", "\x07", etw.ErrTruncated},
		{"manifest", own(7, 2, []byte{6, 0, 0, 0}), decode.Manifest, "Acme", "Made", "Made Number=6", "", nil},
		{"newer than the manifest", own(7, 3, []byte{6, 0, 0, 0}), decode.Older, "Acme", "Made", "Made Number=6", "", nil},
		{"older than the manifest", own(7, 1, []byte{6}), decode.None, "Acme", "Acme/7", "", "\x06", nil},
		{"no name", own(8, 0, nil), decode.Manifest, "Acme", "Nameless", "Nameless", "", nil},
		{"unknown", &etw.Record{Provider: etw.GUID{1}, ID: 3, Payload: []byte("x")}, decode.None, "00000001-0000-0000-0000-000000000000", "00000001-0000-0000-0000-000000000000/3", "", "x", nil},
		{"named provider", &etw.Record{Provider: etw.GUID{1}, ProviderName: "Named", ID: 3}, decode.None, "Named", "Named/3", "", "", nil},
		{"classic", &etw.Record{Kind: etw.Classic, Provider: classic, Opcode: 1}, decode.None, "Process", "Process/Start", "", "", nil},
		{"classic of a manifest", &etw.Record{Kind: etw.Classic, Provider: classic, Opcode: 2, Version: 3, Payload: []byte{7, 0, 0, 0}}, decode.Manifest, "Process", "ProcessStop", "ProcessStop Number=7", "", nil},
		{"classic newer than the manifest", &etw.Record{Kind: etw.Classic, Provider: classic, Opcode: 2, Version: 4, Payload: []byte{7, 0, 0, 0, 1}}, decode.Older, "Process", "ProcessStop", "ProcessStop Number=7", "\x01", nil},
		{"classic older than the manifest", &etw.Record{Kind: etw.Classic, Provider: classic, Opcode: 2, Version: 2}, decode.None, "Process", "Process/Stop", "", "", nil},
		{"manifest event with the GUID of a class", &etw.Record{Provider: classic, ID: 2, Version: 3}, decode.None, classic.String(), classic.String() + "/2", "", "", nil},
		{"unknown opcode", &etw.Record{Kind: etw.Classic, Provider: classic, Opcode: 200}, decode.None, "Process", "Process/200", "", "", nil},
		{"unknown class", &etw.Record{Kind: etw.Classic, Provider: etw.GUID{1}, Opcode: 2}, decode.None, "00000001-0000-0000-0000-000000000000", "00000001-0000-0000-0000-000000000000/2", "", "", nil},
		{"classic event with the GUID of a provider", &etw.Record{Kind: etw.Classic, Provider: acme.GUID, ID: 7, Version: 2}, decode.None, "Acme", "Acme/0", "", "", nil},
		{"message", &etw.Record{Kind: etw.Message, Provider: etw.GUID{1}, ID: 12}, decode.None, "00000001-0000-0000-0000-000000000000", "00000001-0000-0000-0000-000000000000/12", "", "", nil},
	} {
		d := decode.New(manifests(), classes())
		e := d.Event(c.rec)
		if e.Basis != c.basis || e.Provider != c.provider || e.Name != c.event {
			t.Errorf("%s: basis %d, provider %q, event %q; want %d, %q, %q", c.name, e.Basis, e.Provider, e.Name, c.basis, c.provider, c.event)
		}
		if (e.Note != "") != (c.basis == decode.Older) {
			t.Errorf("%s: note %q", c.name, e.Note)
		}
		values, err := d.Decode(e, c.rec)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
		text := ""
		if values != nil {
			text = string(etw.AppendText(nil, values))
		}
		if text != c.text {
			t.Errorf("%s: %q, want %q", c.name, text, c.text)
		}
		if string(d.Rest()) != c.rest {
			t.Errorf("%s: rest %q, want %q", c.name, d.Rest(), c.rest)
		}
		if d.Check(e, c.rec) != (c.err == nil) {
			t.Errorf("%s: Check says otherwise", c.name)
		}
	}
}

// TestEvents checks that records of one kind share an Event, and others do not.
func TestEvents(t *testing.T) {
	d := decode.New(nil, nil)
	var all []*decode.Event
	var records []*etw.Record
	// Many more than Decoder remembers without a map.
	for id := range uint16(1000) {
		for _, r := range []*etw.Record{
			{Provider: etw.GUID{1}, ID: id},
			{Provider: etw.GUID{1}, ID: id, Version: 1},
			{Provider: etw.GUID{1}, ID: id, Schema: &etw.EventDesc{}},
			{Provider: etw.GUID{1}, ID: id, Kind: etw.Message},
			{Provider: etw.GUID{2}, Opcode: uint8(id), Version: uint8(id >> 8), Kind: etw.Classic},
		} {
			records = append(records, r)
			all = append(all, d.Event(r))
		}
	}
	seen := make(map[*decode.Event]bool)
	for i, e := range all {
		if seen[e] {
			t.Fatalf("record %d shares an event", i)
		}
		seen[e] = true
		if e.Index != i {
			t.Errorf("event %d has index %d", i, e.Index)
		}
		again := *records[i]
		again.Payload, again.Keywords, again.Timestamp = []byte{1}, 5, 6
		if d.Event(&again) != e {
			t.Fatalf("record %d changes its event", i)
		}
	}
}

// TestNoteNamesVersions checks that an older description is called one.
func TestNoteNamesVersions(t *testing.T) {
	d := decode.New(manifests(), classes())
	e := d.Event(&etw.Record{Provider: acme.GUID, ID: 7, Version: 5})
	if want := "version 5 is not known: these are the fields of version 2"; e.Note != want {
		t.Errorf("note %q, want %q", e.Note, want)
	}
	if e.Task != "Make" || e.Opcode != "Start" || !strings.Contains(e.Name, "Made") {
		t.Errorf("%+v", e)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	d := decode.New(manifests(), classes())
	payload := bytes.Repeat([]byte{1, 0}, 20)
	for _, r := range []*etw.Record{
		{Provider: clr.Provider.Desc.GUID, ID: 1, Version: 2, Payload: payload, PointerSize: etw.Ptr64},
		{Provider: acme.GUID, ID: 7, Version: 2, Payload: payload, PointerSize: etw.Ptr64},
		{Provider: etw.GUID{1}, ID: 3, Payload: payload},
	} {
		d.Check(d.Event(r), r)
		if n := testing.AllocsPerRun(100, func() { d.Check(d.Event(r), r) }); n > 0 {
			t.Errorf("%s: %v allocations", d.Event(r).Name, n)
		}
	}
}

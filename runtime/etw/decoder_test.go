package etw_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	acme    = &etw.ProviderDesc{Name: "Acme", GUID: etw.MustParseGUID("11111111-2222-3333-4444-555555555555")}
	number  = []etw.FieldDesc{{Name: "Number", Type: etw.InUInt32}}
	numbers = append(number[:1:1], etw.FieldDesc{Name: "Text", Type: etw.InUnicodeString}, etw.FieldDesc{Name: "Tail", Type: etw.InUInt16})
)

// processClass is the class of process events of the kernel, acmeClass that of
// an event which Acme also writes in the classic form.
var (
	processClass = etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	acmeClass    = etw.MustParseGUID("22222222-2222-3333-4444-555555555555")
)

// manifests are descriptions without generated types.
func manifests() []*etw.Provider {
	kernel := &etw.ProviderDesc{Name: "Kernel"}
	return []*etw.Provider{
		{Desc: acme, Events: []*etw.EventDesc{
			{Provider: acme, ID: 7, Version: 2, Name: "Made", TaskName: "Make", OpcodeName: "Start", Fields: number},
			{Provider: acme, ID: 8, TaskName: "Nameless"},
			{Provider: acme, ID: 9, Version: 1, Class: acmeClass, Opcode: 5, Name: "Both", Fields: number},
		}},
		{Desc: kernel, Events: []*etw.EventDesc{
			{Provider: kernel, Kind: etw.KindClassic, Class: processClass, Version: 3, Opcode: 2, Name: "ProcessStop", TaskName: "Process", Fields: number},
		}},
	}
}

// classNames is a Decoder.Names as of a package that knows classes.
func classNames(r *etw.Record) (task, opcode string) {
	if r.Kind != etw.KindClassic || r.Provider != processClass {
		return "", ""
	}
	return "Process", r.Opcode.Name()
}

func newDecoder() *etw.Decoder {
	d := etw.NewDecoder(append([]*etw.Provider{clr.Provider}, manifests()...)...)
	d.Names = classNames
	return d
}

// Results for records, by the descriptions at hand.
func TestDecoder(t *testing.T) {
	gcPayload, err := (&clr.GCStartV2{Count: 3, Reason: clr.GCReasonInduced}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	longer := func(p []byte, more ...byte) []byte { return append(bytes.Clone(p), more...) }
	record := func(provider etw.GUID, id uint16, version uint8, payload ...byte) *etw.Record {
		return &etw.Record{Provider: provider, ID: id, Version: version, Payload: payload, PointerSize: etw.Ptr64}
	}
	runtime := func(id uint16, version uint8, payload []byte) *etw.Record {
		return record(clr.Provider.Desc.GUID, id, version, payload...)
	}
	classic := func(class etw.GUID, opcode etw.Opcode, version uint8, payload ...byte) *etw.Record {
		return &etw.Record{Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: version, Payload: payload}
	}
	withSchema := func(r *etw.Record, name string, fields []etw.FieldDesc) *etw.Record {
		r.Schema = &etw.EventDesc{ID: r.ID, Name: name, Fields: fields, Provider: &etw.ProviderDesc{Name: "From-The-Trace"}}
		return r
	}
	named := func(r *etw.Record, name string) *etw.Record {
		r.ProviderName = name
		return r
	}
	const (
		dotnet  = "Microsoft-Windows-DotNETRuntime"
		gcStart = "GCStart_V2"
		gcText  = "GCStart_V2 Count=3 Depth=0 Reason=Induced Type=NonConcurrentGC ClrInstanceID=0 ClientSequenceNumber=0"
		nobody  = "00000001-0000-0000-0000-000000000000"
	)
	for _, c := range []struct {
		name     string
		rec      *etw.Record
		basis    etw.Basis
		provider string
		event    string
		text     string
		rest     string
		err      error
	}{
		{"generated", runtime(1, 2, gcPayload), etw.BasisGenerated, dotnet, gcStart, gcText, "", nil},
		{"generated before schema", withSchema(runtime(1, 2, gcPayload), "Other", number), etw.BasisGenerated, dotnet, gcStart, gcText, "", nil},
		{"longer than its type", runtime(1, 2, longer(gcPayload, 9, 9)), etw.BasisGenerated, dotnet, gcStart, gcText, "\x09\x09", nil},
		{"cut off", runtime(1, 2, gcPayload[:10]), etw.BasisGenerated, dotnet, gcStart, "GCStart_V2 Count=3 Depth=0", "\x01\x00", etw.ErrTruncated},
		{"newer version", runtime(1, 9, longer(gcPayload, 1)), etw.BasisOlder, dotnet, gcStart, gcText, "\x01", nil},
		{"unknown event of a known provider", runtime(9999, 0, []byte{1}), etw.BasisNone, dotnet, "Event9999", "", "\x01", nil},
		{"schema", withSchema(record(acme.GUID, 1, 0, 5, 0, 0, 0), "Mine", number), etw.BasisSchema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema before manifest", withSchema(record(acme.GUID, 7, 2, 5, 0, 0, 0), "Mine", number), etw.BasisSchema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema before older version", withSchema(record(acme.GUID, 7, 3, 5, 0, 0, 0), "Mine", number), etw.BasisSchema, "From-The-Trace", "Mine", "Mine Number=5", "", nil},
		{"schema that does not fit", withSchema(record(acme.GUID, 1, 0, 5, 0, 0, 0, 'a', 0, 0, 0, 7), "Mine", numbers), etw.BasisSchema, "From-The-Trace", "Mine", "Mine Number=5 Text=a", "\x07", etw.ErrTruncated},
		{"schema without a name", withSchema(record(etw.GUID{1}, 3, 0), "", nil), etw.BasisSchema, "From-The-Trace", "Event3", "Event3", "", nil},
		{"manifest", record(acme.GUID, 7, 2, 6, 0, 0, 0), etw.BasisManifest, "Acme", "Made", "Made Number=6", "", nil},
		{"manifest that does not fit", record(acme.GUID, 7, 2, 6), etw.BasisManifest, "Acme", "Made", "Made", "\x06", etw.ErrTruncated},
		{"newer than the manifest", record(acme.GUID, 7, 3, 6, 0, 0, 0), etw.BasisOlder, "Acme", "Made", "Made Number=6", "", nil},
		{"older than the manifest", record(acme.GUID, 7, 1, 6), etw.BasisNone, "Acme", "Event7", "", "\x06", nil},
		{"no symbol", record(acme.GUID, 8, 0), etw.BasisManifest, "Acme", "Nameless", "Nameless", "", nil},
		{"unknown", record(etw.GUID{1}, 3, 0, 'x'), etw.BasisNone, nobody, "Event3", "", "x", nil},
		{"unknown event of a provider with a name", named(record(etw.GUID{1}, 3, 0), "Named"), etw.BasisNone, "Named", "Event3", "", "", nil},
		{"name of the record before that of the description", named(record(acme.GUID, 8, 0), "Named"), etw.BasisManifest, "Named", "Nameless", "Nameless", "", nil},
		{"classic", classic(processClass, 1, 0), etw.BasisNone, "Process", "Process/Start", "", "", nil},
		{"classic of a manifest", classic(processClass, 2, 3, 7, 0, 0, 0), etw.BasisManifest, "Kernel", "Process/Stop", "ProcessStop Number=7", "", nil},
		{"classic newer than the manifest", classic(processClass, 2, 4, 7, 0, 0, 0, 1), etw.BasisOlder, "Kernel", "Process/Stop", "ProcessStop Number=7", "\x01", nil},
		{"classic older than the manifest", classic(processClass, 2, 2), etw.BasisNone, "Process", "Process/Stop", "", "", nil},
		{"manifest event with the GUID of a class", record(processClass, 2, 3), etw.BasisNone, processClass.String(), "Event2", "", "", nil},
		{"opcode without a name", classic(processClass, 200, 0), etw.BasisNone, "Process", "Process/200", "", "", nil},
		{"unknown class", classic(etw.GUID{1}, 2, 0), etw.BasisNone, nobody, "Opcode2", "", "", nil},
		{"classic event with the GUID of a provider", classic(acme.GUID, 7, 2), etw.BasisNone, "Acme", "Opcode7", "", "", nil},
		{"event of two forms", record(acme.GUID, 9, 1, 1, 0, 0, 0), etw.BasisManifest, "Acme", "Both", "Both Number=1", "", nil},
		{"event of two forms, classic", classic(acmeClass, 5, 1, 1, 0, 0, 0), etw.BasisManifest, "Acme", "Both", "Both Number=1", "", nil},
		{"message", &etw.Record{Kind: etw.KindMessage, Provider: etw.GUID{1}, ID: 12}, etw.BasisNone, nobody, "Message12", "", "", nil},
	} {
		for _, d := range []*etw.Decoder{newDecoder(), newDecoder().Typed(clr.Types()...)} {
			e := d.Event(c.rec)
			if e.Basis != c.basis || e.Provider != c.provider || e.Name != c.event {
				t.Errorf("%s: basis %d, provider %q, event %q; want %d, %q, %q", c.name, e.Basis, e.Provider, e.Name, c.basis, c.provider, c.event)
			}
			if (e.Desc == nil) != (c.basis == etw.BasisNone) || (e.Note != "") != (c.basis == etw.BasisOlder) {
				t.Errorf("%s: description %v, note %q", c.name, e.Desc, e.Note)
			}
			values, err := d.Decode(c.rec)
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
		}
	}
}

// TestTyped: values are of the types that were given, and payloads that these cannot decode
// are decoded as far as it goes by the description.
func TestTyped(t *testing.T) {
	want := &clr.GCStartV2{Count: 3, Reason: clr.GCReasonInduced}
	payload := testio.Payload(t, want, etw.Ptr64)
	r := &etw.Record{Provider: clr.Provider.Desc.GUID, ID: 1, Version: 2, Payload: payload, PointerSize: etw.Ptr64}
	d := etw.NewDecoder(clr.Provider).Typed(new(clr.GCStartV2))
	values, err := d.Decode(r)
	if got, ok := values.(*clr.GCStartV2); !ok || *got != *want || err != nil {
		t.Errorf("decoded as %T %v, %v, want %v", values, values, err, want)
	}
	r.Payload = payload[:10]
	values, err = d.Decode(r)
	if _, ok := values.(*etw.Dynamic); !ok || !errors.Is(err, etw.ErrTruncated) {
		t.Errorf("what is cut off is decoded as %T, %v", values, err)
	}
	r.Version, r.Payload = 1, payload
	if values, err = d.Decode(r); err != nil {
		t.Fatal(err)
	} else if _, ok := values.(*etw.Dynamic); !ok {
		t.Errorf("another version is decoded as %T", values)
	}
}

// Records that are alike share an EventInfo, and others do not.
func TestDecoderEvents(t *testing.T) {
	d := etw.NewDecoder()
	var all []*etw.EventInfo
	var records []*etw.Record
	// Many more than a Decoder remembers without its map.
	for id := range uint16(1000) {
		for _, r := range []*etw.Record{
			{Provider: etw.GUID{1}, ID: id},
			{Provider: etw.GUID{1}, ID: id, Version: 1},
			{Provider: etw.GUID{1}, ID: id, Opcode: 1},
			{Provider: etw.GUID{1}, ID: id, Schema: &etw.EventDesc{}},
			{Provider: etw.GUID{1}, ID: id, Kind: etw.KindMessage},
			{Provider: etw.GUID{2}, Opcode: etw.Opcode(id), Version: uint8(id >> 8), Kind: etw.KindClassic},
		} {
			records = append(records, r)
			all = append(all, d.Event(r))
		}
	}
	seen := make(map[*etw.EventInfo]bool)
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

// The key of the zero Record must not be mistaken for an empty entry.
func TestDecoderOfZeroRecord(t *testing.T) {
	d := etw.NewDecoder()
	if e := d.Event(new(etw.Record)); e == nil || e.Name != "Event0" || d.Event(new(etw.Record)) != e {
		t.Errorf("the zero record is %+v", e)
	}
}

func TestDecoderNamesVersions(t *testing.T) {
	e := newDecoder().Event(&etw.Record{Provider: acme.GUID, ID: 7, Version: 5})
	if want := "version 5 is not known: these are the fields of version 2"; e.Note != want {
		t.Errorf("note %q, want %q", e.Note, want)
	}
	if e.Task != "Make" || e.Opcode != "Start" || e.Name != "Made" {
		t.Errorf("%+v", e)
	}
}

func TestDecoderAllocatesNothing(t *testing.T) {
	d := newDecoder()
	payload := bytes.Repeat([]byte{1, 0}, 20)
	schema := &etw.EventDesc{Fields: number}
	for _, r := range []*etw.Record{
		{Provider: clr.Provider.Desc.GUID, ID: 1, Version: 2, Payload: payload, PointerSize: etw.Ptr64},
		{Provider: acme.GUID, ID: 7, Version: 2, Payload: payload, PointerSize: etw.Ptr64},
		{Provider: acme.GUID, ID: 7, Version: 9, Payload: payload, PointerSize: etw.Ptr64},
		{Provider: etw.GUID{1}, Schema: schema, Payload: payload},
		{Provider: etw.GUID{1}, ID: 3, Payload: payload},
	} {
		decode := func() {
			if _, err := d.Decode(r); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		if n := testing.AllocsPerRun(100, decode); n > 0 {
			t.Errorf("%s: %v allocations", d.Event(r).Name, n)
		}
	}
}

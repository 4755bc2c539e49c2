package etw

import "testing"

// aSource is an EventSource with one event, as descriptions that are read at run time
// have it.
func aSource(fields ...FieldDesc) *Provider {
	desc := &ProviderDesc{Name: "A-Source", GUID: GUID{1}}
	return &Provider{Desc: desc, Events: []*EventDesc{{Provider: desc, ID: 1, Name: "Made", Fields: fields}}}
}

// recorded is the event as EventPipe has it: with a schema that has names and types alone.
func recorded(payload []byte, fields ...FieldDesc) *Record {
	return &Record{Kind: KindManifest, Provider: GUID{1}, ProviderName: "A-Source", ID: 1, PointerSize: 8, Payload: payload,
		Schema: &EventDesc{Name: "Made", Named: true, Fields: fields}}
}

// TestKnownOrSchema has a decoder choose between known descriptions and those of a trace.
func TestKnownOrSchema(t *testing.T) {
	color := &MapDesc{Name: "Color", Entries: []MapEntry{{1, "Red"}}}
	narrow, wide := FieldDesc{Name: "color", Type: InInt32}, FieldDesc{Name: "color", Type: InInt64}
	named := FieldDesc{Name: "Color", Type: InUInt32, Map: color}
	one := []byte{1, 0, 0, 0}
	for name, c := range map[string]struct {
		known     FieldDesc
		corrected bool
		payload   []byte
		want      Basis
		text      string
	}{
		"the same fields, with names of values": {named, false, one, BasisManifest, "Color=Red"},
		"other fields":                          {wide, false, one, BasisSchema, "color=1"},
		"another name":                          {FieldDesc{Name: "hue", Type: InInt32}, false, one, BasisSchema, "color=1"},
		"what is written in place of them":      {wide, true, append(one, 0, 0, 0, 0), BasisManifest, "color=1"},
	} {
		p := aSource(c.known)
		p.Events[0].Corrected = c.corrected
		d := NewDecoder(p)
		r := recorded(c.payload, narrow)
		values, err := d.Decode(r)
		if err != nil || len(d.Rest()) > 0 {
			t.Errorf("%s: %d bytes are left, %v", name, len(d.Rest()), err)
			continue
		}
		if got := string(AppendFieldsText(nil, values)); d.Event(r).Basis != c.want || got != c.text {
			t.Errorf("%s: %s by %s, want %s by %s", name, got, d.Event(r).Basis, c.text, c.want)
		}
		if s := d.Stats(); s != (DecoderStats{}) {
			t.Errorf("%s: it fell back: %+v", name, s)
		}
	}
}

// TestFind asks for a provider when its events come, and no more once it is known.
func TestFind(t *testing.T) {
	p := aSource(FieldDesc{Name: "color", Type: InInt32, Map: &MapDesc{Name: "Color", Entries: []MapEntry{{1, "Red"}}}})
	asked := 0
	d := NewDecoder()
	d.Find = func(r *Record) *Provider {
		asked++
		if r.ProviderName != p.Desc.Name {
			return nil
		}
		return p
	}
	r := recorded([]byte{1, 0, 0, 0}, FieldDesc{Name: "color", Type: InInt32})
	for range 3 {
		values, err := d.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendFieldsText(nil, values)); got != "color=Red" {
			t.Errorf("decoded %s", got)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked for %d times", asked)
	}
	other := recorded(nil)
	other.Schema.Name, other.ID = "Unmade", 2
	if e := d.Event(other); e.Basis != BasisSchema {
		t.Errorf("an event that the provider does not have is decoded by %s", e.Basis)
	}
	stranger := &Record{Kind: KindManifest, Provider: GUID{2}, ProviderName: "Another"}
	if e := d.Event(stranger); e.Basis != BasisNone || asked != 3 {
		t.Errorf("an event of another provider is decoded by %s, and %d were asked for", e.Basis, asked)
	}
}

// TestNegative names values of enumerations of 1 and 2 bytes that are negative.
func TestNegative(t *testing.T) {
	m := &MapDesc{Name: "Kind", Entries: []MapEntry{{0xffffffff, "Minus"}, {1, "One"}, {0xfffe, "Large"}, {0xfffffffe, "Less"}}}
	for _, c := range []struct {
		typ     InType
		payload []byte
		want    string
	}{
		{InUInt8, []byte{0xff}, "k=Minus"}, {InUInt8, []byte{1}, "k=One"}, {InUInt8, []byte{0xfd}, "k=253"},
		{InUInt16, []byte{0xff, 0xff}, "k=Minus"}, {InUInt16, []byte{0xfe, 0xff}, "k=Large"}, {InUInt16, []byte{0xff, 0}, "k=255"},
		{InUInt32, []byte{0xff, 0xff, 0xff, 0xff}, "k=Minus"}, {InUInt32, []byte{0xff, 0, 0, 0}, "k=255"},
	} {
		var d Dynamic
		_, err := d.Decode(&EventDesc{Fields: []FieldDesc{{Name: "k", Type: c.typ, Map: m}}}, c.payload, 8)
		if got := string(AppendFieldsText(nil, &d)); err != nil || got != c.want {
			t.Errorf("%s %x: %s, %v, want %s", c.typ, c.payload, got, err, c.want)
		}
	}
}

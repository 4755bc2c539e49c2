package etw_test

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/golden/selfdescribing/want"
	versions "github.com/etwgen/etwgen/tests/golden/versions/want"
)

// named returns a record of EventPipe: the trace names the event, and the provider.
func named(p *etw.ProviderDesc, id uint16, name string, payload []byte, fields ...etw.FieldDesc) *etw.Record {
	own := &etw.ProviderDesc{Name: p.Name, GUID: etw.GUID{1, 2, 3}} // made of the name
	return &etw.Record{
		Provider: own.GUID, ProviderName: own.Name, ID: id, PointerSize: etw.Ptr64, Payload: payload,
		Schema: &etw.EventDesc{Provider: own, ID: id, Name: name, Named: true, Fields: fields},
	}
}

func message(text string) []byte {
	b, _ := (&want.EventSourceMessage{Message: etw.MakeUTF16(text)}).AppendPayload(nil, etw.Ptr64)
	return b
}

// TestDispatchByName: events of a self-describing source go by their names, whatever
// their ids are.
func TestDispatchByName(t *testing.T) {
	var mux etw.Mux
	var got []string
	etw.Handle(&mux, func(r *etw.Record, e *want.EventSourceMessage) error {
		got = append(got, e.Message.String())
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *want.AnyEventSourceMessage) error {
		got = append(got, "any "+e.Message.String())
		return nil
	})
	p := want.Provider.Desc
	for _, r := range []*etw.Record{
		named(p, 700, "EventSourceMessage", message("a")),
		named(p, 0, "Other", message("b")),
		named(&etw.ProviderDesc{Name: "Another"}, 0, "EventSourceMessage", message("c")),
		{Provider: p.GUID, ID: 0, Payload: message("d"), PointerSize: etw.Ptr64},
	} {
		for range 2 {
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text := strings.Join(got, ","); text != "a,any a,a,any a" {
		t.Errorf("dispatched %s", text)
	}
	if s := mux.Stats(); s.Unhandled != 6 || s.OtherName != 0 {
		t.Errorf("stats %v", s)
	}
	d := etw.NewDecoder(want.Provider)
	if e := d.Event(named(p, 700, "EventSourceMessage", nil)); e.Basis != etw.BasisGenerated {
		t.Errorf("basis %v of an event that is known by its name", e.Basis)
	}
	if e := d.Event(named(p, 0, "Other", nil)); e.Basis != etw.BasisSchema {
		t.Errorf("basis %v of another event with a known id", e.Basis)
	}
}

// TestIDsOfOthers: where the trace names its events, one with the id of a known event
// and another name is another event.
func TestIDsOfOthers(t *testing.T) {
	known := versions.Provider.Events[0]
	var mux etw.Mux
	calls := 0
	etw.Handle(&mux, func(*etw.Record, *versions.AnyStart) error { calls++; return nil })
	if known.ID != 1 || known.Name != "Start" {
		t.Fatalf("the first event is %+v", known)
	}
	payload := make([]byte, 64)
	for name, want := range map[string]int{"Start": 1, "Start_V1": 1, "start": 1, "": 1, "Dynamic": 0, "Started": 0} {
		calls = 0
		before := mux.Stats().OtherName
		if err := mux.Dispatch(named(versions.Provider.Desc, 1, name, payload)); err != nil {
			t.Fatal(err)
		}
		if other := int(mux.Stats().OtherName - before); calls != want || other != 1-want {
			t.Errorf("%q: %d calls, %d of another name; want %d", name, calls, other, want)
		}
	}
	// The name of an event by etwgen import says more than the trace, and never less.
	for symbol, trace := range map[string]string{"V3_V3": "V3", "Done_1": "Done", "Event_1": "Event1", "!V5": "V3", "!Done_2": "Done"} {
		symbol, no := strings.CutPrefix(symbol, "!")
		desc := &etw.EventDesc{Provider: versions.Provider.Desc, ID: 1, Name: symbol}
		registry := etw.NewRegistry(&etw.Provider{Desc: desc.Provider, Events: []*etw.EventDesc{desc}})
		if got := registry.Of(named(desc.Provider, 1, trace, nil)); (got == nil) != no {
			t.Errorf("%s is %v for %s", trace, got, symbol)
		}
	}
	// A handler that comes later is found, too.
	r := named(versions.Provider.Desc, 1, "Dynamic", payload)
	mux.Dispatch(r)
	calls = 0
	r.Schema.Name = "Start"
	etw.Handle(&mux, func(*etw.Record, *versions.AnyStart) error { calls++; return nil })
	if mux.Dispatch(r); calls != 2 {
		t.Errorf("%d calls", calls)
	}
	if n := testing.AllocsPerRun(10, func() { mux.Dispatch(r) }); n != 0 {
		t.Errorf("dispatch by name allocates %v times", n)
	}
}

// TestFallback: a payload that the declared layout does not take exactly is decoded by
// another one that does.
func TestFallback(t *testing.T) {
	field := func(name string, in etw.InType) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: in} }
	binary := etw.FieldDesc{Name: "data", Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeField}}
	list := func(f ...etw.FieldDesc) []etw.FieldDesc { return f }
	wide := etw.DecoderStats{Widened: 1}
	widest := etw.DecoderStats{Widest: 1}
	narrow := etw.DecoderStats{Narrowed: 1}
	none := etw.DecoderStats{Unfitting: 1}
	for _, tt := range []struct {
		name    string
		fields  []etw.FieldDesc
		payload string
		want    string
		stats   etw.DecoderStats
		rest    int
	}{
		{"it fits", list(field("a", etw.InInt32), field("b", etw.InInt32)), "\x01\x00\x00\x00\x02\x00\x00\x00", "a=1 b=2", etw.DecoderStats{}, 0},
		{"bytes", list(field("a", etw.InUInt8), field("b", etw.InUInt8)), "\x05\x00\x00\x00\x06\x00\x00\x00", "a=5 b=6", wide, 0},
		{"negative", list(field("a", etw.InInt16)), "\xfe\xff\xff\xff", "a=-2", wide, 0},
		{"long", list(field("a", etw.InInt32), field("b", etw.InInt64)), "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00", "a=1 b=2", widest, 0},
		{"no strings", list(field("a", etw.InInt32), field("s", etw.InUnicodeString)), "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", "a=1 s=\"\"", none, 4},
		{"Boolean", list(field("s", etw.InUnicodeString), field("b", etw.InBoolean)), "p\x00\x00\x00\x01", "s=p b=true", narrow, 0},
		{"cut string that passes", list(field("b", etw.InBoolean), field("s", etw.InUnicodeString)), "\x01p\x00q\x00r\x00\x00\x00", "b=true s=pqr", narrow, 0},
		{"binary", list(field("size", etw.InUInt32), binary), "\x02\x00\xab\xcd", "data=abcd", narrow, 0},
		{"nothing fits", list(field("a", etw.InInt32)), "\x01\x00\x00\x00\x02", "a=1", none, 1},
		{"no fields", nil, "\x01", "", none, 1},
	} {
		d := etw.NewDecoder()
		r := named(want.Provider.Desc, 9, "E", []byte(tt.payload), tt.fields...)
		values, err := d.Decode(r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		text := strings.TrimPrefix(string(etw.AppendText(nil, values)), "E")
		if got := strings.TrimSpace(text); got != tt.want || d.Stats() != tt.stats || len(d.Rest()) != tt.rest {
			t.Errorf("%s: %s, %+v, %d bytes left; want %s, %+v, %d", tt.name, got, d.Stats(), len(d.Rest()), tt.want, tt.stats, tt.rest)
		}
		if n := testing.AllocsPerRun(10, func() { d.Decode(r) }); n != 0 {
			t.Errorf("%s: decoding allocates %v times", tt.name, n)
		}
		// Of events that the trace does not name the declared layout is all there is.
		r.Schema.Named = false
		before := d.Stats()
		if d.Decode(r); d.Stats() != before {
			t.Errorf("%s: an event without a name is decoded by another layout", tt.name)
		}
	}
}

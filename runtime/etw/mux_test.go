package etw

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

var (
	payloadV0 = payload(uint32(7))
	payloadV1 = payload(uint32(8), "name", uint8(1))
)

func TestMux(t *testing.T) {
	var m Mux
	var got []string
	log := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	Handle(&m, func(_ *Record, e *start) error { log("v0 %d", e.Count); return nil })
	Handle(&m, func(_ *Record, e *startV1) error { log("v1 %d %v", e.Count, e.Name); return nil })
	Handle(&m, func(_ *Record, e *startV1) error { log("v1 again"); return nil })
	Handle(&m, func(_ *Record, e *anyStart) error {
		log("any %d of %d, newer %v", e.Count, e.Seen.Version, e.Seen.Newer())
		return nil
	})
	m.HandleRest(func(r *Record) error { log("rest %d", r.ID); return nil })
	m.HandleRest(func(r *Record) error { log("also %d", r.ID); return nil })
	m.HandleUndecodable(func(_ *Record, err error) error { log("%v", err); return nil })

	other := testRecord(0, nil)
	other.Provider = GUID{}
	unknown := testRecord(0, nil)
	unknown.ID = 0x201
	classic := testRecord(0, payloadV0)
	classic.Kind, classic.Opcode = KindClassic, 1
	for _, r := range []*Record{testRecord(0, payloadV0), testRecord(1, payloadV1), testRecord(9, payloadV1), testRecord(1, payloadV1[:6]),
		other, unknown, classic} {
		if err := m.Dispatch(r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"v0 7", "any 7 of 0, newer false", "v1 8 name", "v1 again", "any 8 of 1, newer false", "any 8 of 9, newer true",
		"etw: decode Start_V1.Name at offset 4 of 6: truncated payload: unexpected EOF", "rest 1", "also 1", "rest 513", "also 513", "rest 1", "also 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	stats := m.Stats()
	if stats.Records != 7 || stats.Unhandled != 3 || stats.Undecodable != 1 || stats.Newer != 1 || !errors.Is(stats.FirstError, ErrTruncated) {
		t.Errorf("stats are %+v", stats)
	}
}

// A part shared by handlers is made once for each mux, and learns of a record before those who
// ask.
func TestShared(t *testing.T) {
	type learnt struct{ id uint16 }
	begin := func(m *Mux) *learnt {
		l := new(learnt)
		m.HandleRest(func(r *Record) error { l.id = r.ID; return nil })
		return l
	}
	var m Mux
	for range 2 {
		l := Shared(&m, begin)
		m.HandleRest(func(r *Record) error {
			if l.id != r.ID {
				t.Errorf("asked of %d, it knows %d", r.ID, l.id)
			}
			return io.EOF
		})
	}
	r := testRecord(0, nil)
	r.ID = 7
	if err := m.Dispatch(r); err != io.EOF || len(m.rest) != 3 {
		t.Errorf("got %v of %d functions", err, len(m.rest))
	}
	if Shared(new(Mux), begin) == Shared(&m, begin) {
		t.Error("two muxes share it")
	}
}

func TestMuxErrors(t *testing.T) {
	var m Mux
	Handle(&m, func(*Record, *start) error { return io.EOF })
	Handle(&m, func(*Record, *anyStart) error { return io.ErrClosedPipe })
	if err := m.Dispatch(testRecord(0, payloadV0)); err != io.EOF {
		t.Errorf("got %v from a handler of one version", err)
	}
	if err := m.Dispatch(testRecord(1, payloadV1)); err != io.ErrClosedPipe {
		t.Errorf("got %v from a handler of all versions", err)
	}
	// Undecodable records are counted, with or without a function for them.
	for range 2 {
		if err := m.Dispatch(testRecord(0, nil)); err != nil {
			t.Errorf("got %v from an undecodable record", err)
		}
	}
	if err := m.Dispatch(testRecord(1, nil)); err != nil || m.Stats().Undecodable != 3 {
		t.Errorf("got %v, %+v", err, m.Stats())
	}
	m.HandleUndecodable(func(_ *Record, err error) error { return err })
	if err := m.Dispatch(testRecord(0, nil)); !errors.Is(err, ErrTruncated) {
		t.Errorf("got %v", err)
	}
	other := testRecord(3, nil)
	other.ID = 3
	if err := m.Dispatch(other); err != nil {
		t.Errorf("got %v for a record without a handler", err)
	}
	refuses(t, "a type that is no event", func() { Handle(&m, func(*Record, *notAnEvent) error { return nil }) })
	refuses(t, "an interface", func() { Handle(&m, func(*Record, Event) error { return nil }) })
	refuses(t, "no function", func() { Handle[*start](&m, nil) })
}

// refuses checks that call panics, as a registration by mistake does.
func refuses(t *testing.T, of string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("Handle took %s", of)
		}
	}()
	call()
}

// Records that may have been decoded wrongly are counted, each once.
func TestMuxDoubts(t *testing.T) {
	var m Mux
	for range 2 {
		Handle(&m, func(*Record, *start) error { return nil })
		Handle(&m, func(*Record, *anyStart) error { return nil })
	}
	longer := testRecord(0, append(slices.Clone(payloadV0), 1))
	newer := testRecord(9, append(slices.Clone(payloadV1), 1))
	sizeless := testRecord(0, payloadV0)
	sizeless.PointerSize = 7
	for _, r := range []*Record{longer, newer, sizeless, testRecord(0, payloadV0)} {
		if err := m.Dispatch(r); err != nil {
			t.Fatal(err)
		}
	}
	if s := m.Stats(); s.Longer != 1 || s.Sizeless != 1 || s.Newer != 1 || !strings.Contains(s.String(), "1 longer than their event, 1 without a size of pointers") {
		t.Errorf("stats are %v", s)
	}
}

type notAnEvent struct{ Described }

func TestEnablement(t *testing.T) {
	var m Mux
	if got := m.Enablement(); len(got) != 0 {
		t.Errorf("an empty mux needs %v", got)
	}
	Handle(&m, func(*Record, *start) error { return nil })
	want := []Enable{{testProvider, 1, 4}}
	if got := m.Enablement(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	Handle(&m, func(*Record, *anyStart) error { return nil })
	want = []Enable{{testProvider, 3, 5}}
	if got := m.Enablement(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDispatchDoesNotAllocate(t *testing.T) {
	var m Mux
	sum := 0
	Handle(&m, func(_ *Record, e *startV1) error { sum += int(e.Count); return nil })
	Handle(&m, func(_ *Record, e *anyStart) error { sum += e.Name.Len(); return nil })
	v0, v1 := testRecord(0, payloadV0), testRecord(1, payloadV1)
	allocs := testing.AllocsPerRun(100, func() {
		if m.Dispatch(v0) != nil || m.Dispatch(v1) != nil {
			t.Error("dispatch failed")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestRegistry(t *testing.T) {
	g := NewRegistry(testEvents)
	if len(g.Providers()) != 1 {
		t.Error("no provider")
	}
	if got := g.Lookup(startV1Desc.Key()); got != &startV1Desc {
		t.Errorf("Lookup = %v", got)
	}
	newer := Key{KindManifest, testProvider.GUID, 1, 7}
	if got := g.Lookup(newer); got != nil {
		t.Errorf("Lookup of a newer version = %v", got)
	}
	if got := g.Newest(newer); got != &startV1Desc {
		t.Errorf("Newest = %v", got)
	}
	if g.Lookup(Key{}) != nil || g.Newest(Key{}) != nil {
		t.Error("found an unknown provider")
	}
	if k := (&EventDesc{ID: 3}).Key(); k != (Key{ID: 3}) {
		t.Errorf("key without a provider is %v", k)
	}
}

func TestClone(t *testing.T) {
	r := testRecord(1, slices.Clone(payloadV1))
	r.Stack = Stack{MakeInts[uint64](1), Ptr64}
	r.Extended = []ExtendedItem{{ExtEventKey, []byte{1}}}
	c := r.Clone()
	r.Payload[0], r.Stack.Addresses[0], r.Extended[0].Data[0] = 0xff, 0xff, 0xff
	if c.Payload[0] != 8 || c.Stack.At(0) != 1 || c.Extended[0].Data[0] != 1 {
		t.Error("the clone shares memory")
	}
	if c.Key() != (Key{KindManifest, testProvider.GUID, 1, 1}) {
		t.Errorf("key is %v", c.Key())
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{KindManifest: "manifest", KindClassic: "classic", KindMessage: "message", 9: "unknown"} {
		if got := k.String(); got != want {
			t.Errorf("%d is %q, want %q", k, got, want)
		}
	}
}

// moved is an event that two versions have, which its provider also writes in the
// classic form, with an opcode of its own for each.
var (
	movedClass = MustParseGUID("99998888-3333-4444-5555-666677778888")
	movedV0    = EventDesc{Provider: testProvider, Class: movedClass, ID: 2, Version: 0, Opcode: 10, Fields: startV0.Fields}
	movedV1    = EventDesc{Provider: testProvider, Class: movedClass, ID: 2, Version: 1, Opcode: 20, Fields: startV0.Fields}
)

type moved0 struct{ start }

func (*moved0) EventDesc() *EventDesc { return &movedV0 }

type anyMoved struct {
	start
	seen uint8
}

func (*anyMoved) EventDesc() *EventDesc    { return &movedV1 }
func (*anyMoved) EventDescs() []*EventDesc { return []*EventDesc{&movedV0, &movedV1} }

func (e *anyMoved) DecodeVersion(version uint8, p []byte, ptr PtrSize) (int, error) {
	e.seen = version
	return e.DecodePayload(p, ptr)
}

func classicRecord(opcode Opcode, version uint8) *Record {
	return &Record{Kind: KindClassic, Provider: movedClass, Opcode: opcode, Version: version, Payload: payloadV0}
}

// An event of two forms reaches its handlers in both.
func TestMuxOfClassicEvents(t *testing.T) {
	var m Mux
	var got []string
	Handle(&m, func(r *Record, e *anyMoved) error {
		got = append(got, fmt.Sprintf("any %v %d", r.Kind, e.seen))
		return nil
	})
	Handle(&m, func(r *Record, e *moved0) error {
		got = append(got, fmt.Sprintf("exact %v %s", r.Kind, r.ProviderName))
		return nil
	})
	manifest := func(version uint8) *Record {
		r := testRecord(version, payloadV0)
		r.ID, r.ProviderName = 2, "Named"
		return r
	}
	for _, r := range []*Record{
		manifest(0), manifest(1), manifest(2),
		classicRecord(10, 0), classicRecord(20, 1), classicRecord(20, 5),
		classicRecord(30, 0), // an opcode that no version has
	} {
		if err := m.Dispatch(r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"any manifest 0", "exact manifest Named", "any manifest 1", "any manifest 2",
		"any classic 0", "exact classic Test-Provider", "any classic 1", "any classic 5"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if s := m.Stats(); s.Newer != 2 || s.Unhandled != 1 || s.Records != 7 {
		t.Errorf("stats are %v", s)
	}
}

// Handlers run in the order in which they were registered, whether they take one
// version or all.
func TestMuxOrder(t *testing.T) {
	var m Mux
	var got []int
	add := func(i int) error { got = append(got, i); return nil }
	Handle(&m, func(*Record, *anyStart) error { return add(1) })
	Handle(&m, func(*Record, *startV1) error { return add(2) })
	Handle(&m, func(*Record, *anyStart) error { return add(3) })
	Handle(&m, func(*Record, *start) error { return add(4) })
	Handle(&m, func(*Record, *startV1) error { return add(5) })
	for version, want := range [][]int{{1, 3, 4}, {1, 2, 3, 5}, {1, 3}} {
		got = nil
		r := testRecord(uint8(version), payloadV1)
		if version == 0 {
			r.Payload = payloadV0
		}
		if err := m.Dispatch(r); err != nil || !slices.Equal(got, want) {
			t.Errorf("version %d: handlers %v, %v; want %v", version, got, err, want)
		}
	}
	if s := m.Stats(); s.Newer != 1 {
		t.Errorf("stats are %v", s)
	}
	var exact Mux
	Handle(&exact, func(*Record, *start) error { return add(6) })
	if got = nil; exact.Dispatch(testRecord(2, payloadV0)) != nil || len(got) > 0 || exact.Stats().Unhandled != 1 {
		t.Errorf("a handler of one version took another: %v", exact.Stats())
	}
}

func TestRegistryOfClassicEvents(t *testing.T) {
	kernel := &ProviderDesc{Name: "Kernel"}
	stop := &EventDesc{Provider: kernel, Kind: KindClassic, Class: movedClass, ID: 99, Version: 2, Opcode: 40}
	again := movedV1
	g := NewRegistry(&Provider{Desc: testProvider, Events: []*EventDesc{&movedV0, &movedV1, &again}}, &Provider{Desc: kernel, Events: []*EventDesc{stop}})
	for _, test := range []struct {
		key             Key
		exactly, newest *EventDesc
	}{
		{Key{KindManifest, testProvider.GUID, 2, 1}, &movedV1, &movedV1}, // the first of two
		{Key{KindManifest, testProvider.GUID, 2, 9}, nil, &movedV1},
		{classicRecord(10, 0).Key(), &movedV0, &movedV0},
		{classicRecord(20, 1).Key(), &movedV1, &movedV1},
		{classicRecord(20, 0).Key(), nil, nil},
		{classicRecord(10, 1).Key(), nil, &movedV0},
		{stop.Key(), stop, stop},
		{Key{KindClassic, movedClass, 40, 3}, nil, stop},
		{Key{KindClassic, movedClass, 99, 2}, nil, nil},
		{Key{KindManifest, movedClass, 40, 2}, nil, nil},
	} {
		if got := g.Lookup(test.key); got != test.exactly {
			t.Errorf("%v is %+v, want %+v", test.key, got, test.exactly)
		}
		if got := g.Newest(test.key); got != test.newest {
			t.Errorf("newest of %v is %+v, want %+v", test.key, got, test.newest)
		}
	}
	if g.Name(testProvider.GUID) != "Test-Provider" || g.Name(GUID{9}) != "" {
		t.Error("names are wrong")
	}
}

func BenchmarkDispatch(b *testing.B) {
	r := testRecord(0, payloadV0)
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		var e start
		for b.Loop() {
			if _, err := e.DecodePayload(r.Payload, r.PointerSize); err != nil {
				b.Fatal(err)
			}
		}
	})
	dispatch := func(m *Mux, records ...*Record) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := m.Dispatch(records[i]); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(records) {
					i = 0
				}
			}
		}
	}
	var one Mux
	sum := uint32(0)
	Handle(&one, func(_ *Record, e *start) error { sum += e.Count; return nil })
	b.Run("mux", dispatch(&one, r))

	// 50 providers with 20 events each, in turn.
	var many Mux
	var handled, unhandled []*Record
	for _, g := range similarGUIDs(50, 0) {
		p := &ProviderDesc{GUID: g}
		for id := range uint16(20) {
			e := new(start)
			many.exact(&EventDesc{Provider: p, ID: id}, func(r *Record) error {
				_, err := e.DecodePayload(r.Payload, r.PointerSize)
				return err
			})
			handled = append(handled, &Record{Provider: g, ID: id, Payload: payloadV0})
			unhandled = append(unhandled, &Record{Provider: g, ID: id + 100, Payload: payloadV0})
		}
	}
	b.Run("50 providers", dispatch(&many, handled...))
	b.Run("50 providers, unhandled", dispatch(&many, unhandled...))
}

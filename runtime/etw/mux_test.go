package etw

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
	m.HandleUndecodable(func(_ *Record, err error) error { log("%v", err); return nil })

	other := testRecord(0, nil)
	other.Provider = GUID{}
	unknown := testRecord(0, nil)
	unknown.ID = 0x201
	classic := testRecord(0, payloadV0)
	classic.Kind = Classic
	for _, r := range []*Record{testRecord(0, payloadV0), testRecord(1, payloadV1), testRecord(9, payloadV1), testRecord(1, payloadV1[:6]),
		other, unknown, classic} {
		if err := m.Dispatch(r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"v0 7", "any 7 of 0, newer false", "v1 8 name", "v1 again", "any 8 of 1, newer false", "any 8 of 9, newer true",
		"etw: decode Start_V1.Name at offset 4 of 6: truncated payload: unexpected EOF", "rest 1", "rest 513", "rest 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	stats := m.Stats()
	if stats.Records != 7 || stats.Unhandled != 3 || stats.Undecodable != 1 || !errors.Is(stats.FirstError, ErrTruncated) {
		t.Errorf("stats are %+v", stats)
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
	defer func() {
		if recover() == nil {
			t.Error("Handle took a type that is no event")
		}
	}()
	Handle(&m, func(*Record, *notAnEvent) error { return nil })
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
	newer := Key{testProvider.GUID, 1, 7}
	if got := g.Lookup(newer); got != nil {
		t.Errorf("Lookup of a newer version = %v", got)
	}
	if got := g.Newest(newer); got != &startV1Desc {
		t.Errorf("Newest = %v", got)
	}
	if g.Lookup(Key{}) != nil || g.Newest(Key{}) != nil {
		t.Error("found an unknown provider")
	}
	e, n, err := g.Decode(testRecord(1, payloadV1))
	if err != nil || n != len(payloadV1) {
		t.Fatalf("Decode = %v, %d, %v", e, n, err)
	}
	if got := string(AppendText(nil, e)); got != "Start_V1 Count=8 Name=name Color=Green" {
		t.Errorf("decoded %s", got)
	}
	if _, _, err := g.Decode(testRecord(1, nil)); !errors.Is(err, ErrTruncated) {
		t.Errorf("an empty payload gives %v", err)
	}
	classic := testRecord(1, payloadV1)
	classic.Kind = Classic
	other := testRecord(1, payloadV1)
	other.Provider = GUID{}
	for _, r := range []*Record{testRecord(9, payloadV1), classic, other} {
		if e, n, err := g.Decode(r); e != nil || n != 0 || err != nil {
			t.Errorf("decoded %v, %d, %v", e, n, err)
		}
	}
	r := testRecord(1, payloadV1)
	if allocs := testing.AllocsPerRun(100, func() { g.Decode(r) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
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
	if c.Key() != (Key{testProvider.GUID, 1, 1}) {
		t.Errorf("key is %v", c.Key())
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{Manifest: "manifest", Classic: "classic", Message: "message", 9: "unknown"} {
		if got := k.String(); got != want {
			t.Errorf("%d is %q, want %q", k, got, want)
		}
	}
}

func BenchmarkDispatch(b *testing.B) {
	var m Mux
	sum := uint32(0)
	Handle(&m, func(_ *Record, e *start) error { sum += e.Count; return nil })
	r := testRecord(0, payloadV0)
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		var e start
		for b.Loop() {
			if _, err := e.DecodePayload(r.Payload, r.PointerSize); err != nil {
				b.Fatal(err)
			}
			sum += e.Count
		}
	})
	b.Run("mux", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Dispatch(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

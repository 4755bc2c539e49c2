package etwtest

import (
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A sample is an event as etwgen generates them: a number, a string and an
// array. Its fault is what the tests of this package must find.
type sample struct {
	N      uint32
	Name   etw.UTF16
	Values etw.Uint16s
}

// fault is what is wrong with samples at the moment.
var fault string

var sampleDesc = etw.EventDesc{
	Provider: &etw.ProviderDesc{Name: "Sample", GUID: etw.GUID{1}},
	ID:       1,
	Name:     "Sample",
	Fields: []etw.FieldDesc{
		{Name: "N", Type: etw.InUInt32},
		{Name: "Name", Type: etw.InUnicodeString},
		{Name: "Values", Type: etw.InUInt16, Count: etw.Size{Kind: etw.SizeField}},
	},
	New: func() etw.Event { return new(sample) },
}

var (
	kept    []byte
	decodes int
)

func (*sample) EventDesc() *etw.EventDesc { return &sampleDesc }

func (e *sample) DecodePayload(p []byte, ptr etw.PtrSize) (int, error) {
	if fault == "decodes nothing" {
		return 0, etw.Short(&sampleDesc, nil, ptr)
	}
	if len(p) < 4 {
		if fault == "ignores the end" {
			return len(p), nil
		}
		return 0, etw.Short(&sampleDesc, p, ptr)
	}
	e.N = binary.LittleEndian.Uint32(p)
	r := etw.NewReader(p, 4, ptr)
	e.Name = r.UTF16()
	e.Values = r.Uint16s(uint64(e.N))
	n, err := r.Done(&sampleDesc)
	switch {
	case fault == "reads another value" && len(e.Values) > 0:
		e.N++
	case fault == "reads less":
		n--
	case fault == "reads more":
		n++
	case fault == "other error" && err != nil:
		err = etw.ErrSchema
	case fault == "takes all":
		n = len(p)
	case fault == "forgets":
		if decodes++; decodes%2 == 0 {
			e.Name = nil
		}
	case fault == "allocates":
		kept = make([]byte, len(p))
	}
	return n, err
}

func (e *sample) AppendPayload(b []byte, ptr etw.PtrSize) ([]byte, error) {
	w := etw.NewWriter(b, ptr)
	if fault == "encodes nothing" {
		w.Fail(0, etw.ErrCount)
	}
	w.Uint32(e.N)
	w.UTF16Z(1, e.Name)
	w.Uint16s(2, e.Values, uint64(e.N))
	b, err := w.Done(&sampleDesc)
	if fault == "writes another value" {
		b[len(b)-1] ^= 1
	}
	return b, err
}

func (e *sample) FieldValue(i int) etw.Value {
	switch i {
	case 0:
		return etw.UintValue(uint64(e.N))
	case 1:
		return etw.UTF16Value(e.Name)
	case 2:
		if fault == "shows another value" {
			return etw.ArrayValue(&sampleDesc.Fields[2], nil, 0, 0, e)
		}
		return etw.ArrayValue(&sampleDesc.Fields[2], e.Values, e.Values.Len(), 0, e)
	}
	return etw.Value{}
}

func (e *sample) String() string { return string(etw.AppendText(nil, e)) }

func (e *sample) MarshalJSON() ([]byte, error) {
	if fault == "invalid JSON" {
		return nil, nil
	}
	return etw.AppendJSON(nil, e)
}

// TestFaults checks that each fault of an event is found, and that one without
// faults passes.
func TestFaults(t *testing.T) {
	anyPayload := func(f func(*etw.EventDesc, etw.PtrSize, []byte) error) func() error {
		return func() error {
			for seed := range uint64(variations) {
				if err := f(&sampleDesc, etw.Ptr64, Payload(&sampleDesc, etw.Ptr64, seed)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	checks := map[string]func() error{
		"RoundTrip": anyPayload(roundTrip),
		"Truncate":  func() error { return truncate(&sampleDesc, etw.Ptr64) },
		"Fuzz":      anyPayload(check),
	}
	tests := []struct{ fault, by, want string }{
		{"ignores the end", "Truncate", "dynamic decoder disagrees"},
		{"other error", "Truncate", "not a DecodeError"},
		{"reads another value", "RoundTrip", "field N is"},
		{"reads another value", "Fuzz", "field N is"},
		{"reads less", "RoundTrip", "read "},
		{"reads more", "RoundTrip", "read "},
		{"reads more", "Fuzz", "dynamic decoder read"},
		{"writes another value", "RoundTrip", "encoded as"},
		{"writes another value", "Fuzz", "encoded as"},
		{"shows another value", "RoundTrip", "field Values is"},
		{"invalid JSON", "RoundTrip", "JSON"},
		{"encodes nothing", "Fuzz", "what was decoded does not encode"},
		{"takes all", "RoundTrip", "of a longer payload read"},
		{"forgets", "RoundTrip", "decoded again as"},
	}
	defer func() { fault = "" }()
	for _, tt := range tests {
		fault = tt.fault
		if err := checks[tt.by](); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of an event that %s: %v, want %q", tt.by, tt.fault, err, tt.want)
		}
	}
	fault = ""
	for name, f := range checks {
		if err := f(); err != nil {
			t.Errorf("%s of a good event: %v", name, err)
		}
	}
	provider := &etw.Provider{Desc: sampleDesc.Provider, Events: []*etw.EventDesc{&sampleDesc}}
	RoundTrip(t, provider)
	Truncate(t, provider)
	Allocs(t, provider)
	AllocsOf(t, func(e *sample) {
		for range e.Values.All() {
		}
	})
}

// A liar is an array with fewer elements than it says.
type liar struct{}

func (liar) Len() int                { return 2 }
func (liar) All() iter.Seq[struct{}] { return func(yield func(struct{}) bool) { yield(struct{}{}) } }

func TestCountElements(t *testing.T) {
	type inner struct{ Values liar }
	event := struct {
		N     int
		Inner inner
	}{}
	if err := countElements(reflect.ValueOf(event)); err == nil || err.Error() != "Values has 1 elements, Len says 2" {
		t.Errorf("error %v", err)
	}
}

// A recorder is a test that may fail.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// TestReports checks what a user sees of a fault.
func TestReports(t *testing.T) {
	provider := &etw.Provider{Desc: sampleDesc.Provider, Events: []*etw.EventDesc{&sampleDesc}}
	other := sampleDesc
	other.Version = 1
	defer func() { fault = "" }()
	for _, tt := range []struct {
		fault string
		run   func(testing.TB)
		want  string
	}{
		{"reads less", func(t testing.TB) { RoundTrip(t, provider) }, "Sample (1.0, 8-byte pointers), seed 0: read 5 of 6 bytes"},
		{"ignores the end", func(t testing.TB) { Truncate(t, provider) }, "Sample (1.0, 4-byte pointers): seed 0, 0 of 6 bytes: the dynamic decoder disagrees"},
		{"allocates", func(t testing.TB) { Allocs(t, provider) }, "Sample (1.0, 4-byte pointers): decoding allocates 1 times"},
		{"allocates", func(t testing.TB) { AllocsOf[sample](t, nil) }, "Sample (1.0, 4-byte pointers): dispatch allocates 1 times"},
		{"decodes nothing", func(t testing.TB) { AllocsOf[sample](t, nil) }, "Sample (1.0, 4-byte pointers): not dispatched: etw: decode Sample"},
		{"encodes nothing", func(t testing.TB) { RoundTrip(t, provider) }, "Sample (1.0, 4-byte pointers), seed 0: etw: encode Sample.N"},
		{"", func(t testing.TB) {
			RoundTrip(t, &etw.Provider{Desc: other.Provider, Events: []*etw.EventDesc{&other}})
		}, "Sample (1.1, 4-byte pointers), seed 0: the description makes an event of Sample 1.0"},
	} {
		fault = tt.fault
		r := &recorder{TB: t}
		tt.run(r)
		if !slices.ContainsFunc(r.errors, func(e string) bool { return strings.HasPrefix(e, tt.want) }) {
			t.Errorf("an event that %s: reported %q, want %q", tt.fault, r.errors, tt.want)
		}
	}
}

// TestPayload checks what payloads are made of.
func TestPayload(t *testing.T) {
	if got := Payload(&sampleDesc, etw.Ptr64, 0); string(got) != "\x00\x00\x00\x00\x00\x00" {
		t.Errorf("seed 0 makes %x, want nothing but zeros", got)
	}
	counts := make(map[uint32]bool)
	for seed := range uint64(50) {
		p := Payload(&sampleDesc, etw.Ptr64, seed)
		if string(p) != string(Payload(&sampleDesc, etw.Ptr64, seed)) {
			t.Fatalf("seed %d makes two payloads", seed)
		}
		counts[binary.LittleEndian.Uint32(p)] = true
	}
	if len(counts) < 4 {
		t.Errorf("counts are only %v", counts)
	}
}

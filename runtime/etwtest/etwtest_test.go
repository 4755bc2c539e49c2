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

// A sample is an event as etwgen generates them: a number, a string and an array. The tests
// of this package must find its fault.
type sample struct {
	N      uint32
	Name   etw.UTF16
	Values etw.Uint16s
}

// fault is the present fault of samples.
var fault string

var sampleDesc = etw.EventDesc{
	Provider: &etw.ProviderDesc{Name: "Sample", GUID: etw.GUID{1}, Generated: true},
	ID:       1,
	Name:     "Sample",
	Fields: []etw.FieldDesc{
		{Name: "N", Type: etw.InUInt32},
		{Name: "Name", Type: etw.InUnicodeString},
		{Name: "Values", Type: etw.InUInt16, Count: etw.Size{Kind: etw.SizeField}},
	},
}

func FuzzSample(f *testing.F) { Fuzz(f, new(sample)) }

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
	r := etw.NewCursor(p, 4, ptr)
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
	case fault == "blames a SID" && err != nil:
		err = &etw.DecodeError{Event: &sampleDesc, Field: "N", Len: len(p), Err: etw.ErrSID}
	case fault == "blames nothing" && err != nil:
		err = &etw.DecodeError{Event: &sampleDesc, Len: len(p), Err: etw.ErrTruncated}
	case fault == "looks ahead" && n < len(p):
		e.N++
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
	w := etw.NewAppender(b, ptr)
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

func (e *sample) Clone() *sample {
	if fault == "clones itself" {
		return e
	}
	return e.clone()
}

func (e sample) clone() *sample {
	if fault == "clones without its name" {
		e.Values = e.Values.Clone()
		return &e
	}
	e.Name, e.Values = e.Name.Clone(), e.Values.Clone()
	return &e
}

func (e sample) String() string {
	if fault == "has no text" {
		return ""
	}
	return string(etw.AppendText(nil, &e))
}

func (e sample) MarshalJSON() ([]byte, error) {
	if fault == "invalid JSON" {
		return nil, nil
	}
	return etw.AppendJSON(nil, &e)
}

// TestFaults checks that each fault of an event is found, and that one without
// faults passes.
func TestFaults(t *testing.T) {
	anyPayload := func(f func(etw.Event, etw.PtrSize, []byte) error) func() error {
		return func() error {
			for seed := range uint64(variations) {
				if err := f(new(sample), etw.Ptr64, Payload(&sampleDesc, etw.Ptr64, seed)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	checks := map[string]func() error{
		"RoundTrip": anyPayload(roundTrip),
		"Truncate":  func() error { return truncate(new(sample), etw.Ptr64) },
		"Fuzz":      anyPayload(check),
		"Clone": anyPayload(func(like etw.Event, ptr etw.PtrSize, payload []byte) error {
			e := New(like)
			return clones(e, func(p []byte) error { _, err := e.DecodePayload(p, ptr); return err }, payload)
		}),
	}
	tests := []struct{ fault, by, want string }{
		{"ignores the end", "Truncate", "dynamic decoder disagrees"},
		{"other error", "Truncate", "not a DecodeError"},
		{"blames a SID", "Truncate", "neither truncated nor a count"},
		{"blames nothing", "Truncate", "wrong details"},
		{"looks ahead", "RoundTrip", "decoded a longer payload as"},
		{"reads another value", "RoundTrip", "field N is"},
		{"reads another value", "Fuzz", "field N is"},
		{"reads less", "RoundTrip", "read "},
		{"reads more", "RoundTrip", "read "},
		{"reads more", "Fuzz", "dynamic decoder read"},
		{"writes another value", "RoundTrip", "encoded as"},
		{"writes another value", "Fuzz", "encoded as"},
		{"shows another value", "RoundTrip", "field Values is"},
		{"invalid JSON", "RoundTrip", "JSON"},
		{"has no text", "RoundTrip", "text"},
		{"clones without its name", "Clone", "the clone became"},
		{"clones itself", "Clone", "the clone is the event itself"},
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
	RoundTrip(t, new(sample))
	Truncate(t, new(sample))
	Clone(t, new(sample))
	Allocs(t, new(sample))
	AllocsOf(t, func(e *sample) {
		for range e.Values.All() {
		}
	})
	AllocsOf[anySample](t, nil)
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

// TestReports checks the report of a fault.
func TestReports(t *testing.T) {
	defer func() { fault = "" }()
	for _, tt := range []struct {
		fault string
		run   func(testing.TB)
		want  string
	}{
		{"reads less", func(t testing.TB) { RoundTrip(t, new(sample)) }, "Sample (1.0, 8-byte pointers), seed 0: read 5 of 6 bytes"},
		{"clones without its name", func(t testing.TB) { Clone(t, new(sample)) }, "Sample (1.0, 4-byte pointers), seed 2: the clone became"},
		{"ignores the end", func(t testing.TB) { Truncate(t, new(sample)) }, "Sample (1.0, 4-byte pointers): seed 0, 0 of 6 bytes: the dynamic decoder disagrees"},
		{"allocates", func(t testing.TB) { Allocs(t, new(sample)) }, "Sample (1.0, 4-byte pointers): decoding allocates 1 times"},
		{"encodes nothing", func(t testing.TB) { Allocs(t, new(sample)) }, "Sample (1.0, 4-byte pointers): encoding: etw: encode Sample.N"},
		{"decodes nothing", func(t testing.TB) { Allocs(t, new(sample)) }, "Sample (1.0, 4-byte pointers): decoding: etw: decode Sample"},
		{"allocates", func(t testing.TB) { AllocsOf[sample](t, nil) }, "Sample (1.0, 4-byte pointers): dispatch allocates 1 times"},
		{"decodes nothing", func(t testing.TB) { AllocsOf[sample](t, nil) }, "Sample (1.0, 4-byte pointers): not dispatched: etw: decode Sample"},
		{"calls itself older", func(t testing.TB) { AllocsOf[anySample](t, nil) }, "Sample_V1 (1.1, 4-byte pointers): dispatched as version 0"},
		{"encodes nothing", func(t testing.TB) { RoundTrip(t, new(sample)) }, "Sample (1.0, 4-byte pointers), seed 0: etw: encode Sample.N"},
	} {
		fault = tt.fault
		r := &recorder{TB: t}
		tt.run(r)
		if !slices.ContainsFunc(r.errors, func(e string) bool { return strings.HasPrefix(e, tt.want) }) {
			t.Errorf("an event that %s: reported %q, want %q", tt.fault, r.errors, tt.want)
		}
	}
}

// TestPayload checks the parts of payloads.
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

// TestPayloadOfEveryType checks that the dynamic decoder reads payloads of all that a
// manifest can declare.
func TestPayloadOfEveryType(t *testing.T) {
	two, three := etw.Size{Kind: etw.SizeConst, N: 2}, etw.Size{Kind: etw.SizeConst, N: 3}
	outer := etw.Size{Kind: etw.SizeField, Up: 1}
	d := &etw.EventDesc{Name: "E", Fields: []etw.FieldDesc{{Name: "N", Type: etw.InUInt16}}}
	add := func(f etw.FieldDesc) { d.Fields = append(d.Fields, f) }
	for in := etw.InUnicodeString; in <= etw.InCountedBinary; in++ {
		f := etw.FieldDesc{Name: in.String(), Type: in}
		switch in {
		case etw.InStruct:
			f.Fields = []etw.FieldDesc{{Name: "N", Type: etw.InUInt8}, {Type: etw.InUInt32, Count: etw.Size{Kind: etw.SizeField}}, {Type: etw.InBinary, Length: outer}}
		case etw.InBinary:
			f.Length = three
		}
		add(f)
		f.Count = two
		add(f)
		f.Count = etw.Size{Kind: etw.SizeField}
		add(f)
		switch in {
		case etw.InUnicodeString, etw.InAnsiString, etw.InBinary:
			f.Length = etw.Size{Kind: etw.SizeField}
			add(f)
		case etw.InSID:
			f.Length = etw.Size{Kind: etw.SizeConst, N: 12}
			add(f)
		}
	}
	add(etw.FieldDesc{Name: "Rest", Type: etw.InUInt16, Count: etw.Size{Kind: etw.SizeRest}})
	for seed := range uint64(20) {
		for _, ptr := range ptrSizes {
			p := Payload(d, ptr, seed)
			var e etw.Dynamic
			if n, err := e.Decode(d, p, ptr); n != len(p) || err != nil {
				t.Fatalf("seed %d: read %d of %d bytes, %v", seed, n, len(p), err)
			}
			if least, exact := d.Size(ptr); least > len(p) || exact {
				t.Errorf("seed %d: a payload has at least %d bytes, this one has %d", seed, least, len(p))
			}
		}
	}
	if !takesRest(d.Fields) || takesRest(sampleDesc.Fields) {
		t.Error("takesRest is wrong")
	}
}

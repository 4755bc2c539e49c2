package etwtest

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A sampleV1 is a newer sample, with a field more.
type sampleV1 struct {
	N      uint32
	Name   etw.UTF16
	Values etw.Uint16s
	More   uint8
}

var sampleV1Desc = func() etw.EventDesc {
	d := sampleDesc
	d.Version, d.Name = 1, "Sample_V1"
	d.Fields = append(slices.Clone(d.Fields), etw.FieldDesc{Name: "More", Type: etw.InUInt8})
	return d
}()

func (*sampleV1) EventDesc() *etw.EventDesc { return &sampleV1Desc }

func (e *sampleV1) DecodePayload(p []byte, ptr etw.PtrSize) (int, error) {
	if len(p) < 4 {
		return 0, etw.Short(&sampleV1Desc, p, ptr)
	}
	e.N = binary.LittleEndian.Uint32(p)
	c := etw.NewCursor(p, 4, ptr)
	e.Name = c.UTF16()
	e.Values = c.Uint16s(uint64(e.N))
	e.More = c.Uint8()
	return c.Done(&sampleV1Desc)
}

func (e *sampleV1) FieldValue(i int) etw.Value {
	if i == 3 {
		return etw.UintValue(uint64(e.More))
	}
	return (&sample{N: e.N, Name: e.Name, Values: e.Values}).FieldValue(i)
}

func (e *sampleV1) AppendPayload(b []byte, ptr etw.PtrSize) ([]byte, error) {
	b, err := (&sample{N: e.N, Name: e.Name, Values: e.Values}).AppendPayload(b, ptr)
	return append(b, e.More), err
}

func (e sampleV1) String() string               { return string(etw.AppendText(nil, &e)) }
func (e sampleV1) MarshalJSON() ([]byte, error) { return etw.AppendJSON(nil, &e) }

// An anySample takes both versions.
type anySample struct {
	Seen   etw.Seen
	N      uint32
	Name   etw.UTF16
	Values etw.Uint16s
	More   uint8
}

func (*anySample) EventDescs() []*etw.EventDesc {
	return []*etw.EventDesc{&sampleDesc, &sampleV1Desc}
}

func (e *anySample) EventDesc() *etw.EventDesc {
	if fault == "calls itself older" {
		return &sampleDesc
	}
	return e.EventDescs()[e.Seen.Layout]
}

func (e *anySample) DecodeVersion(version uint8, p []byte, ptr etw.PtrSize) (n int, err error) {
	switch {
	case version >= 1:
		var v sampleV1
		n, err = v.DecodePayload(p, ptr)
		*e = anySample{Seen: etw.Seen{Version: version, Layout: 1}, N: v.N, Name: v.Name, Values: v.Values, More: v.More}
	default:
		var v sample
		n, err = v.DecodePayload(p, ptr)
		*e = anySample{Seen: etw.Seen{Version: version}, N: v.N, Name: v.Name, Values: v.Values}
	}
	switch {
	case fault == "has other elements" && len(e.Values) > 0:
		e.Values = e.Values[2:]
	case fault == "reads less of a version":
		n /= 2
	case fault == "does not see":
		e.Seen.Version = 0
	case fault == "sees too much":
		e.Seen.Version++
	case fault == "takes what is too short":
		err = nil
	case fault == "holds another number":
		e.N++
	}
	return n, err
}

func (e *anySample) FieldValue(i int) etw.Value {
	if i == 3 {
		return etw.UintValue(uint64(e.More))
	}
	s := sample{N: e.N, Name: e.Name, Values: e.Values}
	if fault == "holds another number" && i == 0 {
		s.N--
	}
	return s.FieldValue(i)
}

func (e anySample) Clone() *anySample {
	if fault != "clones no values" {
		e.Values = e.Values.Clone()
	}
	e.Name = e.Name.Clone()
	return &e
}

func (e anySample) String() string {
	text := string(etw.AppendText(nil, &e))
	if fault == "shows itself otherwise" {
		text += "!"
	}
	return text
}

func (e anySample) MarshalJSON() ([]byte, error) {
	if fault == "has the JSON of Go" {
		return json.Marshal(struct{ N uint32 }{e.N})
	}
	return etw.AppendJSON(nil, &e)
}

// A widened takes both versions, with a wider count.
type widened struct {
	anySample
	N uint64
}

func (e *widened) DecodeVersion(version uint8, p []byte, ptr etw.PtrSize) (int, error) {
	n, err := e.anySample.DecodeVersion(version, p, ptr)
	e.N = uint64(e.anySample.N)
	return n, err
}

func (e widened) Clone() *widened { return &widened{*e.anySample.Clone(), e.N} }

// A cloneless takes both versions, and cannot be cloned.
type cloneless struct {
	anySample
}

// samples are the types of the single versions.
var samples = []etw.Event{new(sample), new(sampleV1)}

// TestVersions checks that each fault of a type for all versions is found, and
// that one without faults passes.
func TestVersions(t *testing.T) {
	defer func() { fault = "" }()
	for _, tt := range []struct{ fault, want string }{
		{"calls itself older", "the description is that of version 0"},
		{"has other elements", "field Values is"},
		{"reads less of a version", "bytes 3 are read (<nil>), by the type of the version 6"},
		{"takes what is too short", "by the type of the version 0 (etw: decode Sample"},
		{"does not see", "of a newer version it has seen {Version:0 Layout:1}"},
		{"sees too much", "it has seen {Version:1 Layout:0}"},
		{"holds another number", "N is 1, want 0"},
		{"shows itself otherwise", "Values=[]!, want"},
		{"has the JSON of Go", `generate the package again: {"N":0}, want {"N":0,"Name":"","Values":[]}`},
		{"clones no values", "the clone became"},
	} {
		fault = tt.fault
		r := &recorder{TB: t}
		Versions(r, samples, new(anySample))
		if !slices.ContainsFunc(r.errors, func(e string) bool { return strings.Contains(e, tt.want) }) {
			t.Errorf("a type that %s: reported %q, want %q", tt.fault, r.errors, tt.want)
		}
	}
	fault = ""
	Versions(t, samples, new(anySample))
	Versions(t, samples, new(widened))
	r := &recorder{TB: t}
	Versions(r, samples, new(cloneless))
	if len(r.errors) == 0 || !strings.Contains(r.errors[0], "cloneless has no method Clone() *etwtest.cloneless") {
		t.Errorf("a type without Clone: reported %q", r.errors)
	}
	r = &recorder{TB: t}
	Versions(r, samples[:1], new(anySample))
	if want := []string{"*etwtest.anySample: no type of Sample_V1 is given"}; !slices.Equal(r.errors, want) {
		t.Errorf("with the type of one version of two: reported %q, want %q", r.errors, want)
	}
}

package etw

import (
	"errors"
	"testing"
)

// optional is an event with fields that not all payloads have.
var optional = EventDesc{
	Provider: testProvider, ID: 9, Name: "Optional",
	Fields: []FieldDesc{
		{Name: "ID", Type: InUInt16},
		{Name: "Pad", Type: InBinary, Length: Size{Kind: SizeConst, N: 4}, When: When{Ptr: Ptr64}},
		{Name: "Pair", Type: InStruct, Fields: []FieldDesc{
			{Name: "A", Type: InUInt8},
			{Name: "B", Type: InUInt8, When: When{Ptr: Ptr32}},
		}},
		{Name: "Name", Type: InUnicodeString, When: When{Left: 1}},
		{Name: "More", Type: InUInt32, When: When{Left: 4}},
	},
}

func TestOptionalPayloads(t *testing.T) {
	const id, pad, one, two, name, more = "\x07\x00", "pads", "\x01", "\x02", "n\x00\x00\x00", "\x05\x00\x00\x00"
	for _, tt := range []struct {
		payload string
		ptr     PtrSize
		read    int
		want    string
	}{
		{id + pad + one, Ptr64, 7, "Optional ID=7 Pad=70616473 Pair={A=1}"},
		{id + one + two, Ptr32, 4, "Optional ID=7 Pair={A=1 B=2}"},
		{id + pad + one + name, Ptr64, 11, "Optional ID=7 Pad=70616473 Pair={A=1} Name=n"},
		{id + pad + one + name + more, Ptr64, 15, "Optional ID=7 Pad=70616473 Pair={A=1} Name=n More=5"},
		{id + one + two + name + "abc", Ptr32, 8, "Optional ID=7 Pair={A=1 B=2} Name=n"},
	} {
		var e Dynamic
		n, err := e.Decode(&optional, []byte(tt.payload), tt.ptr)
		if got := string(AppendText(nil, &e)); n != tt.read || err != nil || got != tt.want {
			t.Errorf("%q: read %d, %s, error %v; want %d, %s", tt.payload, n, got, err, tt.read, tt.want)
		}
	}
	var e Dynamic
	if _, err := e.Decode(&optional, []byte(id+pad+one+"n"), Ptr64); !errors.Is(err, ErrTruncated) {
		t.Errorf("half of a character: error %v", err)
	}
	_, _ = e.Decode(&optional, []byte(id+pad+one+name), Ptr64)
	text, err := AppendJSON(nil, &e)
	if want := `{"ID":7,"Pad":"70616473","Pair":{"A":1},"Name":"n"}`; string(text) != want || err != nil {
		t.Errorf("JSON %s, error %v; want %s", text, err, want)
	}
	if got, want := LogValue(&e).String(), "[ID=7 Pad=70616473 Pair=[A=1] Name=n]"; got != want {
		t.Errorf("log %s, want %s", got, want)
	}
	if pair, _ := e.Field("Pair"); len(pair.Any().(map[string]any)) != 1 {
		t.Errorf("Pair is %v", pair.Any())
	}
	for ptr, want := range map[PtrSize]int{Ptr32: 4, Ptr64: 7} {
		if least, exact := optional.Size(ptr); least != want || exact {
			t.Errorf("at least %d bytes, exactly %v; want %d", least, exact, want)
		}
	}
	counted := EventDesc{Fields: []FieldDesc{
		{Name: "N", Type: InUInt8, When: When{Left: 9}},
		{Name: "V", Type: InUInt8, Count: Size{Kind: SizeField}},
	}}
	if _, err := e.Decode(&counted, []byte{1, 2}, Ptr64); !errors.Is(err, ErrSchema) {
		t.Errorf("a count that may be missing: error %v", err)
	}
}

func TestOptional(t *testing.T) {
	a := NewAppender(nil, Ptr64)
	if !a.Optional(0, true) || a.Optional(1, false) || a.Optional(2, true) {
		t.Error("the first field is to be appended, and no other")
	}
	if _, err := a.View(); !errors.Is(err, ErrOptional) {
		t.Errorf("a field behind one that is missing: error %v", err)
	}
	if a.Wide() != true || Ptr32.Choose(3, 7) != 3 || Ptr64.Choose(3, 7) != 7 {
		t.Error("sizes of pointers")
	}
}

package etw

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// TestListValue: elements have the length that their array knows, though the
// field that gives it is out of reach.
func TestListValue(t *testing.T) {
	outside := Size{Kind: SizeField, Up: 1}
	names, err := MakeUTF16sN(2, MakeUTF16("ab"), MakeUTF16("cd"))
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := MakeBinariesN(0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := MakeANSIs(ANSI("ef"), ANSI("g"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		value Value
		want  string
	}{
		{ListValue(&FieldDesc{Type: InUnicodeString, Count: outside, Length: outside}, names), "[ab cd]"},
		{ListValue(&FieldDesc{Type: InBinary, Count: outside, Length: outside, Out: OutString}, hashes), `["" ""]`},
		{ListValue(&FieldDesc{Type: InAnsiString, Count: outside}, paths), "[ef g]"},
	}
	for _, tt := range tests {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("elements %s, want %s", got, tt.want)
		}
	}
}

// TestEqualArrays: an array whose elements cannot be found is no other's equal.
func TestEqualArrays(t *testing.T) {
	lost := &FieldDesc{Type: InBinary, Count: fixed(2), Length: Size{Kind: SizeField, Up: 1}}
	hashes, err := MakeBinariesN(1, Binary{1}, Binary{2})
	if err != nil {
		t.Fatal(err)
	}
	known := ListValue(lost, hashes)
	unknown := ArrayValue(lost, hashes.Bytes(), hashes.Len(), 0, nil)
	if !known.Equal(known) || known.Equal(unknown) || unknown.Equal(known) {
		t.Errorf("equal: %v, %v, %v", known.Equal(known), known.Equal(unknown), unknown.Equal(known))
	}
}

// TestElements: the elements of generated views are shown as those of arrays are.
func TestElements(t *testing.T) {
	points := []Value{StructValue(&FieldDesc{Type: InStruct, Fields: pointFields}, point{1, 0}), StructValue(&FieldDesc{Type: InStruct, Fields: pointFields}, point{2, 1})}
	if got, want := ElementsText(slices.Values(points)), "[{X=1 Color=Red} {X=2 Color=Green}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got, err := ElementsJSON(slices.Values([]Pointer{1, 16}))
	if want := `["0x1","0x10"]`; string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if got, err := ElementsJSON(slices.Values(points[:0])); string(got) != "[]" || err != nil || ElementsText(slices.Values(points[:0])) != "[]" {
		t.Errorf("no elements are %s, %v", got, err)
	}
}

// TestNames: keywords and tasks by name, and by number where they have none.
func TestNames(t *testing.T) {
	known := []KeywordDesc{{"One", 1}, {"Both", 3}, {"Four", 4}, {"None", 0}}
	for mask, want := range map[uint64]string{0: "0x0", 1: "One", 3: "One|Both", 5: "One|Four", 0x14: "Four|0x10", 0x10: "0x10"} {
		if got := KeywordNames(known, mask); got != want {
			t.Errorf("%#x is %s, want %s", mask, got, want)
		}
	}
	p := &Provider{Events: []*EventDesc{{Task: 7}, {Task: 7, TaskName: "Seven"}}}
	if p.TaskName(7) != "Seven" || p.TaskName(8) != "Task(8)" {
		t.Errorf("tasks are %s and %s", p.TaskName(7), p.TaskName(8))
	}
}

// TestShow: encoding/json, log/slog and fmt show an event by its description.
func TestShow(t *testing.T) {
	var e start
	if _, err := e.DecodePayload(payloadV0, Ptr64); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Show(&e))
	want, _ := AppendJSON(nil, &e)
	if string(text) != string(want) || err != nil {
		t.Errorf("JSON is %s (%v), want %s", text, err, want)
	}
	if got, want := fmt.Sprint(Show(&e)), string(AppendText(nil, &e)); got != want {
		t.Errorf("text is %s, want %s", got, want)
	}
	if got, want := Show(&e).LogValue(), LogValue(&e); !got.Equal(want) {
		t.Errorf("for a log it is %v, want %v", got, want)
	}
}

// TestEmpty: an event without fields reads and writes nothing.
func TestEmpty(t *testing.T) {
	var e Empty
	if n, err := e.DecodePayload([]byte{1}, Ptr64); n != 0 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if b, err := e.AppendPayload([]byte{1}, Ptr64); len(b) != 1 || err != nil || e.FieldValue(0).Kind() != ValueNone {
		t.Errorf("wrote %v, %v", b, err)
	}
}

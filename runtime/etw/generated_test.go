package etw

import (
	"encoding/json"
	"errors"
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

// A failing value cannot be shown as JSON.
type failing struct{}

var errFailing = errors.New("failing")

func (failing) MarshalJSON() ([]byte, error) { return nil, errFailing }

// TestElements: the elements of generated views are shown as those of arrays are.
func TestElements(t *testing.T) {
	points := []Value{StructValue(&FieldDesc{Type: InStruct, Fields: pointFields}, point{1, 0}), StructValue(&FieldDesc{Type: InStruct, Fields: pointFields}, point{2, 1})}
	if got, want := ElementsText(slices.Values(points)), "[{X=1 Color=Red} {X=2 Color=Green}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got, err := ElementsJSON(slices.Values(points))
	if want := `[{"X":1,"Color":"Red"},{"X":2,"Color":"Green"}]`; string(got) != want || err != nil || !json.Valid(got) {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if got, err := ElementsJSON(slices.Values(points[:0])); string(got) != "[]" || err != nil || ElementsText(slices.Values(points[:0])) != "[]" {
		t.Errorf("no elements are %s, %v", got, err)
	}
	if got, err := ElementsJSON(slices.Values([]failing{{}})); got != nil || !errors.Is(err, errFailing) {
		t.Errorf("got %s, %v", got, err)
	}
}

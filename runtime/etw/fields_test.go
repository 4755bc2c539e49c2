package etw

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"math"
	"slices"
	"testing"
)

// A made event has values as generated code gives them: those of scalars do not
// know their fields.
type made struct {
	desc   *EventDesc
	values []Value
}

func (e *made) EventDesc() *EventDesc  { return e.desc }
func (e *made) FieldValue(i int) Value { return e.values[i] }

// A point is a struct by value, as generated code has it.
type point struct{ x, color uint8 }

var pointFields = []FieldDesc{{Name: "X", Type: InUInt8}, {Name: "Color", Type: InUInt8, Map: &colorMap}}

func (p point) FieldValue(i int) Value { return UintValue(uint64([...]uint8{p.x, p.color}[i])) }

// valueTests has a value of every kind, with its output.
var valueTests = []struct {
	field FieldDesc
	value Value
	text  string // of Value.String
	any   string // of Value.Any, as JSON
	json  string // of Value.MarshalJSON
}{
	{FieldDesc{Type: InInt8}, IntValue(-5), "-5", "-5", "-5"},
	{FieldDesc{Type: InUInt64}, UintValue(math.MaxUint64), "18446744073709551615", "18446744073709551615", "18446744073709551615"},
	{FieldDesc{Type: InUInt8, Map: &colorMap}, UintValue(1), "Green", "1", `"Green"`},
	{FieldDesc{Type: InUInt32, Out: OutHexInt32}, UintValue(255), "0xff", "255", `"0xff"`},
	{FieldDesc{Type: InDouble}, FloatValue(1.5), "1.5", "1.5", "1.5"},
	{FieldDesc{Type: InFloat}, Float32Value(0.1), "0.1", "0.1", "0.1"},
	{FieldDesc{Type: InBoolean}, BoolValue(2), "true", "true", "true"},
	{FieldDesc{Type: InPointer}, PointerValue(0x10), "0x10", `"0x10"`, `"0x10"`},
	{FieldDesc{Type: InPointer, Out: OutUInt64}, PointerValue(16), "16", "16", "16"},
	{FieldDesc{Type: InGUID}, GUIDValue(GUID{1}), "00000001-0000-0000-0000-000000000000", `"00000001-0000-0000-0000-000000000000"`, `"00000001-0000-0000-0000-000000000000"`},
	{FieldDesc{Type: InFileTime}, FileTimeValue(fileTimeUnix), "1970-01-01T00:00:00.0000000Z", `"1970-01-01T00:00:00.0000000Z"`, `"1970-01-01T00:00:00.0000000Z"`},
	{FieldDesc{Type: InSystemTime}, SystemTimeValue(SystemTime{2026, 11, 6, 21, 1, 2, 3, 4}), "2026-11-21T01:02:03.004Z", `"2026-11-21T01:02:03.004Z"`, `"2026-11-21T01:02:03.004Z"`},
	{FieldDesc{Type: InUnicodeString}, UTF16Value(MakeUTF16("two words\x00\x00")), "two words", `"two words"`, `"two words"`},
	{FieldDesc{Type: InAnsiString}, ANSIValue(ANSI("caf\xe9\x00")), "café", `"café"`, `"café"`},
	{FieldDesc{Type: InBinary}, BinaryValue(Binary{0xca, 0xfe}), "cafe", `"yv4="`, `"cafe"`},
	{FieldDesc{Type: InBinary, Out: OutUTF8}, BinaryValue(Binary("é\x00")), "é", `"é"`, `"é"`},
	{FieldDesc{Type: InSID}, SIDValue(MakeSID(5, 18)), "S-1-5-18", `"S-1-5-18"`, `"S-1-5-18"`},
	{FieldDesc{Type: InUInt16, Count: fixed(2)}, ArrayValue(&FieldDesc{Type: InUInt16}, MakeInts[uint16](1, 2), 2, Ptr64, nil), "[1 2]", "[1,2]", "[1,2]"},
	{FieldDesc{Type: InUInt8, Count: fixed(1)}, ArrayValue(&FieldDesc{Type: InUInt8, Map: &colorMap}, []byte{0}, 1, Ptr64, nil), "[Red]", "[0]", `["Red"]`},
	{FieldDesc{Type: InUInt8, Out: OutString, Count: fixed(3)}, ArrayValue(&FieldDesc{Type: InUInt8, Out: OutString}, []byte("a b"), 3, Ptr64, nil), "a b", `"a b"`, `"a b"`},
	{FieldDesc{Type: InUInt16, Out: OutString, Count: fixed(3)}, ArrayValue(&FieldDesc{Type: InUInt16, Out: OutString}, MakeUTF16("a b"), 3, Ptr64, nil), "a b", `"a b"`, `"a b"`},
	{FieldDesc{Type: InStruct}, StructValue(&FieldDesc{Type: InStruct, Fields: pointFields}, point{3, 1}), "{X=3 Color=Green}", `{"Color":1,"X":3}`, `{"X":3,"Color":"Green"}`},
}

func TestValues(t *testing.T) {
	e := &made{desc: &EventDesc{Name: "E"}}
	for i, test := range valueTests {
		field := test.field
		field.Name = "f" + string(rune('A'+i))
		e.desc.Fields = append(e.desc.Fields, field)
		e.values = append(e.values, test.value)
	}
	i := 0
	for name, v := range Fields(e) {
		test := valueTests[i]
		if name != e.desc.Fields[i].Name || v.Desc() == nil {
			t.Fatalf("field %d is %q, with description %v", i, name, v.Desc())
		}
		i++
		if got := v.String(); got != test.text {
			t.Errorf("%v %+v is %q, want %q", v.Kind(), test.field, got, test.text)
		}
		text := v.Kind() == ValueUTF16 || v.Kind() == ValueANSI || v.Kind() == ValueBinary && test.field.Out == OutUTF8
		if want := map[bool]string{true: test.text}[text]; v.Text() != want {
			t.Errorf("%v %+v has text %q, want %q", v.Kind(), test.field, v.Text(), want)
		}
		if got, err := json.Marshal(v.Any()); string(got) != test.any || err != nil {
			t.Errorf("Any of %v is %s, %v; want %s", v.Kind(), got, err, test.any)
		}
		if got, err := json.Marshal(v); string(got) != test.json || err != nil {
			t.Errorf("JSON of %v is %s, %v; want %s", v.Kind(), got, err, test.json)
		}
		byName, ok := Field(e, name)
		if !ok || !byName.Equal(v) {
			t.Errorf("field %s is %v, %v; want %v", name, byName, ok, v)
		}
	}
	if i != len(valueTests) {
		t.Errorf("%d fields, want %d", i, len(valueTests))
	}
	if v, ok := Field(e, "none"); ok || v.Kind() != ValueNone {
		t.Errorf("a field that is not there is %v", v)
	}
}

// A value of which nothing is known has a text, too: generated events return
// such values from FieldValue.
func TestValuesWithoutDescription(t *testing.T) {
	for _, test := range []struct {
		value     Value
		text, any string
	}{
		{Value{}, "", "null"},
		{IntValue(-1), "-1", "-1"},
		{UintValue(math.MaxUint64), "18446744073709551615", "18446744073709551615"},
		{FloatValue(math.Inf(1)), "+Inf", ""},
		{UTF16Value(nil), "", `""`},
		{BinaryValue(Binary{1}), "01", `"AQ=="`},
		{SIDValue(nil), "", `""`},
	} {
		if got := test.value.String(); got != test.text || test.value.Desc() != nil {
			t.Errorf("%v is %q, want %q", test.value.Kind(), got, test.text)
		}
		if js, err := test.value.MarshalJSON(); err != nil || !json.Valid(js) {
			t.Errorf("%v is %s in JSON, %v", test.value.Kind(), js, err)
		}
		if got, _ := json.Marshal(test.value.Any()); string(got) != test.any {
			t.Errorf("Any of %v is %s, want %s", test.value.Kind(), got, test.any)
		}
	}
	if got := slog.AnyValue(UintValue(7)).Resolve(); got.Kind() != slog.KindInt64 || got.Int64() != 7 {
		t.Errorf("a number is logged as %v", got)
	}
}

// The types that Any promises.
func TestAny(t *testing.T) {
	for _, test := range []struct {
		value Value
		want  any
	}{
		{IntValue(-1), int64(-1)}, {UintValue(1), uint64(1)}, {FloatValue(1), 1.0}, {Float32Value(1), float32(1)}, {BoolValue(1), true},
		{PointerValue(1), Pointer(1)}, {GUIDValue(GUID{1}), GUID{1}}, {FileTimeValue(1), FileTime(1)},
		{SystemTimeValue(SystemTime{Year: 1}), SystemTime{Year: 1}}, {UTF16Value(MakeUTF16("a")), "a"}, {SIDValue(MakeSID(1)), "S-1-1"},
	} {
		if got := test.value.Any(); got != test.want {
			t.Errorf("Any of %v is %T %v, want %T", test.value.Kind(), got, got, test.want)
		}
	}
	p := Binary{1, 2}
	kept := BinaryValue(p).Any().([]byte)
	if p[0] = 9; !bytes.Equal(kept, []byte{1, 2}) {
		t.Error("Any shares memory with the payload")
	}
}

// A value of a Dynamic knows its field, down to the members of the elements of arrays.
func TestDynamicFields(t *testing.T) {
	var d Dynamic
	e := desc(
		FieldDesc{Name: "N", Type: InUInt8},
		FieldDesc{Name: "Points", Type: InStruct, Count: ref(0), Fields: pointFields},
		FieldDesc{Type: InUInt8, Map: &colorMap},
		FieldDesc{Name: "Cut", Type: InUInt32},
	)
	if _, err := d.DecodeLoose(e, []byte{2, 5, 0, 6, 1, 1, 9}, Ptr64); err == nil {
		t.Fatal("no error")
	}
	fields := maps.Collect(d.Fields())
	if names := slices.Sorted(maps.Keys(fields)); !slices.Equal(names, []string{"N", "Points", "field2"}) {
		t.Errorf("fields %q", names)
	}
	if v, ok := d.Field("Points"); !ok || v.String() != "[{X=5 Color=Red} {X=6 Color=Green}]" {
		t.Errorf("points are %v", v)
	}
	for point := range fields["Points"].Elements() {
		for i, m := range point.Members() {
			if m.Desc() != &pointFields[i] {
				t.Errorf("member %d does not know its field", i)
			}
		}
		if v := point.FieldValue(1); v.String() != "Red" && v.String() != "Green" {
			t.Errorf("color %v", v)
		}
	}
	if v, ok := d.Field("field2"); !ok || v.String() != "Green" {
		t.Errorf("a field without a name is %v", v)
	}
	if v, ok := d.Field("Cut"); ok {
		t.Errorf("a field that was cut off is %v", v)
	}
	for range d.Fields() { // an early end
		break
	}
}

// A Dynamic shows itself as generated events do, also before it has decoded
// anything.
func TestTextOfDynamic(t *testing.T) {
	var d Dynamic
	for _, want := range []struct{ text, json, log string }{
		{"Event0", "{}", "[]"},
		{"Start_V1 Count=8 Name=name Color=Green", `{"Count":8,"Name":"name","Color":"Green"}`, "[Count=8 Name=name Color=Green]"},
	} {
		js, err := json.Marshal(&d)
		if d.String() != want.text || string(js) != want.json || err != nil || d.LogValue().String() != want.log {
			t.Errorf("got %s, %s, %v, %v; want %+v", &d, js, err, d.LogValue(), want)
		}
		if _, err := d.Decode(&startV1Desc, payloadV1, Ptr64); err != nil {
			t.Fatal(err)
		}
	}
}

func TestValueAccessorsOfOtherKinds(t *testing.T) {
	v := UTF16Value(MakeUTF16("a"))
	if v.Int() != 0 || v.Uint() != 0 || v.Bool() || v.Float() != 0 || v.GUID() != (GUID{}) || v.FileTime() != 0 ||
		v.SystemTime() != (SystemTime{}) || v.Len() != 0 || UintValue(1).Bytes() != nil || UintValue(1).Text() != "" {
		t.Error("a value of text is of another kind, too")
	}
	if s := StructValue(&FieldDesc{Fields: pointFields}, point{}); s.Bytes() != nil || s.Len() != 2 {
		t.Error("a struct by value has bytes")
	}
}

func TestEqualOfValues(t *testing.T) {
	numbers := &FieldDesc{Type: InUInt8}
	points := &FieldDesc{Type: InStruct, Fields: pointFields}
	short := &FieldDesc{Type: InStruct, Fields: pointFields[:1]}
	array := func(p ...byte) Value { return ArrayValue(numbers, p, len(p), Ptr64, nil) }
	values := []Value{
		{}, IntValue(1), UintValue(1), UintValue(2), BoolValue(1), FloatValue(math.NaN()), FloatValue(1), GUIDValue(GUID{1}), GUIDValue(GUID{15: 1}),
		UTF16Value(UTF16{1, 0}), ANSIValue(ANSI{1, 0}), BinaryValue(Binary{1, 0}), BinaryValue(Binary{1}),
		array(), array(1), array(1, 2), array(2, 1),
		StructValue(points, point{1, 2}), StructValue(points, point{1, 3}), StructValue(short, point{1, 2}),
	}
	for i, v := range values {
		for j, w := range values {
			if v.Equal(w) != (i == j) {
				t.Errorf("Equal of %v %v and %v %v is %v", v.Kind(), v, w.Kind(), w, i != j)
			}
		}
	}
	// A count that is not that of the elements.
	if lie := ArrayValue(numbers, []byte{1}, 2, Ptr64, nil); lie.Equal(array(1, 2)) || array(1, 2).Equal(lie) {
		t.Error("an array that is cut off is equal to a whole one")
	}
}

// Text for people, of whole events and of single fields.
func TestAppendFields(t *testing.T) {
	e := &startV1{Count: 3, Name: MakeUTF16("two words"), Color: 1}
	if got, want := string(AppendFieldsText([]byte("x"), e)), `xCount=3 Name="two words" Color=Green`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	fields := e.EventDesc().Fields
	if got := string(AppendFieldText(nil, &fields[1], e.FieldValue(1))); got != `"two words"` {
		t.Errorf("got %s", got)
	}
	if got := string(AppendFieldPlain(nil, &fields[1], e.FieldValue(1))); got != "two words" {
		t.Errorf("got %s", got)
	}
	if got := string(AppendFieldPlain(nil, &fields[2], e.FieldValue(2))); got != "Green" {
		t.Errorf("got %s", got)
	}
	empty := &made{desc: &EventDesc{Name: "Nothing"}}
	if got := string(AppendText(nil, empty)) + string(AppendFieldsText(nil, empty)); got != "Nothing" {
		t.Errorf("got %q", got)
	}
	buf := make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() {
		AppendFieldsJSON(AppendFieldsText(buf[:0], empty), empty, EnumNames)
		e.Name = e.Name[:6] // text that needs no quotes
		AppendText(buf[:0], e)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMapValues(t *testing.T) {
	for _, test := range []struct {
		m    *MapDesc
		v    uint32
		want string
	}{{&colorMap, 1, "Green"}, {&colorMap, 9, "9"}, {&flagsMap, 3, "A|B"}, {&flagsMap, 2, "B"}, {&flagsMap, 0x41, "A|0x40"}} {
		if got := test.m.ValueString(test.v); got != test.want {
			t.Errorf("%d of %s is %s, want %s", test.v, test.m.Name, got, test.want)
		}
		if got := string(test.m.appendValue([]byte("x"), test.v)); got != "x"+test.want {
			t.Errorf("%d of %s appends %s, want x%s", test.v, test.m.Name, got, test.want)
		}
	}
}

// An event without a description has no fields.
func TestFieldsOfNone(t *testing.T) {
	if v, ok := Field(nil, "a"); ok {
		t.Error(v)
	}
	for name, v := range Fields(nil) {
		t.Error(name, v)
	}
}

func TestBasisString(t *testing.T) {
	for b, want := range map[Basis]string{BasisGenerated: "generated", BasisNone: "none", 9: "Basis(9)"} {
		if b.String() != want {
			t.Errorf("%v, want %s", b, want)
		}
	}
}

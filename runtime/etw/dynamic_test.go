package etw

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

// payload builds the bytes of a payload: integers as they are, strings in
// UTF-16 with a NUL, []byte raw.
func payload(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch v := part.(type) {
		case string:
			b = append(append(b, MakeUTF16(v)...), 0, 0)
		case []byte:
			b = append(b, v...)
		default:
			var err error
			if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	return b
}

func ref(i uint32) Size      { return Size{Kind: SizeField, N: i} }
func outerRef(i uint32) Size { return Size{Kind: SizeField, Up: 1, N: i} }
func fixed(n uint32) Size    { return Size{Kind: SizeConst, N: n} }

var prefix, rest = Size{Kind: SizePrefix}, Size{Kind: SizeRest}

func desc(fields ...FieldDesc) *EventDesc {
	return &EventDesc{Name: "E", Fields: fields}
}

type decodeTest struct {
	name    string
	fields  []FieldDesc
	ptr     PtrSize
	payload []byte
	text    string
}

// The text of an event shows each value, so a table of texts tests decoding and
// rendering of every type at once.
var decodeTests = []decodeTest{
	{"integers", []FieldDesc{
		{Name: "a", Type: InInt8}, {Name: "b", Type: InUInt8}, {Name: "c", Type: InInt16}, {Name: "d", Type: InUInt16},
		{Name: "e", Type: InInt32}, {Name: "f", Type: InUInt32}, {Name: "g", Type: InInt64}, {Name: "h", Type: InUInt64}}, 8,
		payload(int8(-1), uint8(255), int16(-2), uint16(65535), int32(-3), uint32(math.MaxUint32), int64(math.MinInt64), uint64(math.MaxUint64)),
		"E a=-1 b=255 c=-2 d=65535 e=-3 f=4294967295 g=-9223372036854775808 h=18446744073709551615"},
	{"other scalars", []FieldDesc{
		{Name: "a", Type: InFloat}, {Name: "b", Type: InDouble}, {Name: "c", Type: InBoolean}, {Name: "d", Type: InBool8},
		{Name: "e", Type: InHexInt32}, {Name: "f", Type: InHexInt64}, {Name: "g", Type: InFileTime},
		{Name: "h", Type: InSystemTime}, {Name: "i", Type: InGUID}, {Name: "j", Type: InChar16}, {Name: "k", Type: InChar8}}, 8,
		payload(float32(1.5), -2.25, uint32(2), uint8(0), uint32(255), uint64(256), int64(fileTimeUnix), [8]uint16{2026, 11, 6, 21, 1, 2, 3, 4},
			[16]byte{0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}, uint16('é'), uint8('x')),
		"E a=1.5 b=-2.25 c=true d=false e=0xff f=0x100 g=1970-01-01T00:00:00.0000000Z h=2026-11-21T01:02:03.004Z" +
			" i=e13c0d23-ccbc-4e12-931b-d9cc2eee27e4 j=é k=x"},
	{"pointer of 4", []FieldDesc{{Name: "a", Type: InPointer}, {Name: "b", Type: InUInt8}}, 4, payload(uint32(0x1000), uint8(1)), "E a=0x1000 b=1"},
	{"pointer of 8", []FieldDesc{{Name: "a", Type: InPointer}, {Name: "b", Type: InUInt8}}, 8, payload(uint64(1<<40), uint8(1)), "E a=0x10000000000 b=1"},
	{"strings", []FieldDesc{{Name: "a", Type: InUnicodeString}, {Name: "b", Type: InAnsiString}, {Name: "c", Type: InUnicodeString}, {Name: "d", Type: InUInt8}}, 8,
		payload("Ā b", []byte("ansi\x00"), "", uint8(7)), `E a="Ā b" b=ansi c="" d=7`},
	{"strings of fixed length", []FieldDesc{{Name: "a", Type: InUnicodeString, Length: fixed(3)}, {Name: "b", Type: InAnsiString, Length: fixed(4)}}, 8,
		payload([]byte("x\x00\x00\x00\x00\x00"), []byte("ab\x00\x00")), "E a=x b=ab"},
	{"characters that are NUL", []FieldDesc{{Name: "a", Type: InChar16}, {Name: "b", Type: InChar8}}, 8, payload(uint16(0), uint8(0)), `E a="\x00" b="\x00"`},
	{"lengths by reference", []FieldDesc{{Name: "n", Type: InUInt16}, {Name: "a", Type: InUnicodeString, Length: ref(0)},
		{Name: "b", Type: InBinary, Length: ref(0)}, {Name: "c", Type: InAnsiString, Length: ref(0)}}, 8,
		payload(uint16(2), []byte("h\x00i\x00"), []byte{0xca, 0xfe}, []byte("yo")), "E n=2 a=hi b=cafe c=yo"},
	{"SIDs", []FieldDesc{{Name: "a", Type: InSID}, {Name: "b", Type: InSID, Length: fixed(12)}, {Name: "c", Type: InWBEMSID}, {Name: "d", Type: InWBEMSID}}, 8,
		payload([]byte(MakeSID(5, 18)), []byte(MakeSID(5, 19)), uint32(0), uint64(1), uint64(2), []byte(MakeSID(5, 20))),
		"E a=S-1-5-18 b=S-1-5-19 c= d=S-1-5-20"},
	{"counted", []FieldDesc{{Name: "a", Type: InCountedUnicodeString}, {Name: "b", Type: InCountedAnsiString}, {Name: "c", Type: InCountedBinary},
		{Name: "d", Type: InLongBinary}, {Name: "e", Type: InBinary, Length: prefix}, {Name: "f", Type: InUnicodeString, Length: prefix}}, 8,
		payload(uint16(4), []byte("h\x00i\x00"), uint16(2), []byte("yo"), uint16(1), uint8(9), uint32(2), uint16(0x201), uint16(1), uint8(8), uint16(1), uint16('q')),
		"E a=hi b=yo c=09 d=0102 e=08 f=q"},
	{"variable-length integers", []FieldDesc{{Name: "a", Type: InVarUint}, {Name: "b", Type: InVarInt}, {Name: "c", Type: InUInt8, Count: ref(0)}}, 8,
		payload([]byte{0x82, 0x00}, []byte{0x03}, uint8(1), uint8(2)), "E a=2 b=-2 c=[1 2]"},
	{"decimal", []FieldDesc{{Name: "a", Type: InDecimal}, {Name: "b", Type: InDecimal}, {Name: "c", Type: InDecimal}}, 8,
		payload(uint32(1<<31|2<<16), uint32(0), uint64(12345), uint32(3<<16), uint32(0), uint64(7), uint32(0), uint32(1), uint64(0)),
		"E a=-123.45 b=0.007 c=18446744073709551616"},
	{"arrays of numbers", []FieldDesc{{Name: "n", Type: InUInt8}, {Name: "a", Type: InUInt32, Count: ref(0)}, {Name: "b", Type: InPointer, Count: fixed(2)},
		{Name: "c", Type: InUInt16, Count: prefix}, {Name: "d", Type: InDouble, Count: fixed(0)}, {Name: "e", Type: InInt16, Count: rest}}, 4,
		payload(uint8(3), [3]uint32{1, 2, 3}, [2]uint32{4, 5}, uint16(1), uint16(6), int16(-7), int16(8)),
		"E n=3 a=[1 2 3] b=[0x4 0x5] c=[6] d=[] e=[-7 8]"},
	{"arrays of strings", []FieldDesc{{Name: "n", Type: InUInt8}, {Name: "a", Type: InUnicodeString, Count: ref(0)}, {Name: "b", Type: InAnsiString, Count: fixed(2), Length: fixed(2)},
		{Name: "c", Type: InSID, Count: fixed(1)}, {Name: "d", Type: InUnicodeString, Count: rest}}, 8,
		payload(uint8(2), "a", "b c", []byte("xxyy"), []byte(MakeSID(1)), "r", "s"), `E n=2 a=[a "b c"] b=[xx yy] c=[S-1-1] d=[r s]`},
	{"characters", []FieldDesc{{Name: "a", Type: InChar16, Count: prefix}, {Name: "b", Type: InChar8, Count: prefix}, {Name: "c", Type: InUInt8, Count: fixed(2), Out: OutString}}, 8,
		payload(uint16(2), []byte("h\x00i\x00"), uint16(2), []byte("yo"), []byte("ok")), "E a=hi b=yo c=ok"},
	{"structs", []FieldDesc{{Name: "n", Type: InUInt16}, {Name: "k", Type: InUInt8},
		{Name: "v", Type: InStruct, Count: ref(0), Fields: []FieldDesc{
			{Name: "k", Type: InUInt8}, {Name: "own", Type: InUInt8, Count: ref(0)}, {Name: "outer", Type: InUInt8, Count: outerRef(1)}, {Name: "s", Type: InUnicodeString}}},
		{Name: "one", Type: InStruct, Fields: []FieldDesc{{Name: "x", Type: InInt8}, {Name: "y", Type: InInt8}}}}, 8,
		payload(uint16(2), uint8(1), uint8(0), uint8(9), "p", uint8(2), uint8(5), uint8(6), uint8(7), "q", int8(-1), int8(-2)),
		"E n=2 k=1 v=[{k=0 own=[] outer=[9] s=p} {k=2 own=[5 6] outer=[7] s=q}] one={x=-1 y=-2}"},
	{"nested structs", []FieldDesc{{Name: "n", Type: InUInt8}, {Name: "v", Type: InStruct, Count: prefix, Fields: []FieldDesc{
		{Type: InStruct, Count: prefix, Fields: []FieldDesc{{Type: InUInt8, Count: Size{Kind: SizeField, Up: 2, N: 0}}}}}}}, 8,
		payload(uint8(2), uint16(2), uint16(1), uint8(1), uint8(2), uint16(0)), "E n=2 v=[{field0=[{field0=[1 2]}]} {field0=[]}]"},
	{"locations", []FieldDesc{{Name: "r", Type: InRelLoc, Fields: []FieldDesc{{Type: InUInt16}}}, {Name: "d", Type: InDataLoc, Fields: []FieldDesc{{Type: InChar8}}},
		{Name: "u", Type: InDataLoc, Fields: []FieldDesc{{Type: InChar16}}}}, 8,
		payload(uint32(4<<16|8), uint32(2<<16|16), uint32(2<<16|16), [2]uint16{1, 2}, []byte("ok")), "E r=[1 2] d=ok u=歯"},
	{"rest of bytes", []FieldDesc{{Name: "a", Type: InBinary, Length: rest}, {Name: "z", Type: InNull}}, 8, []byte{1, 2, 3}, "E a=010203"},
}

func TestDynamic(t *testing.T) {
	var d Dynamic
	for _, test := range decodeTests {
		t.Run(test.name, func(t *testing.T) {
			desc := desc(test.fields...)
			n, err := d.Decode(desc, test.payload, test.ptr)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(AppendText(nil, &d)); got != test.text {
				t.Errorf("got  %s\nwant %s", got, test.text)
			}
			if js, err := AppendJSON(nil, &d); err != nil || !json.Valid(js) {
				t.Errorf("invalid JSON: %s, %v", js, err)
			}
			// The data behind the locations is not part of any field.
			if want := len(test.payload); n != want && test.name != "locations" {
				t.Errorf("read %d bytes of %d", n, want)
			}
			// Every strict prefix fails, unless a field takes the rest.
			for _, f := range test.fields {
				if f.Count.Kind == SizeRest || f.Length.Kind == SizeRest {
					return
				}
			}
			for i := range n {
				_, err := d.Decode(desc, test.payload[:i:i], test.ptr)
				if de, ok := errors.AsType[*DecodeError](err); !ok || de.Len != i || de.Offset > i || de.Field == "" {
					t.Errorf("prefix of %d bytes: %v", i, err)
				}
			}
			// And bytes after the end change nothing.
			if m, err := d.Decode(desc, append(slices.Clip(test.payload), 0xff), test.ptr); m != n || err != nil {
				t.Errorf("with a byte more: %d, %v", m, err)
			}
		})
	}
}

func TestDynamicErrors(t *testing.T) {
	values := FieldDesc{Name: "Values", Type: InStruct, Count: ref(0), Fields: []FieldDesc{{Name: "ID", Type: InUInt32}, {Name: "Name", Type: InUnicodeString}}}
	deep := FieldDesc{Name: "d", Type: InUInt8}
	for range 40 {
		deep = FieldDesc{Name: "d", Type: InStruct, Fields: []FieldDesc{deep}}
	}
	tests := []struct {
		name    string
		fields  []FieldDesc
		payload []byte
		want    error
		text    string
	}{
		{"in an array", []FieldDesc{{Name: "Count", Type: InUInt16}, values}, payload(uint16(2), uint32(1), "one", uint32(2), uint16('t')),
			ErrTruncated, "etw: decode E.Values[1].Name at offset 18 of 20: truncated payload: unexpected EOF"},
		{"huge count", []FieldDesc{{Name: "Count", Type: InUInt32}, values}, payload(uint32(4e9), make([]byte, 36)),
			ErrCount, "etw: decode E.Values at offset 4 of 40: count does not fit the elements"},
		{"negative count", []FieldDesc{{Name: "Count", Type: InInt32}, values}, payload(int32(-1), make([]byte, 36)), ErrCount, ""},
		{"huge count of nothing", []FieldDesc{{Name: "n", Type: InUInt32}, {Name: "v", Type: InStruct, Count: ref(0)}}, payload(uint32(4e9)), ErrCount, ""},
		{"nothing to the fourth", []FieldDesc{{Name: "v", Type: InStruct, Count: fixed(60000), Fields: []FieldDesc{
			{Type: InStruct, Count: fixed(60000), Fields: []FieldDesc{{Type: InStruct, Count: fixed(60000)}}}}}}, nil, ErrCount, ""},
		{"nothing of bytes, a million times", []FieldDesc{{Name: "v", Type: InStruct, Count: fixed(1024), Fields: []FieldDesc{
			{Type: InBinary, Count: fixed(1024), Length: fixed(0)}}}}, nil, ErrCount, "etw: decode E.v[63].field0[961] at offset 0 of 0: count does not fit the elements"},
		{"huge length", []FieldDesc{{Name: "n", Type: InUInt64}, {Name: "b", Type: InUnicodeString, Length: ref(0)}}, payload(uint64(math.MaxUint64)),
			ErrTruncated, "etw: decode E.b at offset 8 of 8: truncated payload: unexpected EOF"},
		{"huge length of elements", []FieldDesc{{Name: "n", Type: InUInt64}, {Name: "b", Type: InBinary, Count: fixed(2), Length: ref(0)}}, payload(uint64(1 << 40)), ErrTruncated, ""},
		{"bad varint", []FieldDesc{{Name: "n", Type: InVarUint}}, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), ErrVarInt, ""},
		{"forward reference", []FieldDesc{{Name: "b", Type: InBinary, Length: ref(1)}, {Name: "n", Type: InUInt8}}, []byte{1, 1}, ErrSchema, ""},
		{"own reference", []FieldDesc{{Name: "b", Type: InBinary, Length: ref(0)}}, []byte{1, 1}, ErrSchema, ""},
		{"reference too far out", []FieldDesc{{Name: "n", Type: InUInt8}, {Name: "b", Type: InBinary, Length: outerRef(0)}}, []byte{1, 1}, ErrSchema, ""},
		{"reference to an array", []FieldDesc{{Name: "n", Type: InUInt8, Count: fixed(0)}, {Name: "b", Type: InBinary, Length: ref(0)}}, []byte{1, 1}, ErrSchema, ""},
		{"binary without length", []FieldDesc{{Name: "b", Type: InBinary}}, []byte{1}, ErrSchema, ""},
		{"unknown type", []FieldDesc{{Name: "b", Type: 0xfe}}, []byte{1}, ErrSchema, ""},
		{"location behind the end", []FieldDesc{{Name: "l", Type: InRelLoc, Fields: []FieldDesc{{Type: InUInt8}}}}, payload(uint32(2<<16), uint8(0)), ErrTruncated, ""},
		{"location of half an element", []FieldDesc{{Name: "l", Type: InDataLoc, Fields: []FieldDesc{{Type: InUInt16}}}}, payload(uint32(3 << 16)), ErrLength, ""},
		{"location of nothing", []FieldDesc{{Name: "l", Type: InDataLoc}}, payload(uint32(0)), ErrSchema, ""},
		{"location of text that varies", []FieldDesc{{Name: "l", Type: InDataLoc, Fields: []FieldDesc{{Type: InUnicodeString}}}}, payload(uint32(0)), ErrSchema, ""},
		{"too deep", []FieldDesc{deep}, []byte{1}, errNesting, ""},
	}
	var d Dynamic
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, err := d.Decode(desc(test.fields...), test.payload, Ptr64)
			if !errors.Is(err, test.want) || n != 0 {
				t.Fatalf("got %d, %v; want %v", n, err, test.want)
			}
			if test.text != "" && err.Error() != test.text {
				t.Errorf("got  %v\nwant %v", err, test.text)
			}
			if errors.Is(err, ErrTruncated) != errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error("ErrTruncated is not io.ErrUnexpectedEOF")
			}
			if got := d.FieldValue(0); got.Kind() != ValueNone {
				t.Errorf("after an error field 0 is %v", got.Kind())
			}
		})
	}
}

// A pointer size that is not given is 8 bytes, as for readers and writers.
func TestDynamicWithoutPointerSize(t *testing.T) {
	var d Dynamic
	n, err := d.Decode(desc(FieldDesc{Name: "a", Type: InPointer}, FieldDesc{Name: "b", Type: InWBEMSID}),
		payload(uint64(0x10), uint64(1), uint64(2), []byte(MakeSID(5, 18))), 0)
	if n != 36 || err != nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	if got, want := string(AppendText(nil, &d)), "E a=0x10 b=S-1-5-18"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeLoose(t *testing.T) {
	d := new(Dynamic)
	e := desc(FieldDesc{Name: "a", Type: InUInt8}, FieldDesc{Name: "b", Type: InUInt32, Count: ref(0)}, FieldDesc{Name: "c", Type: InUInt8})
	n, err := d.DecodeLoose(e, []byte{2, 1, 0, 0, 0, 9}, Ptr64)
	if n != 1 || !errors.Is(err, ErrCount) {
		t.Fatalf("got %d, %v", n, err)
	}
	if got := string(AppendText(nil, d)); got != "E a=2" {
		t.Errorf("got %s", got)
	}
	if got := Binary(d.Rest()).String(); got != "0100000009" {
		t.Errorf("rest is %s", got)
	}
	s := desc(FieldDesc{Name: "s", Type: InUnicodeString})
	if n, err := d.DecodeLoose(s, []byte("a\x00b\x00"), Ptr64); n != 4 || err != nil {
		t.Fatalf("a string that is cut off: %d, %v", n, err)
	}
	if got := string(AppendText(nil, d)); got != "E s=ab" {
		t.Errorf("got %s", got)
	}
	a := desc(FieldDesc{Name: "s", Type: InAnsiString})
	if n, err := d.DecodeLoose(a, []byte("ab"), Ptr64); n != 2 || err != nil || string(AppendText(nil, d)) != "E s=ab" {
		t.Fatalf("a string that is cut off: %d, %v", n, err)
	}
}

func TestDynamicDoesNotAllocate(t *testing.T) {
	var d Dynamic
	for _, test := range decodeTests {
		desc := desc(test.fields...)
		decode := func() {
			if _, err := d.Decode(desc, test.payload, test.ptr); err != nil {
				t.Fatal(err)
			}
			for i := range desc.Fields {
				d.FieldValue(i)
			}
		}
		decode()
		if n := testing.AllocsPerRun(100, decode); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}

func TestMembersOfValues(t *testing.T) {
	var d Dynamic
	test := decodeTests[slices.IndexFunc(decodeTests, func(d decodeTest) bool { return d.name == "structs" })]
	if _, err := d.Decode(desc(test.fields...), test.payload, test.ptr); err != nil {
		t.Fatal(err)
	}
	v := d.FieldValue(2)
	if v.Kind() != ValueArray || v.Len() != 2 || v.Desc().Name != "v" {
		t.Fatalf("v is %v of %d", v.Kind(), v.Len())
	}
	for elem := range v.Elements() {
		if elem.Kind() != ValueStruct || elem.Len() != 4 {
			t.Fatalf("element is %v of %d", elem.Kind(), elem.Len())
		}
		if k, own := elem.FieldValue(0), elem.FieldValue(1); int(k.Uint()) != own.Len() {
			t.Errorf("%d elements, want %d", own.Len(), k.Uint())
		}
		if !elem.Equal(elem) || elem.Equal(v) {
			t.Error("Equal is wrong")
		}
		if len(elem.Bytes()) == 0 {
			t.Error("an element has no bytes")
		}
	}
	if got := v.FieldValue(0); got.Kind() != ValueNone {
		t.Error("an array has members")
	}
	for range v.FieldValue(0).Elements() {
		t.Error("no value has elements")
	}
	for range v.Members() {
		t.Error("an array has members")
	}
}

// describer makes a description out of fuzz input.
type describer struct{ in []byte }

func (g *describer) next() byte {
	if len(g.in) == 0 {
		return 0
	}
	b := g.in[0]
	g.in = g.in[1:]
	return b
}

var fuzzTypes = []InType{InNull, InUnicodeString, InAnsiString, InInt8, InUInt8, InInt16, InUInt16, InInt32, InUInt32, InInt64, InUInt64,
	InFloat, InDouble, InBoolean, InBinary, InGUID, InPointer, InFileTime, InSystemTime, InSID, InHexInt32, InHexInt64, InCountedUnicodeString,
	InCountedAnsiString, InStruct, InCountedBinary, InBool8, InChar16, InChar8, InVarInt, InVarUint, InDecimal, InRelLoc, InDataLoc,
	InLongBinary, InWBEMSID, 0xfd}

func (g *describer) size() Size {
	switch b := g.next(); b % 8 {
	case 0:
		return Size{Kind: SizeConst, N: uint32(g.next())}
	case 1:
		return Size{Kind: SizeField, N: uint32(b>>5) & 3, Up: b >> 7}
	case 2:
		return prefix
	case 3:
		return rest
	}
	return Size{}
}

func (g *describer) fields(depth int) []FieldDesc {
	list := make([]FieldDesc, g.next()%6)
	for i := range list {
		f := &list[i]
		f.Name = string(rune('a' + i))
		f.Type = fuzzTypes[int(g.next())%len(fuzzTypes)]
		f.Out = OutType(g.next() % 40)
		f.Count, f.Length = g.size(), g.size()
		if depth < 4 && (f.Type == InStruct || f.Type == InRelLoc || f.Type == InDataLoc) {
			f.Fields = g.fields(depth + 1)
		}
	}
	return list
}

// FuzzDynamic decodes any payload by any description: no panic, no work out of
// proportion, values that agree with the length that was read, valid JSON.
func FuzzDynamic(f *testing.F) {
	f.Add([]byte{5, 4, 0, 4, 4, 24, 0, 1, 4, 2, 1, 0, 4, 4}, []byte{2, 1, 2, 'a', 0, 0, 0}, true)
	f.Add([]byte{1, 32, 0, 4, 4, 1, 6, 0, 4, 4}, []byte{2, 0, 4, 0, 1, 2, 3, 4}, false)
	for _, test := range decodeTests {
		f.Add([]byte{3, 1, 0, 4, 4, 14, 0, 4, 2, 24, 0, 2, 4, 2, 4, 0, 4, 4, 4, 0, 4, 4}, test.payload, true)
	}
	var d, again Dynamic
	f.Fuzz(func(t *testing.T, schema, p []byte, wide bool) {
		ptr := Ptr32
		if wide {
			ptr = Ptr64
		}
		desc := desc((&describer{schema}).fields(0)...)
		n, err := d.Decode(desc, p, ptr)
		if err == nil && (n < 0 || n > len(p)) || err != nil && n != 0 {
			t.Fatalf("read %d of %d bytes, %v", n, len(p), err)
		}
		if err == nil {
			// Cut to the part read, the event is the same, unless a location points behind
			// it.
			m, err := again.Decode(desc, p[:n], ptr)
			if hasLocations(desc.Fields) {
				return
			}
			if m != n || err != nil {
				t.Fatalf("cut to %d bytes it reads %d, %v", n, m, err)
			}
			text := string(AppendText(nil, &d))
			if got := string(AppendText(nil, &again)); got != text {
				t.Fatalf("cut to %d bytes it is\n%s, not\n%s", n, got, text)
			}
		}
		if js, err := AppendJSON(nil, &d); err != nil || !json.Valid(js) {
			t.Fatalf("invalid JSON %s, %v", js, err)
		}
		if m, err := d.DecodeLoose(desc, p, ptr); m < 0 || m > len(p) || len(d.Rest()) != len(p)-m {
			t.Fatalf("loosely, it read %d of %d bytes, %v", m, len(p), err)
		}
		if js, err := AppendJSON(nil, &d); err != nil || !json.Valid(js) {
			t.Fatalf("invalid JSON %s, %v", js, err)
		}
		LogValue(&d)
	})
}

func hasLocations(fields []FieldDesc) bool {
	for i := range fields {
		if t := fields[i].Type; t == InRelLoc || t == InDataLoc || hasLocations(fields[i].Fields) {
			return true
		}
	}
	return false
}

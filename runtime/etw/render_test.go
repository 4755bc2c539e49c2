package etw

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"testing"
)

var flagsMap = MapDesc{Name: "FlagsMap", Flags: true, Entries: []MapEntry{{1, "A"}, {2, "B"}, {12, "CD"}}}

// Each row is a field with its payload, and how text and JSON show it.
var renderTests = []struct {
	field   FieldDesc
	payload any
	text    string
	json    string // "" means as text
}{
	{FieldDesc{Type: InUInt64}, uint64(math.MaxUint64), "18446744073709551615", ""},
	{FieldDesc{Type: InInt64}, int64(math.MinInt64), "-9223372036854775808", ""},
	{FieldDesc{Type: InUInt32, Out: OutHexInt32}, uint32(0xbeef), "0xbeef", `"0xbeef"`},
	{FieldDesc{Type: InInt8, Out: OutHexInt8}, int8(-1), "0xff", `"0xff"`},
	{FieldDesc{Type: InInt64, Out: OutHexInt64}, int64(-1), "0xffffffffffffffff", `"0xffffffffffffffff"`},
	{FieldDesc{Type: InUInt64, Out: OutCodePointer}, uint64(0x1000), "0x1000", `"0x1000"`},
	{FieldDesc{Type: InInt32, Out: OutHResult}, int32(-2147467259), "0x80004005", `"0x80004005"`},
	{FieldDesc{Type: InUInt32, Out: OutNTStatus}, uint32(0), "0x00000000", `"0x00000000"`},
	{FieldDesc{Type: InUInt32, Out: OutWin32Error}, uint32(5), "5", ""},
	{FieldDesc{Type: InUInt32, Out: OutPID}, uint32(4711), "4711", ""},
	{FieldDesc{Type: InUInt32, Out: OutIPv4}, []byte{192, 168, 1, 2}, "192.168.1.2", `"192.168.1.2"`},
	{FieldDesc{Type: InUInt16, Out: OutPort}, []byte{0x01, 0xbb}, "443", ""},
	{FieldDesc{Type: InUInt8, Out: OutString}, uint8('x'), "x", `"x"`},
	{FieldDesc{Type: InUInt8, Out: OutBoolean}, uint8(1), "true", ""},
	{FieldDesc{Type: InHexInt32, Out: OutUInt32}, uint32(16), "16", ""},
	{FieldDesc{Type: InBinary, Length: fixed(16), Out: OutIPv6}, append(make([]byte, 15), 1), "::1", `"::1"`},
	{FieldDesc{Type: InBinary, Length: fixed(2), Out: OutIPv6}, []byte{1, 2}, "0102", `"0102"`},
	{FieldDesc{Type: InBinary, Length: fixed(16), Out: OutSocketAddress}, append([]byte{2, 0, 0, 80, 127, 0, 0, 1}, make([]byte, 8)...), "127.0.0.1:80", `"127.0.0.1:80"`},
	{FieldDesc{Type: InBinary, Length: fixed(28), Out: OutSocketAddress}, append(append([]byte{23, 0, 1, 0xbb, 0, 0, 0, 0, 0xfe, 0x80}, make([]byte, 13)...), 1, 7, 0, 0, 0), `[fe80::1%7]:443`, `"[fe80::1%7]:443"`},
	{FieldDesc{Type: InBinary, Length: fixed(24), Out: OutSocketAddress}, append([]byte{10, 0, 0, 1}, make([]byte, 20)...), `[::]:1`, `"[::]:1"`},
	{FieldDesc{Type: InBinary, Length: fixed(9), Out: OutSocketAddress}, append([]byte{23, 0}, make([]byte, 7)...), "170000000000000000", `"170000000000000000"`},
	{FieldDesc{Type: InBinary, Length: fixed(9), Out: OutSocketAddress}, append([]byte{1, 0}, make([]byte, 7)...), "010000000000000000", `"010000000000000000"`},
	{FieldDesc{Type: InBinary, Length: fixed(1), Out: OutSocketAddress}, []byte{2}, "02", `"02"`},
	{FieldDesc{Type: InBinary, Length: fixed(3), Out: OutUTF8}, []byte("é\x00"), "é", `"é"`},
	{FieldDesc{Type: InUInt16, Count: fixed(2), Out: OutString}, []byte("a\x00b\x00"), "ab", `"ab"`},
	{FieldDesc{Type: InInt8, Count: fixed(2), Out: OutUTF8}, []byte("ab"), "ab", `"ab"`},
	{FieldDesc{Type: InUInt32, Count: fixed(2), Out: OutString}, [2]uint32{1, 2}, "[1 2]", "[1,2]"},
	{FieldDesc{Type: InFloat}, float32(0.1), "0.1", ""},
	{FieldDesc{Type: InDouble}, 1e300, "1e+300", ""},
	{FieldDesc{Type: InDouble}, math.NaN(), "NaN", `"NaN"`},
	{FieldDesc{Type: InDouble}, math.Inf(-1), "-Inf", `"-Inf"`},
	{FieldDesc{Type: InBoolean}, uint32(2), "true", ""},
	{FieldDesc{Type: InPointer}, uint64(0xdead), "0xdead", `"0xdead"`},
	{FieldDesc{Type: InFileTime}, int64(fileTimeUnix), "1970-01-01T00:00:00.0000000Z", `"1970-01-01T00:00:00.0000000Z"`},
	{FieldDesc{Type: InUInt8, Map: &colorMap}, uint8(1), "Green", `"Green"`},
	{FieldDesc{Type: InUInt8, Map: &colorMap}, uint8(9), "9", ""},
	{FieldDesc{Type: InInt32, Map: &colorMap}, int32(-9), "-9", ""},
	{FieldDesc{Type: InUInt64, Map: &colorMap}, uint64(1<<32 | 1), "4294967297", ""}, // maps have 32 bits
	{FieldDesc{Type: InInt64, Map: &flagsMap}, int64(-1 << 40), "-1099511627776", ""},
	{FieldDesc{Type: InUInt32, Map: &flagsMap}, uint32(0), "0", ""},
	{FieldDesc{Type: InUInt32, Map: &flagsMap}, uint32(3), "A|B", `"A|B"`},
	{FieldDesc{Type: InUInt32, Map: &flagsMap}, uint32(4 | 1), "A|0x4", `"A|0x4"`},
	{FieldDesc{Type: InUInt32, Map: &flagsMap}, uint32(12 | 0x40), "CD|0x40", `"CD|0x40"`},
	{FieldDesc{Type: InUInt32, Map: &flagsMap}, uint32(0x40), "0x40", `"0x40"`},
	{FieldDesc{Type: InUInt16, Map: &colorMap, Count: fixed(2)}, [2]uint16{0, 1}, "[Red Green]", `["Red","Green"]`},
	{FieldDesc{Type: InUnicodeString}, "plain", "plain", `"plain"`},
	{FieldDesc{Type: InUnicodeString}, "", `""`, ""},
	{FieldDesc{Type: InUnicodeString}, "two words", `"two words"`, ""},
	{FieldDesc{Type: InUnicodeString}, "a=b", `"a=b"`, ""},
	{FieldDesc{Type: InUnicodeString}, "[x]", `"[x]"`, ""},
	{FieldDesc{Type: InUnicodeString}, "q\"b\\n\nr\rt\t\x01\x7f", `"q\"b\\n\nr\rt\t\x01\x7f"`, `"q\"b\\n\nr\rt\t\u0001\u007f"`},
	{FieldDesc{Type: InUnicodeString}, []byte{0x3d, 0xd8, 0, 0}, `"�"`, `"�"`},
	{FieldDesc{Type: InAnsiString}, []byte("\xe9t\xe9\x00"), "été", `"été"`},
	{FieldDesc{Type: InStruct, Fields: []FieldDesc{{Name: "x", Type: InUInt8}, {Type: InUInt8, Map: &colorMap}}}, []byte{1, 0}, "{x=1 field1=Red}", `{"x":1,"field1":"Red"}`},
	{FieldDesc{Type: InDecimal}, append([]byte{0, 0, 99, 0}, make([]byte, 12)...), "00006300000000000000000000000000", `"00006300000000000000000000000000"`},
}

func TestRender(t *testing.T) {
	var d Dynamic
	for _, test := range renderTests {
		desc := &EventDesc{Provider: testProvider, ID: 5, Fields: []FieldDesc{test.field}}
		desc.Fields[0].Name = "f"
		p := payload(test.payload)
		n, err := d.Decode(desc, p, Ptr64)
		if err != nil || n != len(p) {
			t.Errorf("%+v: read %d of %d bytes, %v", test.field, n, len(p), err)
			continue
		}
		if got, want := string(AppendText(nil, &d)), "Event5 f="+test.text; got != want {
			t.Errorf("text is %s, want %s", got, want)
		}
		if got := string(AppendFieldText(nil, &desc.Fields[0], d.FieldValue(0))); got != test.text {
			t.Errorf("text is %s, want %s", got, test.text)
		}
		want := test.json
		if want == "" {
			want = test.text
		}
		js, err := AppendJSON(nil, &d)
		if got := string(js); got != `{"f":`+want+`}` || err != nil || !json.Valid(js) {
			t.Errorf("JSON is %s, want %s", got, want)
		}
		var buf bytes.Buffer
		slog.New(slog.NewJSONHandler(&buf, nil)).Info("", "e", LogValue(&d))
		if !json.Valid(buf.Bytes()) || strings.Contains(buf.String(), "ERROR") {
			t.Errorf("log line is %s", buf.String())
		}
	}
}

func TestEnumStyles(t *testing.T) {
	e := &startV1{Count: 1, Name: MakeUTF16("n"), Color: 1}
	for style, want := range map[EnumStyle]string{
		EnumNames:   `{"Count":1,"Name":"n","Color":"Green"}`,
		EnumObjects: `{"Count":1,"Name":"n","Color":{"value":1,"name":"Green"}}`,
		EnumNumbers: `{"Count":1,"Name":"n","Color":1}`,
	} {
		if got := string(AppendFieldsJSON(nil, e, style)); got != want {
			t.Errorf("style %d: %s, want %s", style, got, want)
		}
	}
	e.Color = 77
	if got, want := string(AppendFieldsJSON(nil, e, EnumObjects)), `{"Count":1,"Name":"n","Color":{"value":77,"name":"77"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Names come from traces, too, and may be any bytes.
func TestNamesOfAnyBytes(t *testing.T) {
	names := MapDesc{Entries: []MapEntry{{1, "a\xff\"\n"}}}
	d := new(Dynamic)
	e := desc(FieldDesc{Name: "\xffkey", Type: InUInt8, Map: &names})
	if _, err := d.Decode(e, []byte{1}, Ptr64); err != nil {
		t.Fatal(err)
	}
	for style, want := range map[EnumStyle]string{
		EnumNames:   `{"�key":"a�\"\n"}`,
		EnumObjects: `{"�key":{"value":1,"name":"a�\"\n"}}`,
	} {
		if got := string(AppendFieldsJSON(nil, d, style)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLogValue(t *testing.T) {
	var buf bytes.Buffer
	h := slog.NewTextHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	e := &startV1{Count: 1, Name: MakeUTF16("a name"), Color: 1}
	slog.New(h).Info("event", "e", LogValue(e))
	if got, want := buf.String(), "level=INFO msg=event e.Count=1 e.Name=\"a name\" e.Color=Green\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendJSONString(t *testing.T) {
	for s, want := range map[string]string{
		"": `""`, "a\"\\\n\r\t\x00\x7f": `"a\"\\\n\r\t\u0000\u007f"`, "é😀": `"é😀"`, "\xff": "\"\ufffd\"",
	} {
		got := AppendJSONString(nil, s)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, test := range []struct {
		desc EventDesc
		want string
	}{
		{EventDesc{Name: "Start", TaskName: "Work"}, "Start"},
		{EventDesc{TaskName: "Work", OpcodeName: "Stop", Provider: testProvider}, "Work/Stop"},
		{EventDesc{TaskName: "Work", Provider: testProvider}, "Work"},
		{EventDesc{Provider: testProvider, ID: 3, Version: 1}, "Event3"},
		{EventDesc{ID: 3}, "Event3"},
	} {
		if got := test.desc.Title(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

package etw

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
)

// A shade is an enumeration as etwgen generates them.
type shade uint16

var shadeMap = MapDesc{Entries: []MapEntry{{1, "Dark blue"}, {2, "Red"}}}

func (s shade) String() string { return shadeMap.ValueString(uint32(s)) }

// viewTests has a value of every type that a generated event can have as a field,
// with its text and its JSON.
func viewTests(t *testing.T) []struct {
	view       any
	text, json string
} {
	must := func(v any, err error) any {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	guid := MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	utf16 := func(vs ...string) (out []UTF16) {
		for _, v := range vs {
			out = append(out, MakeUTF16(v))
		}
		return out
	}
	u, err := MakeUTF16s(utf16("a", "", `two "words"`)...)
	half := UTF16{0x3d, 0xd8}
	uBad, err2 := MakeUTF16s(half)
	uN, err3 := MakeUTF16sN(1, utf16("a", "b")...)
	uC, err4 := MakeCountedUTF16s(utf16("a", "bc")...)
	for _, err := range []error{err, err2, err3, err4} {
		must(nil, err)
	}
	ansi, err := MakeANSIs(ANSI("caf\xe9"), ANSI("\x01"))
	must(nil, err)
	binaries, err := MakeCountedBinaries(Binary{0xca}, nil)
	must(nil, err)
	sids, err := MakeSIDs(MakeSID(5, 18))
	must(nil, err)
	ptr32, err := MakePointers(Ptr32, 1, 0xffffffff)
	must(nil, err)
	return []struct {
		view       any
		text, json string
	}{
		{MakeInts[int8](-1, 2), "[-1 2]", "[-1,2]"},
		{MakeInts[uint8](1, 255), "[1 255]", "[1,255]"},
		{MakeInts[uint32](1, 2, 70000), "[1 2 70000]", "[1,2,70000]"},
		{MakeInts[uint64](math.MaxUint64), "[18446744073709551615]", "[18446744073709551615]"},
		{Uint32s(nil), "[]", "[]"},
		{MakeInts[shade](1, 2, 9), `["Dark blue" Red 9]`, `["Dark blue","Red",9]`},
		{MakeInts(True, False, Bool(7)), "[true false true]", "[true,false,true]"},
		{MakeInts[FileTime](fileTimeUnix), "[1970-01-01T00:00:00.0000000Z]", `["1970-01-01T00:00:00.0000000Z"]`},
		{MakeFloats[float32](0.1, float32(math.Inf(-1))), "[0.1 -Inf]", `[0.1,"-Inf"]`},
		{MakeFloats(1e300, math.NaN()), "[1e+300 NaN]", `[1e+300,"NaN"]`},
		{MakeGUIDs(guid), "[" + guid.String() + "]", `["` + guid.String() + `"]`},
		{MakeSystemTimes(SystemTime{2026, 11, 6, 21, 1, 2, 3, 4}), "[2026-11-21T01:02:03.004Z]", `["2026-11-21T01:02:03.004Z"]`},
		{ptr32, "[0x1 0xffffffff]", `["0x1","0xffffffff"]`},
		{Stack{MakeInts[uint64](0x7ff0, 2), Ptr64}, "[0x7ff0 0x2]", `["0x7ff0","0x2"]`},
		{u, `[a "" "two \"words\""]`, `["a","","two \"words\""]`},
		{uBad, "[\"\ufffd\"]", "[\"\ufffd\"]"},
		{uN, "[a b]", `["a","b"]`},
		{uC, "[a bc]", `["a","bc"]`},
		{ansi, `[café "\x01"]`, `["café","\u0001"]`},
		{binaries, "[ca ]", `["ca",""]`},
		{sids, "[S-1-5-18]", `["S-1-5-18"]`},

		{MakeUTF16(`two "words"`), `two "words"`, `"two \"words\""`},
		{half, "\ufffd", "\"\ufffd\""},
		{ANSI("caf\xe9"), "café", `"café"`},
		{Binary{0xca, 0xfe}, "cafe", `"cafe"`},
		{MakeSID(5, 18), "S-1-5-18", `"S-1-5-18"`},
		{SID{1}, "01", `"01"`},
		{guid, guid.String(), `"` + guid.String() + `"`},
		{Pointer(0x7ffe0000), "0x7ffe0000", `"0x7ffe0000"`},
		{Bool(2), "true", "true"},
		{FileTime(fileTimeUnix), "1970-01-01T00:00:00.0000000Z", `"1970-01-01T00:00:00.0000000Z"`},
		{FileTime(math.MinInt64), FileTime(math.MinInt64).String(), `"` + FileTime(math.MinInt64).String() + `"`},
		{SystemTime{Year: 65535, Month: 99}, "65543-02-28T00:00:00.000Z", `"65543-02-28T00:00:00.000Z"`},
	}
}

// Views print, marshal and log as their values, by fmt, encoding/json and slog alike, and
// never as their bytes.
func TestTextOfViews(t *testing.T) {
	for _, test := range viewTests(t) {
		name := fmt.Sprintf("%T", test.view)
		if got := fmt.Sprint(test.view); got != test.text {
			t.Errorf("%s prints as %s, want %s", name, got, test.text)
		}
		if m, ok := test.view.(encoding.TextMarshaler); ok {
			if got, err := m.MarshalText(); string(got) != test.text || err != nil {
				t.Errorf("%s is %s as text, %v; want %s", name, got, err, test.text)
			}
		}
		if a, ok := test.view.(encoding.TextAppender); ok {
			if got, err := a.AppendText([]byte("x")); string(got) != "x"+test.text || err != nil {
				t.Errorf("%s appends %s, %v; want x%s", name, got, err, test.text)
			}
		}
		got, err := json.Marshal(test.view)
		if string(got) != test.json || err != nil {
			t.Errorf("%s is %s in JSON, %v; want %s", name, got, err, test.json)
		}
		var line bytes.Buffer
		plain := slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "v" {
				return a
			}
			return slog.Attr{}
		}}
		slog.New(slog.NewTextHandler(&line, &plain)).Info("", "v", test.view)
		if got, want := line.String(), "v="+test.text+"\n"; got != want && got != fmt.Sprintf("v=%q\n", test.text) {
			t.Errorf("%s is logged as %s, want %s", name, got, want)
		}
		line.Reset()
		slog.New(slog.NewJSONHandler(&line, &plain)).Info("", "v", test.view)
		if got, want := line.String(), `{"v":`+test.json+"}\n"; got != want {
			t.Errorf("%s is logged as %s, want %s", name, got, want)
		}
	}
}

// Whatever bytes a view holds, its JSON is valid.
func FuzzArrayJSON(f *testing.F) {
	f.Add([]byte{0, 0, 0xc0, 0x7f, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, p []byte) {
		for _, v := range []json.Marshaler{
			Floats[float32](p[:len(p)&^3]), Floats[float64](p[:len(p)&^7]), Ints[shade](p[:len(p)&^1]), Bools(p[:len(p)&^3]),
			FileTimes(p[:len(p)&^7]), SystemTimes(p[:len(p)&^15]), GUIDs(p[:len(p)&^15]), Pointers{p[:len(p)&^3], Ptr32},
			BinaryValue(p), ANSIValue(p), UTF16Value(p[:len(p)&^1]), SIDValue(p),
		} {
			if js, err := v.MarshalJSON(); err != nil || !json.Valid(js) {
				t.Errorf("%T is %s in JSON, %v", v, js, err)
			}
		}
	})
}

func TestCloneOfViews(t *testing.T) {
	p := bytes.Repeat([]byte{1, 0}, 16)
	ptrs := Pointers{p, Ptr32}
	list := list{p, 2, 16}
	for _, test := range []struct {
		view  fmt.Stringer
		clone fmt.Stringer
	}{
		{Uint16s(p), Uint16s(p).Clone()},
		{Float32s(p), Float32s(p).Clone()},
		{GUIDs(p), GUIDs(p).Clone()},
		{SystemTimes(p), SystemTimes(p).Clone()},
		{ptrs, ptrs.Clone()},
		{UTF16s{list}, UTF16s{list}.Clone()},
		{ANSIs{list}, ANSIs{list}.Clone()},
		{Binaries{list}, Binaries{list}.Clone()},
		{SIDs{list}, SIDs{list}.Clone()},
		{UTF16(p), UTF16(p).Clone()},
		{ANSI(p), ANSI(p).Clone()},
		{Binary(p), Binary(p).Clone()},
		{SID(p), SID(p).Clone()},
	} {
		before := test.view.String()
		if got := test.clone.String(); got != before {
			t.Errorf("%T: the clone is %s, want %s", test.view, got, before)
		}
		p[0] = 2
		if test.view.String() == before || test.clone.String() != before {
			t.Errorf("%T: the clone shares memory", test.view)
		}
		p[0] = 1
	}
}

// The output of the types of this package.
func TestTextOfKeysAndStats(t *testing.T) {
	g := MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	dotnet := &ProviderDesc{Name: "Microsoft-Windows-DotNETRuntime", GUID: g}
	for _, test := range []struct {
		v    any
		text string
		json string
	}{
		{Key{KindManifest, g, 1, 2}, g.String() + "/1.2", ""},
		{Key{KindClassic, g, 1, 2}, "classic " + g.String() + "/1.2", ""},
		{Key{KindMessage, g, 1, 2}, "message " + g.String() + "/1.2", ""},
		{Enable{dotnet, 0x8001, LevelInformational}, "Microsoft-Windows-DotNETRuntime:0x8001:4", ""},
		{Enable{}, ":0x0:0", ""},
		{MuxStats{Records: 5, Unhandled: 2, Undecodable: 1, Newer: 1}, "5 records, 2 unhandled, 1 undecodable, 1 newer",
			`{"Records":5,"Unhandled":2,"Undecodable":1,"Newer":1}`},
		{MuxStats{FirstError: &DecodeError{Event: &startV0, Field: "Count", Len: 2, Err: ErrTruncated}},
			"0 records, 0 unhandled, 0 undecodable, 0 newer (etw: decode Start.Count at offset 0 of 2: truncated payload: unexpected EOF)",
			`{"Records":0,"Unhandled":0,"Undecodable":0,"Newer":0,"FirstError":"etw: decode Start.Count at offset 0 of 2: truncated payload: unexpected EOF"}`},
	} {
		if got := fmt.Sprint(test.v); got != test.text {
			t.Errorf("got %s, want %s", got, test.text)
		}
		js, err := json.Marshal(test.v)
		if err != nil || test.json != "" && string(js) != test.json {
			t.Errorf("%v is %s in JSON, %v; want %s", test.v, js, err, test.json)
		}
	}
	if js, err := json.Marshal(&startV1Desc); err != nil || !strings.Contains(string(js), `"Name":"Start_V1"`) {
		t.Errorf("a description is %s in JSON, %v", js, err)
	}
}

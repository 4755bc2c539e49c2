package etw

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

func TestUTF16(t *testing.T) {
	for _, s := range []string{"", "a", "abc", "System.String", "naïve", "日本語テキスト", "a😀b", "exactly8", "long ascii then é",
		strings.Repeat("x", 300)} {
		v := MakeUTF16(s)
		if got := v.String(); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
		if want := len(utf16.Encode([]rune(s))); v.Len() != want {
			t.Errorf("%q has length %d, want %d", s, v.Len(), want)
		}
		if !v.EqualString(s) || v.EqualString(s+"x") || s != "" && v.EqualString(s[:len(s)-1]) {
			t.Errorf("EqualString is wrong for %q", s)
		}
		text, err := v.MarshalText()
		if err != nil || string(text) != s {
			t.Errorf("MarshalText = %q, %v", text, err)
		}
		if got, err := v.AppendText([]byte("x")); string(got) != "x"+s || err != nil {
			t.Errorf("AppendText = %q, %v", got, err)
		}
		if !v.Equal(MakeUTF16(s)) || v.Equal(MakeUTF16(s+"?")) {
			t.Errorf("Equal is wrong for %q", s)
		}
	}
	// Halves of surrogate pairs.
	for _, test := range []struct {
		units []uint16
		want  string
	}{
		{[]uint16{0xd83d}, "\ufffd"},
		{[]uint16{0xde00}, "\ufffd"},
		{[]uint16{0xd83d, 'a'}, "\ufffda"},
		{[]uint16{0xde00, 0xd83d}, "\ufffd\ufffd"},
		{[]uint16{0xd83d, 0xd83d, 0xde00}, "\ufffd😀"},
	} {
		if got := UTF16(MakeInts(test.units...)).String(); got != test.want {
			t.Errorf("%x is %q, want %q", test.units, got, test.want)
		}
	}
}

// The search for a NUL looks at eight bytes at a time; it must find the first
// one wherever it lies and whatever lies around it.
func TestIndexNUL16(t *testing.T) {
	units := []byte{0, 1, 0x7f, 0x80, 0xff}
	for size := range 40 {
		for from := range 3 {
			for pattern := range 25 {
				p := make([]byte, size)
				for i := range p {
					p[i] = units[(pattern/(1+4*(i%2)))%5]
				}
				for at := -1; at < size; at++ {
					q := bytes.Clone(p)
					if at >= 0 && at+1 < size {
						q[at], q[at+1] = 0, 0
					}
					if from > size {
						continue
					}
					want := -1
					for i := from; i+2 <= size; i += 2 {
						if q[i] == 0 && q[i+1] == 0 {
							want = i
							break
						}
					}
					if got := indexNUL16(q, from); got != want {
						t.Fatalf("first NUL of %x from %d at %d, want %d", q, from, got, want)
					}
				}
			}
		}
	}
}

func TestCutUTF16(t *testing.T) {
	for _, test := range []struct{ p, s, rest string }{
		{"", "", ""}, {"a\x00\x00\x00b\x00", "a", "b\x00"}, {"a\x00b\x00", "ab", ""}, {"a\x00b", "a", ""}, {"\x00\x00", "", ""},
	} {
		if s, rest := CutUTF16([]byte(test.p)); s.String() != test.s || string(rest) != test.rest {
			t.Errorf("%q is cut into %q and %q, want %q and %q", test.p, s, rest, test.s, test.rest)
		}
	}
}

func TestANSI(t *testing.T) {
	for _, test := range []struct{ bytes, want string }{
		{"", ""}, {"plain", "plain"}, {"caf\xc3\xa9", "café"}, {"caf\xe9", "café"},
	} {
		v := ANSI(test.bytes)
		text, err := v.MarshalText()
		if v.String() != test.want || string(text) != test.want || err != nil {
			t.Errorf("%q is %q, %q, %v; want %q", test.bytes, v, text, err, test.want)
		}
	}
	if !ANSI("a").Equal(ANSI("a")) || ANSI("a").Equal(nil) {
		t.Error("Equal is wrong")
	}
}

func TestBinary(t *testing.T) {
	v := Binary{0xde, 0xad}
	text, err := v.MarshalText()
	if v.String() != "dead" || string(text) != "dead" || err != nil {
		t.Errorf("%q, %q, %v", v.String(), text, err)
	}
	if !v.Equal(Binary{0xde, 0xad}) || v.Equal(v[:1]) {
		t.Error("Equal is wrong")
	}
}

func TestSID(t *testing.T) {
	for _, test := range []struct {
		sid  SID
		want string
	}{
		{MakeSID(5, 18), "S-1-5-18"},
		{MakeSID(5, 21, 1, 2, 4294967295, 500), "S-1-5-21-1-2-4294967295-500"},
		{MakeSID(1<<40, 1), "S-1-0x010000000000-1"},
		{MakeSID(0), "S-1-0"},
		{SID{1, 2, 0}, "010200"},
		{MakeSID(5, 18)[:11], "010100000000000512" + "0000"},
	} {
		text, err := test.sid.MarshalText()
		if got := test.sid.String(); got != test.want || string(text) != got || err != nil {
			t.Errorf("%x is %q, want %q", []byte(test.sid), got, test.want)
		}
	}
	if !MakeSID(5, 18).Equal(MakeSID(5, 18)) || MakeSID(5, 18).Equal(MakeSID(5, 19)) {
		t.Error("Equal is wrong")
	}
}

func TestSystemTime(t *testing.T) {
	want := time.Date(2026, 11, 21, 23, 59, 58, 123e6, time.UTC)
	v := SystemTimeOf(want.In(time.FixedZone("", 3600)))
	if !v.Time().Equal(want) || v.DayOfWeek != 6 {
		t.Errorf("%+v is %v, want %v", v, v.Time(), want)
	}
	if got := v.String(); got != "2026-11-21T23:59:58.123Z" {
		t.Errorf("String() = %q", got)
	}
	if got := LoadSystemTime(AppendSystemTime(nil, v)); got != v {
		t.Errorf("came back as %+v", got)
	}
}

func TestScalars(t *testing.T) {
	if got := Pointer(0x7ffe0000).String(); got != "0x7ffe0000" {
		t.Errorf("Pointer = %q", got)
	}
	if b, err := Pointer(0).AppendText(nil); string(b) != "0x0" || err != nil {
		t.Errorf("Pointer = %q, %v", b, err)
	}
	if !Bool(7).True() || False.True() || Bool(2).String() != "true" || False.String() != "false" {
		t.Error("Bool is wrong")
	}
}

func testInts[T Integer](t *testing.T, vs ...T) {
	t.Helper()
	a := MakeInts(vs...)
	if got := slices.Collect(a.All()); !slices.Equal(got, vs) || a.Len() != len(vs) {
		t.Errorf("%v came back as %v", vs, got)
	}
	for i, v := range vs {
		if a.At(i) != v {
			t.Errorf("element %d is %v, want %v", i, a.At(i), v)
		}
	}
	for range a.All() { // an early end
		break
	}
	if !a.Equal(MakeInts(vs...)) || a.Equal(nil) {
		t.Error("Equal is wrong")
	}
}

func TestArrays(t *testing.T) {
	type color uint16
	testInts[int8](t, -128, 0, 127)
	testInts[uint8](t, 0, 255)
	testInts[int16](t, -32768, 5)
	testInts[color](t, 1, 65535)
	testInts[int32](t, math.MinInt32, 1)
	testInts[uint32](t, math.MaxUint32, 1)
	testInts[int64](t, math.MinInt64, 1)
	testInts[uint64](t, math.MaxUint64, 1)
	testInts(t, True, False)

	f32, f64 := MakeFloats[float32](1.5, -2), MakeFloats(math.Pi, math.Inf(1))
	if got := slices.Collect(f32.All()); !slices.Equal(got, []float32{1.5, -2}) || f32.Len() != 2 {
		t.Errorf("float32 came back as %v", got)
	}
	if got := slices.Collect(f64.All()); !slices.Equal(got, []float64{math.Pi, math.Inf(1)}) || f64.At(0) != math.Pi {
		t.Errorf("float64 came back as %v", got)
	}
	if !f32.Equal(MakeFloats[float32](1.5, -2)) || f32.Equal(nil) {
		t.Error("Floats.Equal is wrong")
	}

	g := MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	guids := MakeGUIDs(GUID{}, g)
	if got := slices.Collect(guids.All()); !slices.Equal(got, []GUID{{}, g}) || guids.At(1) != g || !guids.Equal(MakeGUIDs(GUID{}, g)) {
		t.Errorf("GUIDs came back as %v", got)
	}
	st := SystemTime{2026, 11, 6, 21, 1, 2, 3, 4}
	times := MakeSystemTimes(st)
	if got := slices.Collect(times.All()); !slices.Equal(got, []SystemTime{st}) || times.Len() != 1 || !times.Equal(MakeSystemTimes(st)) {
		t.Errorf("SystemTimes came back as %v", got)
	}

	for _, ptr := range []PtrSize{Ptr32, Ptr64} {
		a, err := MakePointers(ptr, 1, 0xffffffff)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(a.All()); !slices.Equal(got, []Pointer{1, 0xffffffff}) || len(a.Bytes()) != 2*int(ptr) || a.PtrSize() != ptr {
			t.Errorf("pointers of %d bytes came back as %v", ptr, got)
		}
		b, _ := MakePointers(Ptr64, 1, 0xffffffff)
		c, _ := MakePointers(Ptr64, 1, 2)
		if !a.Equal(b) || a.Equal(c) || a.Equal(Pointers{}) {
			t.Error("Pointers.Equal is wrong")
		}
	}
	if _, err := MakePointers(Ptr32, 1<<32); !errors.Is(err, ErrPointer) {
		t.Errorf("a wide pointer gives %v", err)
	}
	s := Stack{Addresses: MakeInts[uint64](1, 2), PtrSize: Ptr64}
	if got := slices.Collect(s.All()); !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("stack is %v", got)
	}
	s.PtrSize = Ptr32
	if got := slices.Collect(s.All()); !slices.Equal(got, []uint64{1, 0, 2, 0}) {
		t.Errorf("stack of 32 bits is %v", got)
	}
}

func collectStrings[T interface{ String() string }](seq func(func(T) bool)) []string {
	var out []string
	for v := range seq {
		out = append(out, v.String())
	}
	return out
}

func TestLists(t *testing.T) {
	u, err := MakeUTF16s(MakeUTF16("a"), MakeUTF16(""), MakeUTF16("ccc"))
	if got := collectStrings(u.All()); err != nil || !slices.Equal(got, []string{"a", "", "ccc"}) || u.Len() != 3 || len(u.Bytes()) != 14 {
		t.Errorf("UTF16s: %q, %v", got, err)
	}
	u2, err := MakeUTF16sN(2, MakeUTF16("ab"), MakeUTF16("cd"))
	if got := collectStrings(u2.All()); err != nil || !slices.Equal(got, []string{"ab", "cd"}) || u.Equal(u2) || !u2.Equal(u2) {
		t.Errorf("UTF16sN: %q, %v", got, err)
	}
	a, err := MakeANSIs(ANSI("x"), ANSI(""), ANSI("yz"))
	if got := collectStrings(a.All()); err != nil || !slices.Equal(got, []string{"x", "", "yz"}) || !a.Equal(a) {
		t.Errorf("ANSIs: %q, %v", got, err)
	}
	a2, err := MakeANSIsN(2, ANSI("ab"), ANSI("cd"))
	if got := collectStrings(a2.All()); err != nil || !slices.Equal(got, []string{"ab", "cd"}) {
		t.Errorf("ANSIsN: %q, %v", got, err)
	}
	b, err := MakeBinariesN(1, Binary{1}, Binary{2})
	if got := collectStrings(b.All()); err != nil || !slices.Equal(got, []string{"01", "02"}) || !b.Equal(b) {
		t.Errorf("Binaries: %q, %v", got, err)
	}
	s, err := MakeSIDs(MakeSID(5, 18), MakeSID(1))
	if got := collectStrings(s.All()); err != nil || !slices.Equal(got, []string{"S-1-5-18", "S-1-1"}) || !s.Equal(s) {
		t.Errorf("SIDs: %q, %v", got, err)
	}
	s2, err := MakeSIDsN(12, MakeSID(5, 18))
	if got := collectStrings(s2.All()); err != nil || !slices.Equal(got, []string{"S-1-5-18"}) {
		t.Errorf("SIDsN: %q, %v", got, err)
	}
	// An early end of each.
	for range u.All() {
		break
	}
	for range a.All() {
		break
	}
	for range b.All() {
		break
	}
	for range s.All() {
		break
	}
	ptrs, _ := MakePointers(Ptr64, 1, 2)
	for range ptrs.All() {
		break
	}
	for range MakeFloats(1.5, 2).All() {
		break
	}
	for range MakeGUIDs(GUID{}, GUID{}).All() {
		break
	}
	for range MakeSystemTimes(SystemTime{}, SystemTime{}).All() {
		break
	}
	for range (Stack{MakeInts[uint64](1, 2), Ptr64}).All() {
		break
	}

	nul := UTF16{0, 0}
	for name, test := range map[string]struct {
		make func() error
		want error
	}{
		"UTF16s with a NUL":   {func() error { _, err := MakeUTF16s(nul); return err }, ErrNUL},
		"UTF16s of half":      {func() error { _, err := MakeUTF16s(UTF16{1}); return err }, ErrLength},
		"UTF16sN too long":    {func() error { _, err := MakeUTF16sN(2, nul); return err }, ErrLength},
		"ANSIs with a NUL":    {func() error { _, err := MakeANSIs(ANSI{0}); return err }, ErrNUL},
		"ANSIsN too long":     {func() error { _, err := MakeANSIsN(0, ANSI{1}); return err }, ErrLength},
		"BinariesN too short": {func() error { _, err := MakeBinariesN(2, Binary{1}); return err }, ErrLength},
		"SIDs malformed":      {func() error { _, err := MakeSIDs(SID{1}); return err }, ErrSID},
		"SIDsN too long":      {func() error { _, err := MakeSIDsN(8, MakeSID(5, 18)); return err }, ErrLength},
	} {
		if err := test.make(); !errors.Is(err, test.want) {
			t.Errorf("%s gives %v, want %v", name, err, test.want)
		}
	}
}

func FuzzUTF16(f *testing.F) {
	f.Add([]byte("a\x00b\x00"))
	f.Add([]byte{0x3d, 0xd8, 0x00, 0xde, 0x3d, 0xd8})
	f.Fuzz(func(t *testing.T, p []byte) {
		s := UTF16(p[:len(p)&^1])
		got := s.String()
		units := slices.Collect(Uint16s(s).All())
		if want := string(utf16.Decode(units)); got != want {
			t.Errorf("%x is %q, want %q", p, got, want)
		}
		if !utf8.ValidString(got) || !s.EqualString(got) {
			t.Errorf("%q is not valid, or not equal to its source", got)
		}
	})
}

func TestViewsDoNotAllocate(t *testing.T) {
	u, _ := MakeUTF16s(MakeUTF16("abcdefghijk"), MakeUTF16("é"))
	ints := MakeInts[uint32](1, 2, 3)
	ptrs, _ := MakePointers(Ptr32, 1, 2)
	buf := make([]byte, 0, 100)
	sum := 0
	allocs := testing.AllocsPerRun(100, func() {
		for s := range u.All() {
			buf = s.AppendTo(buf[:0])
			sum += len(buf)
		}
		for v := range ints.All() {
			sum += int(v)
		}
		for v := range ptrs.All() {
			sum += int(v)
		}
		if u.list.n == 0 || !UTF16(u.Bytes()[:22]).EqualString("abcdefghijk") {
			sum++
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

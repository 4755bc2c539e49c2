package etw

import (
	"errors"
	"slices"
	"testing"
)

func TestCounted(t *testing.T) {
	u, err := MakeCountedUTF16s(MakeUTF16("a"), nil, MakeUTF16("bc"))
	if got := collectStrings(u.All()); err != nil || !slices.Equal(got, []string{"a", "", "bc"}) {
		t.Errorf("strings %q, %v", got, err)
	}
	a, err := MakeCountedANSIs(ANSI("x"), ANSI("yz"))
	if got := collectStrings(a.All()); err != nil || !slices.Equal(got, []string{"x", "yz"}) {
		t.Errorf("strings %q, %v", got, err)
	}
	b, err := MakeCountedBinaries(Binary{1}, Binary{})
	if got := collectStrings(b.All()); err != nil || !slices.Equal(got, []string{"01", ""}) {
		t.Errorf("bytes %q, %v", got, err)
	}

	d := &EventDesc{Name: "E", Fields: []FieldDesc{
		{Name: "a", Type: InCountedUnicodeString}, {Name: "b", Type: InCountedAnsiString}, {Name: "c", Type: InCountedBinary},
		{Name: "d", Type: InCountedUnicodeString, Count: fixed(3)}, {Name: "e", Type: InCountedAnsiString, Count: fixed(2)},
		{Name: "f", Type: InCountedBinary, Count: fixed(2)},
	}}
	w := NewAppender(nil, Ptr64)
	w.CountedUTF16(0, MakeUTF16("one"))
	w.CountedANSI(1, ANSI("two"))
	w.CountedBinary(2, Binary{3})
	w.CountedUTF16s(3, u, 3)
	w.CountedANSIs(4, a, 2)
	w.CountedBinaries(5, b, 2)
	p, err := w.Done(d)
	if err != nil {
		t.Fatal(err)
	}
	read := func(p []byte) (bool, int, error) {
		r := NewCursor(p, 0, Ptr64)
		same := r.CountedUTF16().EqualString("one")
		same = r.CountedANSI().String() == "two" && same
		same = r.CountedBinary().String() == "03" && same
		same = r.CountedUTF16s(3).Equal(u) && same
		same = r.CountedANSIs(2).Equal(a) && same
		same = r.CountedBinaries(2).Equal(b) && same
		n, err := r.Done(d)
		return same, n, err
	}
	if same, n, err := read(p); !same || n != len(p) || err != nil {
		t.Errorf("read %v, %d of %d bytes, %v", same, n, len(p), err)
	}
	for i := range p {
		if _, _, err := read(p[:i]); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCount) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	var dynamic Dynamic
	if n, err := dynamic.Decode(d, p, Ptr64); n != len(p) || err != nil {
		t.Fatal(n, err)
	}
	if got, want := string(AppendText(nil, &dynamic)), `E a=one b=two c=03 d=[a "" bc] e=[x yz] f=[01 ]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	long := make([]byte, 65536)
	if _, err := MakeCountedANSIs(long); !errors.Is(err, ErrLength) {
		t.Errorf("a string too long gives %v", err)
	}
	w = NewAppender(nil, Ptr64)
	w.CountedBinary(2, long)
	if _, err := w.Done(d); !errors.Is(err, ErrLength) {
		t.Errorf("bytes too long give %v", err)
	}
}

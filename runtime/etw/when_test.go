package etw

import (
	"errors"
	"testing"
)

// Fields that only some payloads have: padding that the size of pointers decides on, and
// fields that later systems added at the end.
func TestWhen(t *testing.T) {
	d := &EventDesc{Name: "E", Fields: []FieldDesc{
		{Name: "A", Type: InUInt32},
		{Name: "Pad", Type: InUInt32, When: When{Ptr: Ptr64}},
		{Name: "B", Type: InUInt8},
		{Name: "C", Type: InUInt16, When: When{Left: 2}},
		{Name: "D", Type: InUInt8, When: When{Left: 1}},
	}}
	for _, test := range []struct {
		ptr     PtrSize
		payload []byte
		n       int
		text    string
	}{
		{Ptr64, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 5}, 12, "E A=1 Pad=2 B=3 C=4 D=5"},
		{Ptr64, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0}, 11, "E A=1 Pad=2 B=3 C=4"},
		{Ptr64, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 4}, 10, "E A=1 Pad=2 B=3 D=4"},
		{Ptr64, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3}, 9, "E A=1 Pad=2 B=3"},
		{Ptr32, []byte{1, 0, 0, 0, 3, 4, 0}, 7, "E A=1 B=3 C=4"},
		{0, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3}, 9, "E A=1 Pad=2 B=3"},
	} {
		var e Dynamic
		if n, err := e.Decode(d, test.payload, test.ptr); n != test.n || err != nil {
			t.Errorf("%x: read %d bytes, %v; want %d", test.payload, n, err, test.n)
		}
		if got := e.String(); got != test.text {
			t.Errorf("%x is %s, want %s", test.payload, got, test.text)
		}
	}
	for ptr, want := range map[PtrSize]int{Ptr64: 9, Ptr32: 5} {
		if least, exact := d.Size(ptr); least != want || exact {
			t.Errorf("with pointers of %d bytes: at least %d bytes, exactly %v; want %d", ptr, least, exact, want)
		}
		head := EventDesc{Fields: d.Fields[:3]}
		if least, exact := head.Size(ptr); least != want || !exact {
			t.Errorf("without what is optional: at least %d bytes, exactly %v; want %d", least, exact, want)
		}
	}
}

// Questions of generated code about such fields.
func TestCursorAndAppenderOfOptionalFields(t *testing.T) {
	c := NewCursor([]byte{1, 2, 3}, 1, Ptr32)
	if !c.Left(2) || c.Left(3) || c.Wide() {
		t.Error("two bytes are left, of a payload with pointers of 4")
	}
	if c.fail(); c.Left(0) {
		t.Error("a cursor that failed has bytes left")
	}
	if c := NewCursor(nil, 0, Ptr64); !c.Wide() {
		t.Error("pointers of 8 bytes are not wide")
	}
	if Ptr32.Choose(1, 2) != 1 || Ptr64.Choose(1, 2) != 2 || PtrSize(0).Choose(1, 2) != 2 {
		t.Error("Choose is wrong")
	}

	d := &EventDesc{Name: "E", Fields: []FieldDesc{{Name: "A"}, {Name: "B"}}}
	for _, test := range []struct {
		a, b bool
		want int
		err  error
	}{{true, true, 2, nil}, {true, false, 1, nil}, {false, false, 0, nil}, {false, true, 0, ErrOptional}} {
		w := NewAppender(nil, Ptr64)
		for i, has := range []bool{test.a, test.b} {
			if w.Optional(i, has) {
				w.Uint8(9)
			}
		}
		if p, err := w.Done(d); len(p) != test.want || !errors.Is(err, test.err) || w.Wide() != true {
			t.Errorf("%+v: %x, %v", test, p, err)
		}
	}
}

// A SID as classic events hold it comes back as it was, and is cut off nowhere
// unnoticed.
func TestTokenUser(t *testing.T) {
	d := &EventDesc{Name: "E", Fields: []FieldDesc{{Name: "Sid", Type: InWBEMSID}}}
	for _, test := range []struct {
		user TokenUser
		ptr  PtrSize
		size int
		text string
		err  error
	}{
		{TokenUser{}, Ptr64, 4, "", nil},
		{TokenUser{User: 7, SID: MakeSID(5, 18)}, Ptr32, 20, "S-1-5-18", nil},
		{TokenUser{User: 7, Attributes: 1 << 40, SID: MakeSID(5, 18)}, Ptr64, 28, "S-1-5-18", nil},
		{TokenUser{User: 0, SID: MakeSID(5, 18)}, Ptr64, 0, "S-1-5-18", ErrUser},
		{TokenUser{User: 1 << 32, SID: MakeSID(5, 18)}, Ptr64, 0, "S-1-5-18", ErrUser}, // its first 4 bytes are 0
		{TokenUser{User: 7, SID: SID{1}}, Ptr64, 0, "01", ErrSID},
	} {
		text, err := test.user.MarshalText()
		appended, _ := test.user.AppendText([]byte("x"))
		if test.user.String() != test.text || string(text) != test.text || string(appended) != "x"+test.text || err != nil {
			t.Errorf("%+v is %s, want %s", test.user, test.user, test.text)
		}
		w := NewAppender(nil, test.ptr)
		w.TokenUser(0, test.user)
		p, err := w.Done(d)
		if len(p) != test.size || !errors.Is(err, test.err) {
			t.Errorf("%v is %d bytes, %v; want %d, %v", test.user, len(p), err, test.size, test.err)
		}
		for i := range p {
			c := NewCursor(p[:i:i], 0, test.ptr)
			if c.TokenUser(); !c.Failed() {
				t.Errorf("%d bytes of %d are enough", i, len(p))
			}
		}
		if err != nil {
			continue
		}
		c := NewCursor(p, 0, test.ptr)
		u := c.TokenUser()
		kept := u.Clone()
		if n, err := c.Done(d); n != len(p) || err != nil || u.User != test.user.User || u.Attributes != test.user.Attributes || !u.SID.Equal(test.user.SID) {
			t.Errorf("%v came back as %+v, %d bytes, %v", test.user, u, n, err)
		}
		if clear(p); kept.String() != test.text {
			t.Errorf("the clone of %s is now %s", test.text, kept)
		}
	}
}

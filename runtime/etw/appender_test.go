package etw

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// Each row appends one value with an Appender and reads it back with a Cursor.
func TestCursorAndAppender(t *testing.T) {
	g := MustParseGUID("11112222-3333-4444-5555-666677778888")
	st := SystemTime{2026, 11, 6, 21, 1, 2, 3, 4}
	ptrs32, _ := MakePointers(Ptr32, 1, 2)
	ptrs64, _ := MakePointers(Ptr64, 1, 2)
	u16s, _ := MakeUTF16s(MakeUTF16("a"), MakeUTF16(""))
	u16sN, _ := MakeUTF16sN(2, MakeUTF16("ab"))
	ansis, _ := MakeANSIs(ANSI("a"), ANSI(""))
	ansisN, _ := MakeANSIsN(2, ANSI("ab"), ANSI("cd"))
	binaries, _ := MakeBinariesN(2, Binary{1, 2})
	sids, _ := MakeSIDs(MakeSID(5, 18))
	sidsN, _ := MakeSIDsN(12, MakeSID(5, 18))
	sid := MakeSID(5, 18)
	tests := []struct {
		name  string
		ptr   PtrSize
		write func(w *Appender)
		read  func(r *Cursor) bool
	}{
		{"Uint8", 8, func(w *Appender) { w.Uint8(200) }, func(r *Cursor) bool { return r.Uint8() == 200 }},
		{"Uint16", 8, func(w *Appender) { w.Uint16(60000) }, func(r *Cursor) bool { return r.Uint16() == 60000 }},
		{"Uint32", 8, func(w *Appender) { w.Uint32(4e9) }, func(r *Cursor) bool { return r.Uint32() == 4e9 }},
		{"Uint64", 8, func(w *Appender) { w.Uint64(1e19) }, func(r *Cursor) bool { return r.Uint64() == 1e19 }},
		{"Int8", 8, func(w *Appender) { w.Int8(-1) }, func(r *Cursor) bool { return r.Int8() == -1 }},
		{"Int16", 8, func(w *Appender) { w.Int16(-2) }, func(r *Cursor) bool { return r.Int16() == -2 }},
		{"Int32", 8, func(w *Appender) { w.Int32(-3) }, func(r *Cursor) bool { return r.Int32() == -3 }},
		{"Int64", 8, func(w *Appender) { w.Int64(-4) }, func(r *Cursor) bool { return r.Int64() == -4 }},
		{"Float32", 8, func(w *Appender) { w.Float32(1.5) }, func(r *Cursor) bool { return r.Float32() == 1.5 }},
		{"Float64", 8, func(w *Appender) { w.Float64(math.Pi) }, func(r *Cursor) bool { return r.Float64() == math.Pi }},
		{"Bool", 8, func(w *Appender) { w.Bool(7) }, func(r *Cursor) bool { return r.Bool() == 7 }},
		{"FileTime", 8, func(w *Appender) { w.FileTime(5) }, func(r *Cursor) bool { return r.FileTime() == 5 }},
		{"GUID", 8, func(w *Appender) { w.GUID(g) }, func(r *Cursor) bool { return r.GUID() == g }},
		{"SystemTime", 8, func(w *Appender) { w.SystemTime(st) }, func(r *Cursor) bool { return r.SystemTime() == st }},
		{"Pointer of 4", 4, func(w *Appender) { w.Pointer(0, 6) }, func(r *Cursor) bool { return r.Pointer() == 6 }},
		{"Pointer of 8", 8, func(w *Appender) { w.Pointer(0, 6) }, func(r *Cursor) bool { return r.Pointer() == 6 && r.PtrSize() == 8 }},
		{"SID", 8, func(w *Appender) { w.SID(0, sid) }, func(r *Cursor) bool { return r.SID().Equal(sid) }},
		{"SIDN", 8, func(w *Appender) { w.SIDN(0, sid, 12) }, func(r *Cursor) bool { return r.SIDN(12).Equal(sid) }},
		{"UTF16Z", 8, func(w *Appender) { w.UTF16Z(0, MakeUTF16("text")) }, func(r *Cursor) bool { return r.UTF16().EqualString("text") }},
		{"UTF16N", 8, func(w *Appender) { w.UTF16N(0, MakeUTF16("text"), 4) }, func(r *Cursor) bool { return r.UTF16N(4).EqualString("text") }},
		{"ANSIZ", 8, func(w *Appender) { w.ANSIZ(0, ANSI("text")) }, func(r *Cursor) bool { return r.ANSI().String() == "text" }},
		{"ANSIN", 8, func(w *Appender) { w.ANSIN(0, ANSI("text"), 4) }, func(r *Cursor) bool { return r.ANSIN(4).String() == "text" }},
		{"BinaryN", 8, func(w *Appender) { w.BinaryN(0, Binary{1, 2}, 2) }, func(r *Cursor) bool { return r.BinaryN(2).String() == "0102" }},
		{"Rest", 8, func(w *Appender) { w.Rest(Binary{1, 2}) }, func(r *Cursor) bool { return len(r.Rest()) == 2 || r.Failed() }},
		{"Uint8s", 8, func(w *Appender) { w.Uint8s(0, Uint8s{1, 2}, 2) }, func(r *Cursor) bool { return r.Uint8s(2).Equal(Uint8s{1, 2}) }},
		{"Uint16s", 8, func(w *Appender) { w.Uint16s(0, MakeInts[uint16](1, 2), 2) }, func(r *Cursor) bool { return r.Uint16s(2).Equal(MakeInts[uint16](1, 2)) }},
		{"Uint32s", 8, func(w *Appender) { w.Uint32s(0, MakeInts[uint32](1, 2), 2) }, func(r *Cursor) bool { return r.Uint32s(2).Equal(MakeInts[uint32](1, 2)) }},
		{"Uint64s", 8, func(w *Appender) { w.Uint64s(0, MakeInts[uint64](1, 2), 2) }, func(r *Cursor) bool { return r.Uint64s(2).Equal(MakeInts[uint64](1, 2)) }},
		{"Int8s", 8, func(w *Appender) { w.Int8s(0, MakeInts[int8](-1, 2), 2) }, func(r *Cursor) bool { return r.Int8s(2).Equal(MakeInts[int8](-1, 2)) }},
		{"Int16s", 8, func(w *Appender) { w.Int16s(0, MakeInts[int16](-1, 2), 2) }, func(r *Cursor) bool { return r.Int16s(2).Equal(MakeInts[int16](-1, 2)) }},
		{"Int32s", 8, func(w *Appender) { w.Int32s(0, MakeInts[int32](-1, 2), 2) }, func(r *Cursor) bool { return r.Int32s(2).Equal(MakeInts[int32](-1, 2)) }},
		{"Int64s", 8, func(w *Appender) { w.Int64s(0, MakeInts[int64](-1, 2), 2) }, func(r *Cursor) bool { return r.Int64s(2).Equal(MakeInts[int64](-1, 2)) }},
		{"Float32s", 8, func(w *Appender) { w.Float32s(0, MakeFloats[float32](1.5), 1) }, func(r *Cursor) bool { return r.Float32s(1).Equal(MakeFloats[float32](1.5)) }},
		{"Float64s", 8, func(w *Appender) { w.Float64s(0, MakeFloats(1.5), 1) }, func(r *Cursor) bool { return r.Float64s(1).Equal(MakeFloats(1.5)) }},
		{"Bools", 8, func(w *Appender) { w.Bools(0, MakeInts(True), 1) }, func(r *Cursor) bool { return r.Bools(1).Equal(MakeInts(True)) }},
		{"FileTimes", 8, func(w *Appender) { w.FileTimes(0, MakeInts[FileTime](9), 1) }, func(r *Cursor) bool { return r.FileTimes(1).Equal(MakeInts[FileTime](9)) }},
		{"GUIDs", 8, func(w *Appender) { w.GUIDs(0, MakeGUIDs(g), 1) }, func(r *Cursor) bool { return r.GUIDs(1).Equal(MakeGUIDs(g)) }},
		{"SystemTimes", 8, func(w *Appender) { w.SystemTimes(0, MakeSystemTimes(st), 1) }, func(r *Cursor) bool { return r.SystemTimes(1).Equal(MakeSystemTimes(st)) }},
		{"Ints", 8, func(w *Appender) { AppendInts(w, 0, MakeInts[Pointer](9), 1) }, func(r *Cursor) bool { return ReadInts[Pointer](r, 1).Equal(MakeInts[Pointer](9)) }},
		{"Pointers of 4", 4, func(w *Appender) { w.Pointers(0, ptrs32, 2) }, func(r *Cursor) bool { return r.Pointers(2).Equal(ptrs32) }},
		{"Pointers of 8", 8, func(w *Appender) { w.Pointers(0, ptrs64, 2) }, func(r *Cursor) bool { return r.Pointers(2).Equal(ptrs64) }},
		{"UTF16s", 8, func(w *Appender) { w.UTF16s(0, u16s, 2) }, func(r *Cursor) bool { return r.UTF16s(2).Equal(u16s) }},
		{"UTF16sN", 8, func(w *Appender) { w.UTF16sN(0, u16sN, 1, 2) }, func(r *Cursor) bool { return r.UTF16sN(1, 2).Equal(u16sN) }},
		{"ANSIs", 8, func(w *Appender) { w.ANSIs(0, ansis, 2) }, func(r *Cursor) bool { return r.ANSIs(2).Equal(ansis) }},
		{"ANSIsN", 8, func(w *Appender) { w.ANSIsN(0, ansisN, 2, 2) }, func(r *Cursor) bool { return r.ANSIsN(2, 2).Equal(ansisN) }},
		{"BinariesN", 8, func(w *Appender) { w.BinariesN(0, binaries, 1, 2) }, func(r *Cursor) bool { return r.BinariesN(1, 2).Equal(binaries) }},
		{"SIDs", 8, func(w *Appender) { w.SIDs(0, sids, 1) }, func(r *Cursor) bool { return r.SIDs(1).Equal(sids) }},
		{"SIDsN", 8, func(w *Appender) { w.SIDsN(0, sidsN, 1, 12) }, func(r *Cursor) bool { return r.SIDsN(1, 12).Equal(sidsN) }},
		{"Elements", 8, func(w *Appender) { w.Elements(0, []byte{1, 2}, 8, 2, 2) }, func(r *Cursor) bool { return len(r.Bytes(2)) == 2 }},
	}
	empty := &EventDesc{Name: "E"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := []byte("before")
			w := NewAppender(before, test.ptr)
			test.write(&w)
			b, err := w.Done(empty)
			if err != nil || !bytes.HasPrefix(b, before) {
				t.Fatalf("wrote %x, %v", b, err)
			}
			r := NewCursor(b, len(before), test.ptr)
			if !test.read(&r) {
				t.Errorf("%x was read as something else", b[len(before):])
			}
			if n, err := r.Done(empty); n != len(b) || err != nil {
				t.Errorf("read %d of %d bytes, %v", n, len(b), err)
			}
			if got := r.Since(len(before)); !bytes.Equal(got, b[len(before):]) {
				t.Errorf("Since is %x", got)
			}
			// Every strict prefix fails, and failure is sticky.
			for i := len(before); i < len(b); i++ {
				r := NewCursor(b[:i:i], len(before), test.ptr)
				test.read(&r)
				if test.name == "Rest" {
					continue
				}
				if !r.Failed() {
					t.Errorf("%d bytes of %d are enough", i, len(b))
				}
				test.read(&r)
				if n, err := r.Done(empty); n != 0 || !errors.Is(err, ErrTruncated) || r.Since(0) != nil || r.Rest() != nil {
					t.Errorf("after a failure: %d, %v", n, err)
				}
			}
			// A writer that has failed appends nothing.
			w = NewAppender(before, test.ptr)
			w.Fail(0, ErrCount)
			test.write(&w)
			if b, err := w.Done(empty); !bytes.Equal(b, before) || !errors.Is(err, ErrCount) {
				t.Errorf("after a failure: %q, %v", b, err)
			}
			if v, err := w.View(); v != nil || !errors.Is(err, ErrCount) {
				t.Errorf("after a failure: %q, %v", v, err)
			}
		})
	}
}

func TestCursorLimits(t *testing.T) {
	p := make([]byte, 40)
	for name, read := range map[string]func(r *Cursor){
		"4 billion numbers":     func(r *Cursor) { r.Uint32s(4e9) },
		"2^64-1 numbers":        func(r *Cursor) { r.Uint64s(math.MaxUint64) },
		"4 billion strings":     func(r *Cursor) { r.UTF16s(4e9) },
		"4 billion ANSI":        func(r *Cursor) { r.ANSIs(4e9) },
		"4 billion SIDs":        func(r *Cursor) { r.SIDs(4e9) },
		"overflowing product":   func(r *Cursor) { r.UTF16sN(1<<33, 1<<31) },
		"long elements":         func(r *Cursor) { r.BinariesN(1, math.MaxUint64) },
		"billions of nothing":   func(r *Cursor) { r.BinariesN(4e9, 0) },
		"overflowing length":    func(r *Cursor) { r.UTF16N(1<<63 + 1) },
		"elements of a struct":  func(r *Cursor) { r.Count(11, 4) },
		"elements without size": func(r *Cursor) { r.Count(maxEmpty+1, 0) },
		"negative size":         func(r *Cursor) { r.Bytes(-1) },
	} {
		r := NewCursor(p, 0, Ptr64)
		read(&r)
		if !r.Failed() {
			t.Errorf("%s: no error", name)
		}
		if r.Count(1, 0) != 0 {
			t.Errorf("%s: a cursor that failed counts", name)
		}
	}
	r := NewCursor(p, 2, Ptr64)
	if r.RestCount(4) != 9 || r.RestCount(19) != 2 {
		t.Errorf("38 bytes are %d elements of 4 and %d of 19", r.RestCount(4), r.RestCount(19))
	}
	if r.fail(); r.RestCount(4) != 0 {
		t.Error("a cursor that failed counts the rest")
	}
	r = NewCursor(p, 0, Ptr64)
	if r.Count(10, 4) != 10 || r.Count(maxEmpty, 0) != maxEmpty || r.UTF16sN(0, 1<<40).Len() != 0 || r.Failed() {
		t.Error("good counts fail")
	}
}

func TestAppenderErrors(t *testing.T) {
	ptrs, _ := MakePointers(Ptr32, 1)
	names, _ := MakeUTF16s(MakeUTF16("a"))
	d := &EventDesc{Name: "E", Fields: []FieldDesc{{Name: "First"}, {Name: "Second"}}}
	for name, test := range map[string]struct {
		write func(w *Appender)
		want  error
	}{
		"wide pointer":       {func(w *Appender) { w.Pointer(1, 1<<32) }, ErrPointer},
		"malformed SID":      {func(w *Appender) { w.SID(1, SID{1, 1}) }, ErrSID},
		"NUL in UTF-16":      {func(w *Appender) { w.UTF16Z(1, UTF16{'a', 0, 0, 0}) }, ErrNUL},
		"half a character":   {func(w *Appender) { w.UTF16Z(1, UTF16{1}) }, ErrLength},
		"NUL in ANSI":        {func(w *Appender) { w.ANSIZ(1, ANSI{'a', 0}) }, ErrNUL},
		"length of UTF-16":   {func(w *Appender) { w.UTF16N(1, MakeUTF16("a"), 2) }, ErrLength},
		"length of bytes":    {func(w *Appender) { w.BinaryN(1, Binary{1}, 2) }, ErrLength},
		"count of numbers":   {func(w *Appender) { w.Uint32s(1, MakeInts[uint32](1), 2) }, ErrCount},
		"ragged numbers":     {func(w *Appender) { w.Uint32s(1, Uint32s{1}, 0) }, ErrCount},
		"count of pointers":  {func(w *Appender) { w.Pointers(1, ptrs, 2) }, ErrCount},
		"size of pointers":   {func(w *Appender) { w.ptr = 8; w.Pointers(1, ptrs, 1) }, ErrPointerSize},
		"count of strings":   {func(w *Appender) { w.UTF16s(1, names, 2) }, ErrCount},
		"length of elements": {func(w *Appender) { w.UTF16sN(1, names, 1, 4) }, ErrLength},
		"count of elements":  {func(w *Appender) { w.Elements(1, nil, 4, 1, 2) }, ErrCount},
		"size of elements":   {func(w *Appender) { w.Elements(1, nil, 8, 1, 1) }, ErrPointerSize},
	} {
		w := NewAppender([]byte("x"), Ptr32)
		w.Uint8(1)
		test.write(&w)
		b, err := w.Done(d)
		var ee *EncodeError
		if string(b) != "x" || !errors.Is(err, test.want) || !errors.As(err, &ee) || ee.Field != "Second" {
			t.Errorf("%s: %q, %v; want %v", name, b, err, test.want)
		}
		if want := "etw: encode E.Second: " + test.want.Error(); err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	w := NewAppender(nil, Ptr64)
	w.Uint8(1)
	if b, err := w.View(); string(b) != "\x01" || err != nil {
		t.Errorf("View = %q, %v", b, err)
	}
}

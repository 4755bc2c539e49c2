package etw

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// A Dynamic decodes events by their descriptions alone. It serves events that
// have no generated type: those whose schema a trace carries, and those of a
// manifest that was read at run time.
//
// Decoding finds where the fields lie and checks that they are whole;
// [Dynamic.FieldValue] then loads one. A Dynamic may be used again and again,
// and then allocates nothing. It must not be copied, nor used by several
// goroutines at once.
type Dynamic struct {
	desc    *EventDesc
	w       walker
	known   int // fields that were decoded
	fixed   *fixedPart
	layouts map[*EventDesc]*fixedPart
}

// A fixedPart says where the first fields of an event lie, those up to the first
// one whose size varies, for each pointer size.
type fixedPart struct {
	offsets [2][]int32 // one more than there are such fields
}

func newFixedPart(d *EventDesc) *fixedPart {
	f := new(fixedPart)
	for k, ptr := range [2]PtrSize{Ptr32, Ptr64} {
		off := int32(0)
		f.offsets[k] = append(f.offsets[k], off)
		for i := range d.Fields {
			field := &d.Fields[i]
			n := fixedSize(field, ptr)
			if n == 0 || field.Count.Kind != SizeNone {
				break
			}
			off += int32(n)
			f.offsets[k] = append(f.offsets[k], off)
		}
	}
	return f
}

// Decode decodes the start of the payload p as desc describes and returns the
// number of bytes that it read. Values alias p. After an error there are no
// values.
func (e *Dynamic) Decode(desc *EventDesc, p []byte, ptr PtrSize) (int, error) {
	e.start(desc, p, ptr, false)
	if !e.walk() {
		e.known = 0
		return 0, e.w.explain(desc)
	}
	return e.w.off, nil
}

// DecodeLoose is Decode for descriptions that may be wrong, as those that
// programs write into their own traces sometimes are. At the first fault it
// stops: the values of the fields before it are kept, and Rest returns the bytes
// from it on. The error says what the fault was. A string that the end of the
// payload cuts off is taken to be whole.
func (e *Dynamic) DecodeLoose(desc *EventDesc, p []byte, ptr PtrSize) (int, error) {
	e.start(desc, p, ptr, true)
	if !e.walk() {
		err := e.w.explain(desc)
		e.known = e.w.frames[0].i
		e.w.off = int(e.w.offsets[e.known])
		return e.w.off, err
	}
	return e.w.off, nil
}

func (e *Dynamic) start(desc *EventDesc, p []byte, ptr PtrSize, loose bool) {
	if desc != e.desc || e.fixed == nil {
		e.desc = desc
		f, ok := e.layouts[desc]
		if !ok {
			if e.layouts == nil {
				e.layouts = make(map[*EventDesc]*fixedPart)
			}
			f = newFixedPart(desc)
			e.layouts[desc] = f
		}
		e.fixed = f
	}
	if len(p) > math.MaxInt32 {
		p = p[:math.MaxInt32]
	}
	w := &e.w
	w.p, w.ptr, w.lenient = p, ptr, loose
	w.empty, w.err = 0, nil
	w.frames = w.frames[:0]
	w.open(desc.Fields, 0)
}

// walk moves over all fields: in one step over those of fixed size, if the
// payload holds them, and then one by one.
func (e *Dynamic) walk() bool {
	w := &e.w
	fixed := e.fixed.offsets[0]
	if w.ptr != Ptr32 {
		fixed = e.fixed.offsets[1]
	}
	if end := int(fixed[len(fixed)-1]); end <= len(w.p) {
		copy(w.offsets, fixed)
		w.off = end
		w.frames[0].i = len(fixed) - 2
	}
	e.known = len(e.desc.Fields)
	for w.frames[0].i < e.known-1 {
		if !w.next() {
			return false
		}
	}
	return true
}

// EventDesc returns the description that was last decoded by.
func (e *Dynamic) EventDesc() *EventDesc { return e.desc }

// FieldValue returns the value of field i of EventDesc().Fields, or none if the
// field was not decoded.
func (e *Dynamic) FieldValue(i int) Value {
	if uint(i) >= uint(e.known) {
		return Value{}
	}
	return e.w.value(0, i, e)
}

// Rest returns the bytes after the last field that was decoded.
func (e *Dynamic) Rest() []byte { return e.w.p[e.w.off:] }

// value returns field i of frame k, which is in in.
func (w *walker) value(k, i int, in fielder) Value {
	f := &w.frames[k]
	d := &f.fields[i]
	start, end := int(w.offsets[f.base+i]), int(w.offsets[f.base+i+1])
	if d.Count.Kind == SizeNone {
		return elementValue(d, w.p, start, end, w.ptr, in)
	}
	n, start := w.count(k, i, start, end)
	if d.Length.Kind == SizeNone {
		switch d.Type {
		case InChar16:
			return UTF16Value(UTF16(w.p[start:end:end]))
		case InChar8:
			return ANSIValue(ANSI(w.p[start:end:end]))
		}
	}
	return Value{kind: ArrayValueKind, ptr: w.ptr, num: span(start, end), aux: n, p: w.p, desc: d, src: in}
}

// count returns the number of elements of the array that is field i of frame k
// and lies from start to end, and where the first one starts. Where the payload
// does not say how many there are, it passes the array once more, as if the
// payload ended there.
func (w *walker) count(k, i, start, end int) (n uint64, first int) {
	d := &w.frames[k].fields[i]
	p, off, at, empty := w.p, w.off, w.frames[k].i, w.empty
	defer func() { w.p, w.off, w.frames[k].i, w.empty, w.err = p, off, at, empty, nil }()
	w.off, w.frames[k].i = start, i
	if d.Count.Kind != SizeRest {
		n, _ = w.size(d.Count)
		return n, w.off
	}
	w.p, w.empty = p[:end], 0
	n, _ = w.arrayOfRest(d)
	return n, start
}

// elementValue returns one element of d, which lies in p from start to end.
func elementValue(d *FieldDesc, p []byte, start, end int, ptr PtrSize, in fielder) Value {
	b := p[start:end:end]
	switch d.Type {
	case InInt8, InInt16, InInt32, InInt64:
		v, _ := loadUint(d.Type, b)
		return IntValue(int64(v))
	case InUInt8, InUInt16, InUInt32, InUInt64, InHexInt32, InHexInt64:
		v, _ := loadUint(d.Type, b)
		return UintValue(v)
	case InPointer:
		v, _ := loadUint(d.Type, b)
		return PointerValue(Pointer(v))
	case InBoolean:
		return BoolValue(Bool(binary.LittleEndian.Uint32(b)))
	case InBool8:
		return BoolValue(Bool(b[0]))
	case InFloat:
		return Value{kind: Float32ValueKind, num: uint64(binary.LittleEndian.Uint32(b))}
	case InDouble:
		return Value{kind: FloatValueKind, num: binary.LittleEndian.Uint64(b)}
	case InGUID:
		return value16(GUIDValueKind, b)
	case InSystemTime:
		return value16(SystemTimeValueKind, b)
	case InFileTime:
		return FileTimeValue(FileTime(binary.LittleEndian.Uint64(b)))
	case InUnicodeString:
		return UTF16Value(UTF16(text(b, d.Length, 2)))
	case InAnsiString:
		return ANSIValue(ANSI(text(b, d.Length, 1)))
	case InBinary:
		return BinaryValue(Binary(afterPrefix(b, d.Length)))
	case InSID:
		return SIDValue(SID(afterPrefix(b, d.Length)))
	case InCountedUnicodeString:
		return UTF16Value(UTF16(b[2:]))
	case InCountedAnsiString:
		return ANSIValue(ANSI(b[2:]))
	case InCountedBinary:
		return BinaryValue(Binary(b[2:]))
	case InLongBinary:
		return BinaryValue(Binary(b[4:]))
	case InChar16:
		return UTF16Value(UTF16(b))
	case InChar8:
		return ANSIValue(ANSI(b))
	case InVarUint:
		v, _ := binary.Uvarint(b)
		return UintValue(v)
	case InVarInt:
		v, _ := binary.Varint(b)
		return IntValue(v)
	case InDecimal:
		return Value{kind: DecimalValueKind, p: b}
	case InWBEMSID:
		if len(b) > 4 {
			return SIDValue(SID(b[2*ptr.Bytes():]))
		}
		return SIDValue(nil)
	case InRelLoc:
		return located(d, p, end, b, ptr, in)
	case InDataLoc:
		return located(d, p, 0, b, ptr, in)
	case InStruct:
		return Value{kind: StructValueKind, ptr: ptr, num: span(start, end), p: p, desc: d, src: in}
	}
	return Value{}
}

// text returns the characters of a string: without the NUL that ended it, or
// the prefix that gave its length.
func text(b []byte, length Size, unit int) []byte {
	if length.Kind != SizeNone {
		return afterPrefix(b, length)
	}
	n := len(b)
	if n < unit || b[n-1] != 0 || b[n-unit] != 0 {
		return b // cut off by the end of the payload
	}
	return b[: n-unit : n-unit]
}

func afterPrefix(b []byte, length Size) []byte {
	if length.Kind == SizePrefix {
		return b[2:]
	}
	return b
}

// located returns the value that the location word points to, counted from
// offset from of p.
func located(d *FieldDesc, p []byte, from int, word []byte, ptr PtrSize, in fielder) Value {
	start, end, err := locate(d, word, from, len(p), ptr)
	if err != nil {
		return Value{} // not possible for a payload that was decoded
	}
	elem := &d.Fields[0]
	switch elem.Type {
	case InChar16:
		return UTF16Value(UTF16(p[start:end:end]))
	case InChar8:
		return ANSIValue(ANSI(p[start:end:end]))
	}
	n := (end - start) / fixedSize(elem, ptr)
	return Value{kind: ArrayValueKind, ptr: ptr, num: span(start, end), aux: uint64(n), p: p, desc: elem, src: in}
}

// explain returns the error of a walk that failed, with the path to the field
// that the walk stopped in.
func (w *walker) explain(desc *EventDesc) error {
	var path strings.Builder
	offset := w.off
	for k := range w.frames {
		f := &w.frames[k]
		if f.i < 0 || f.i >= len(f.fields) {
			break
		}
		if k > 0 {
			path.WriteByte('.')
		}
		path.WriteString(f.fields[f.i].Name)
		if f.elem >= 0 {
			fmt.Fprintf(&path, "[%d]", f.elem)
		}
		if f.elem < 0 {
			offset = int(w.offsets[f.base+f.i])
		}
	}
	return &DecodeError{Event: desc, Field: path.String(), Offset: offset, Len: len(w.p), Err: w.err}
}

// explain walks the payload that a generated decoder refused by the description
// of the event, and returns an error that says where the fault is.
func explain(desc *EventDesc, p []byte, ptr PtrSize) error {
	var e Dynamic
	if _, err := e.Decode(desc, p, ptr); err != nil {
		return err
	}
	return &DecodeError{Event: desc, Len: len(p), Err: ErrTruncated}
}

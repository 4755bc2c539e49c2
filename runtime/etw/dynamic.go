package etw

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"sync"
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
			n := field.Type.Size(ptr)
			if field.Room > 0 && (field.endsAtNUL() || 0 < n && n <= int(field.Room)) {
				n = int(field.Room)
			}
			if n == 0 || field.Count.Kind != SizeNone || !field.When.always() || 0 < field.Room && int(field.Room) < n {
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
	n, whole := e.strictly(desc, p, ptr)
	if !whole {
		return 0, e.w.explain(desc)
	}
	return n, nil
}

// strictly is Decode for callers that do not ask for the fault, and reports whether there is
// none.
func (e *Dynamic) strictly(desc *EventDesc, p []byte, ptr PtrSize) (n int, whole bool) {
	e.start(desc, p, ptr, false)
	if !e.walk() {
		e.known = 0
		e.w.failed = e.w.off
		return 0, false
	}
	return e.w.off, true
}

// DecodeLoose is Decode for descriptions that may be wrong, as those that programs write
// into their own traces sometimes are. At the first fault it stops: the values of the fields
// before it are kept, and Rest returns the bytes from it on. The error names the fault. A
// string that the end of the payload cuts off is taken to be whole.
func (e *Dynamic) DecodeLoose(desc *EventDesc, p []byte, ptr PtrSize) (int, error) {
	n, whole := e.loosely(desc, p, ptr)
	if !whole {
		return n, e.w.explain(desc)
	}
	return n, nil
}

// loosely is DecodeLoose for callers that know the fault already, and reports whether there
// is none.
func (e *Dynamic) loosely(desc *EventDesc, p []byte, ptr PtrSize) (n int, whole bool) {
	e.start(desc, p, ptr, true)
	if e.walk() {
		return e.w.off, true
	}
	e.w.failed = e.w.off
	e.known = e.w.frames[0].i
	e.w.off = int(e.w.offsets[e.known])
	return e.w.off, false
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
	w := &e.w
	if p == nil { // a struct of nil is one by value
		p = []byte{}
	}
	w.p, w.ptr, w.lenient = p[:min(len(p), maxPayload)], ptr, loose
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
func (e *Dynamic) EventDesc() *EventDesc {
	if e.desc == nil {
		return &noEvent
	}
	return e.desc
}

// noEvent describes an event that was never decoded.
var noEvent EventDesc

// FieldValue returns the value of field i of EventDesc().Fields, or none if the
// field was not decoded or is not in the payload: see [When].
func (e *Dynamic) FieldValue(i int) Value {
	if uint(i) >= uint(e.known) {
		return Value{}
	}
	return e.w.value(0, i, e)
}

// String returns the event as [AppendText] shows it.
func (e *Dynamic) String() string { return string(AppendText(nil, e)) }

// MarshalJSON returns the fields as [AppendJSON] shows them.
func (e *Dynamic) MarshalJSON() ([]byte, error) { return AppendJSON(nil, e) }

// LogValue returns the fields as [LogValue] shows them.
func (e *Dynamic) LogValue() slog.Value { return LogValue(e) }

// Rest returns the bytes after the last field that was decoded.
func (e *Dynamic) Rest() []byte { return e.w.p[e.w.off:] }

// maxPadding is how many bytes without a meaning are behind a structure of C: up to a
// multiple of 8, and up to another one with the 4 bytes of its length.
const maxPadding = 11

// beyond returns the bytes behind the fields and their targets, unless it is padding.
func (e *Dynamic) beyond() []byte {
	end := e.w.off
	for i := range e.desc.Fields {
		d := &e.desc.Fields[i]
		if d.Type != InDataLoc && d.Type != InRelLoc || d.Count.Kind != SizeNone {
			continue
		}
		at := int(e.w.offsets[i])
		from := 0
		if d.Type == InRelLoc {
			from = at + 4
		}
		if _, to, err := locate(d, e.w.p[at:at+4], from, len(e.w.p), e.w.ptr); err == nil {
			end = max(end, to)
		}
	}
	if rest := e.w.p[end:]; len(rest) > maxPadding {
		return rest
	}
	return nil
}

// value returns field i of frame k, which is in in.
func (w *walker) value(k, i int, in fielder) Value {
	f := &w.frames[k]
	d := &f.fields[i]
	start, end := int(w.offsets[f.base+i]), int(w.offsets[f.base+i+1])
	if start == end && !d.When.always() {
		return Value{} // a field with a condition takes at least a byte
	}
	if d.Count.Kind == SizeNone {
		return elementValue(d, w.p, start, end, w.ptr, in)
	}
	n, start := w.count(k, i, start, end)
	if kind := d.characters(); kind != ValueNone {
		return Value{kind: kind, p: w.p[start:end:end], desc: d}
	}
	return Value{kind: ValueArray, ptr: w.ptr, num: span(start, end), aux: n, p: w.p, desc: d, src: in}
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

// characters returns the kind of text that an array of d is shown as, or
// ValueNone.
func (d *FieldDesc) characters() ValueKind {
	switch d.Type {
	case InChar8:
		return ValueANSI
	case InChar16:
		return ValueUTF16
	case InUInt8, InInt8:
		if d.Out.isText() {
			return ValueANSI
		}
	case InUInt16:
		if d.Out.isText() {
			return ValueUTF16
		}
	}
	return ValueNone
}

// elementValue returns one element of d, which lies in p from start to end.
func elementValue(d *FieldDesc, p []byte, start, end int, ptr PtrSize, in fielder) (v Value) {
	b := p[start:end:end]
	v.desc = d
	switch d.Type {
	case InRelLoc:
		return located(d, p, end, b, ptr, in)
	case InDataLoc:
		return located(d, p, 0, b, ptr, in)
	case InStruct:
		v.kind, v.ptr, v.num, v.p, v.src = ValueStruct, ptr, span(start, end), p, in
	default:
		if v.setNumber(d.Type, b); v.kind == ValueNone {
			v.setBytes(d, b, ptr)
		}
	}
	return v
}

// setNumber sets v to the value of b, of a type whose values are in the value itself.
func (v *Value) setNumber(t InType, b []byte) {
	switch t {
	case InInt8, InInt16, InInt32, InInt64:
		v.kind = ValueInt
		v.num, _ = loadUint(t, b)
	case InUInt8, InUInt16, InUInt32, InUInt64, InHexInt32, InHexInt64:
		v.kind = ValueUint
		v.num, _ = loadUint(t, b)
	case InPointer:
		v.kind = ValuePointer
		v.num, _ = loadUint(t, b)
	case InBoolean:
		v.kind, v.num = ValueBool, uint64(binary.LittleEndian.Uint32(b))
	case InBool8:
		v.kind, v.num = ValueBool, uint64(b[0])
	case InFloat:
		v.kind, v.num = ValueFloat32, uint64(binary.LittleEndian.Uint32(b))
	case InDouble:
		v.kind, v.num = ValueFloat, binary.LittleEndian.Uint64(b)
	case InGUID:
		v.kind, v.num, v.aux = ValueGUID, binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	case InSystemTime:
		v.kind, v.num, v.aux = ValueSystemTime, binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	case InFileTime:
		v.kind, v.num = ValueFileTime, binary.LittleEndian.Uint64(b)
	case InVarUint:
		v.kind = ValueUint
		v.num, _ = binary.Uvarint(b)
	case InVarInt:
		n, _ := binary.Varint(b)
		v.kind, v.num = ValueInt, uint64(n)
	}
}

// setBytes sets v to the value of b, of a type whose values are views.
func (v *Value) setBytes(d *FieldDesc, b []byte, ptr PtrSize) {
	switch d.Type {
	case InUnicodeString:
		v.kind, v.p = ValueUTF16, text(b, d, 2)
	case InAnsiString:
		v.kind, v.p = ValueANSI, text(b, d, 1)
	case InBinary:
		v.kind, v.p = ValueBinary, afterPrefix(b, d.Length)
	case InSID:
		v.kind, v.p = ValueSID, afterPrefix(b, d.Length)
	case InCountedUnicodeString:
		v.kind, v.p = ValueUTF16, b[2:]
	case InCountedAnsiString:
		v.kind, v.p = ValueANSI, b[2:]
	case InCountedBinary:
		v.kind, v.p = ValueBinary, b[2:]
	case InLongBinary:
		v.kind, v.p = ValueBinary, b[4:]
	case InChar16:
		v.kind, v.p = ValueUTF16, b
	case InChar8:
		v.kind, v.p = ValueANSI, b
	case InDecimal:
		v.kind, v.p = ValueDecimal, b
	case InWBEMSID:
		v.kind = ValueSID
		if len(b) > 4 {
			v.p = b[2*ptr.Bytes():]
		}
	}
}

// text returns the characters of a string: without the NUL that ended it, or
// the prefix that gave its length.
func text(b []byte, d *FieldDesc, unit int) []byte {
	if d.Length.Kind != SizeNone {
		return afterPrefix(b, d.Length)
	}
	if d.Room > 0 {
		return untilZero(b, unit)
	}
	n := len(b)
	if n < unit || b[n-1] != 0 || b[n-unit] != 0 {
		return b // cut off by the end of the payload
	}
	return b[: n-unit : n-unit]
}

// untilZero returns the whole characters of b before a NUL.
func untilZero(b []byte, unit int) []byte {
	for i := 0; i+unit <= len(b); i += unit {
		if b[i] == 0 && b[i+unit-1] == 0 {
			return b[:i:i]
		}
	}
	n := len(b) / unit * unit
	return b[:n:n]
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
	unit := elem.Type.Size(ptr)
	if elem.Type == InChar8 || elem.Type == InChar16 {
		end = start + len(untilZero(p[start:end], unit)) // which may be a part of it
	}
	n := (end - start) / unit
	return ArrayValue(elem, p[start:end:end], n, ptr, in)
}

// explain returns the error of a walk that failed, with the path to the field
// that the walk stopped in.
func (w *walker) explain(desc *EventDesc) error {
	var path strings.Builder
	offset := w.failed
	for k := range w.frames {
		f := &w.frames[k]
		if f.i < 0 || f.i >= len(f.fields) {
			break
		}
		if k > 0 {
			path.WriteByte('.')
		}
		path.WriteString(fieldName(f.fields, f.i))
		if f.elem >= 0 {
			fmt.Fprintf(&path, "[%d]", f.elem)
		}
		if f.elem < 0 {
			offset = int(w.offsets[f.base+f.i])
		}
	}
	return &DecodeError{Event: desc, Field: path.String(), Offset: offset, Len: len(w.p), Err: w.err}
}

// explainers are for traces in which every payload is refused.
var explainers = sync.Pool{New: func() any { return new(Dynamic) }}

// explain walks the payload that a generated decoder refused by the description
// of the event, and returns an error that says where the fault is.
func explain(desc *EventDesc, p []byte, ptr PtrSize) error {
	e := explainers.Get().(*Dynamic)
	defer explainers.Put(e)
	if _, err := e.Decode(desc, p, ptr); err != nil {
		return err
	}
	return &DecodeError{Event: desc, Len: len(p), Err: ErrTruncated}
}

package etw

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// A walker moves over a payload by the descriptions of its fields. It is the
// second decoder beside the generated ones. It shares limits but no code with the
// Cursor that those use, so that each can be held against the other.
//
//  1. open starts a list of fields, next moves past one of them and remembers
//     where it lay.
//  2. A size that another field gives is loaded from where that field lies: in
//     the frame of the same struct, in one further out, or, for a walk that
//     started inside an event, in what the walk's origin was in.
//  3. At the first fault the walk stops with err set and the frames as they
//     stand, which name the path to the fault.
type walker struct {
	p       []byte
	off     int
	ptr     PtrSize
	outer   fielder // what the first frame is in, or nil
	lenient bool    // a string that the payload cuts off is whole
	empty   int     // elements so far that took no bytes
	err     error
	failed  int // where the walk stopped
	frames  []frame
	offsets []int32 // where fields lie; each frame has its stretch
	visit   visitor // nil but for a visit
	path    []FieldPath
}

// A frame is an open list of fields.
type frame struct {
	fields []FieldDesc
	base   int // of its stretch of offsets
	i      int // the field that the walk is in
	elem   int // of which element, or -1
}

// fail stops the walk.
func (w *walker) fail(err error) bool {
	w.err = err
	return false
}

// open starts a list of fields at offset off.
func (w *walker) open(fields []FieldDesc, off int) {
	w.off = off
	base := 0
	if n := len(w.frames); n > 0 {
		f := &w.frames[n-1]
		base = f.base + len(f.fields) + 1
	}
	for len(w.offsets) < base+len(fields)+1 {
		w.offsets = append(w.offsets, 0)
	}
	w.frames = append(w.frames, frame{fields: fields, base: base, i: -1, elem: -1})
	w.offsets[base] = int32(off)
}

// close ends the innermost list of fields.
func (w *walker) close() { w.frames = w.frames[:len(w.frames)-1] }

// next moves past the next field of the innermost frame.
func (w *walker) next() bool {
	top := len(w.frames) - 1
	f := &w.frames[top]
	f.i++
	f.elem = -1
	at := f.base + f.i + 1
	if !w.field(&f.fields[f.i]) {
		return false
	}
	w.offsets[at] = int32(w.off)
	return true
}

// field moves past a field, if it is there.
func (w *walker) field(d *FieldDesc) bool {
	if !d.When.holds(w.ptr, len(w.p)-w.off) {
		return true
	}
	from := w.off
	switch {
	case d.Room > 0:
		return w.room(d) && (w.visit == nil || w.tell(d, from))
	case d.Count.Kind == SizeNone:
		return w.element(d, d.Length) && (w.visit == nil || w.tell(d, from))
	}
	_, ok := w.array(d)
	return ok
}

// room moves past a field that takes more bytes than its value.
func (w *walker) room(d *FieldDesc) bool {
	if d.endsAtNUL() {
		return w.skip(uint64(d.Room))
	}
	bare := *d
	bare.Room = 0
	if n, exact := fieldSize(&bare, w.ptr, 0); !exact || n > int(d.Room) {
		return w.fail(ErrSchema)
	}
	return w.skip(uint64(d.Room))
}

// endsAtNUL reports whether the field is a single text that ends at a NUL.
func (d *FieldDesc) endsAtNUL() bool {
	return (d.Type == InAnsiString || d.Type == InUnicodeString) && d.Count.Kind == SizeNone && d.Length.Kind == SizeNone
}

// array moves past an array and returns the number of its elements.
func (w *walker) array(d *FieldDesc) (n uint64, ok bool) {
	start := w.off
	if d.Count.Kind == SizeRest {
		return w.arrayOfRest(d)
	}
	if n, ok = w.size(d.Count); !ok {
		return 0, false
	}
	length, ok := w.elementLength(d, n, start)
	if !ok {
		return 0, false
	}
	elem := *d
	elem.Length = length
	least, constant := elementSize(&elem, w.ptr, 0)
	// Where elements may be empty, only they can tell whether they are.
	if least > 0 && n > uint64(len(w.p)-w.off)/uint64(least) || least == 0 && constant && n > maxEmpty {
		w.off = start
		return 0, w.fail(ErrCount)
	}
	if constant && least > 0 && w.visit == nil {
		w.off += int(n) * least
		return n, true
	}
	top, from := len(w.frames)-1, w.off
	for i := range n {
		if top >= 0 {
			w.frames[top].elem = int(i)
		}
		if !w.counted(d, length) {
			return 0, false
		}
		if i == 0 && w.off == from && n > maxEmpty {
			w.off = start
			return 0, w.fail(ErrCount)
		}
	}
	return n, true
}

// elementLength returns the length of the n elements of an array that begins at start: where a
// field gives it, the same for each.
func (w *walker) elementLength(d *FieldDesc, n uint64, start int) (length Size, ok bool) {
	if d.Length.Kind != SizeField || !takesLength(d.Type) {
		return d.Length, true
	}
	v, ok := w.size(d.Length)
	if ok && n > 0 && v > uint64(len(w.p)) {
		w.off = start
		return Size{}, w.fail(ErrTruncated)
	}
	return Size{Kind: SizeConst, N: uint32(v)}, ok
}

// arrayOfRest moves past an array that takes the rest of the payload: as many
// whole elements as there are.
func (w *walker) arrayOfRest(d *FieldDesc) (n uint64, ok bool) {
	if size, constant := elementSize(d, w.ptr, 0); constant && size > 0 && w.visit == nil {
		n = uint64((len(w.p) - w.off) / size)
		w.off += int(n) * size
		return n, true
	}
	top := len(w.frames) - 1
	for w.off < len(w.p) {
		if top >= 0 {
			w.frames[top].elem = int(n)
		}
		if !w.counted(d, d.Length) {
			return 0, false
		}
		n++
	}
	return n, true
}

// counted moves past an element of an array, and bounds how many of them take
// no bytes.
func (w *walker) counted(d *FieldDesc, length Size) bool {
	from := w.off
	if !w.element(d, length) {
		return false
	}
	if w.visit != nil {
		w.tell(d, from)
	}
	if w.off == from {
		// Arrays of such elements may lie in each other.
		if w.empty++; w.empty > 64*maxEmpty {
			return w.fail(ErrCount)
		}
	}
	return true
}

// size returns the value of s. A prefix is read and passed.
func (w *walker) size(s Size) (uint64, bool) {
	switch s.Kind {
	case SizeConst:
		return uint64(s.N), true
	case SizePrefix:
		if !w.has(2) {
			return 0, w.fail(ErrTruncated)
		}
		n := binary.LittleEndian.Uint16(w.p[w.off:])
		w.off += 2
		return uint64(n), true
	case SizeField:
		return w.reference(int(s.Up), int(s.N))
	}
	return 0, w.fail(ErrSchema)
}

// reference returns the value of the integer field i, up frames outward.
func (w *walker) reference(up, i int) (uint64, bool) {
	if k := len(w.frames) - 1 - up; k >= 0 {
		f := &w.frames[k]
		if i < 0 || i >= f.i || f.fields[i].Count.Kind != SizeNone || !f.fields[i].When.always() {
			return 0, w.fail(ErrSchema)
		}
		return loadUint(f.fields[i].Type, w.p[w.offsets[f.base+i]:w.offsets[f.base+i+1]])
	}
	in := w.outer
	for up -= len(w.frames); up > 0; up-- {
		v, ok := in.(*Value)
		if !ok {
			return 0, w.fail(ErrSchema)
		}
		in = v.src
	}
	if in == nil {
		return 0, w.fail(ErrSchema)
	}
	switch v := in.FieldValue(i); v.kind {
	case ValueInt, ValueUint, ValueBool, ValuePointer:
		return v.num, true
	}
	return 0, true // as loadUint has it
}

// loadUint returns the integer of type t in p. Other types are 0, which no
// length may be: a description that refers to one is wrong, and harmless.
func loadUint(t InType, p []byte) (uint64, bool) {
	switch t {
	case InUInt8, InBool8:
		return uint64(p[0]), true
	case InInt8:
		return uint64(int8(p[0])), true
	case InUInt16:
		return uint64(binary.LittleEndian.Uint16(p)), true
	case InInt16:
		return uint64(int16(binary.LittleEndian.Uint16(p))), true
	case InUInt32, InHexInt32, InBoolean:
		return uint64(binary.LittleEndian.Uint32(p)), true
	case InInt32:
		return uint64(int32(binary.LittleEndian.Uint32(p))), true
	case InUInt64, InHexInt64, InInt64:
		return binary.LittleEndian.Uint64(p), true
	case InPointer:
		if len(p) == 4 {
			return uint64(binary.LittleEndian.Uint32(p)), true
		}
		return binary.LittleEndian.Uint64(p), true
	case InVarUint:
		v, _ := binary.Uvarint(p) // which was checked when it was passed
		return v, true
	case InVarInt:
		v, _ := binary.Varint(p)
		return uint64(v), true
	}
	return 0, true
}

// has reports whether n more bytes are there.
func (w *walker) has(n int) bool { return n <= len(w.p)-w.off }

// skip moves n bytes on.
func (w *walker) skip(n uint64) bool {
	if n > uint64(len(w.p)-w.off) {
		return w.fail(ErrTruncated)
	}
	w.off += int(n)
	return true
}

// element moves past one element of d, whose length is given apart, since an
// array resolves it once.
func (w *walker) element(d *FieldDesc, length Size) bool {
	if n := fixedSizes[d.Type]; n > 0 {
		return w.skip(uint64(n))
	}
	switch d.Type {
	case InRelLoc, InDataLoc:
		return w.location(d)
	case InPointer:
		return w.skip(uint64(w.ptr.Bytes()))
	case InUnicodeString:
		if length.Kind == SizeNone {
			return w.utf16()
		}
		return w.sized(length, 2)
	case InAnsiString:
		if length.Kind == SizeNone {
			return w.ansi()
		}
		return w.sized(length, 1)
	case InBinary:
		return w.sized(length, 1)
	case InSID:
		if length.Kind != SizeNone {
			return w.sized(length, 1)
		}
		return w.sid(w.off)
	case InStruct:
		return w.structure(d)
	case InCountedUnicodeString, InCountedAnsiString, InCountedBinary:
		return w.sized(Size{Kind: SizePrefix}, 1)
	case InLongBinary:
		if !w.has(4) {
			return w.fail(ErrTruncated)
		}
		return w.skip(4 + uint64(binary.LittleEndian.Uint32(w.p[w.off:])))
	case InVarInt, InVarUint:
		return w.varint()
	case InWBEMSID:
		return w.wbemSID()
	case InNull:
		return true
	}
	return w.fail(ErrSchema)
}

// sized moves past a length of units of unit bytes.
func (w *walker) sized(length Size, unit uint64) bool {
	start := w.off
	if length.Kind == SizeRest {
		w.off += (len(w.p) - w.off) / int(unit) * int(unit)
		return true
	}
	n, ok := w.size(length)
	if !ok {
		return false
	}
	if n > uint64(len(w.p)) || !w.skip(n*unit) {
		w.off = start
		return w.fail(ErrTruncated)
	}
	return true
}

// utf16 moves past a string and its NUL.
func (w *walker) utf16() bool {
	i := w.off
	// Four units at a time: the sum leaves the high bit of a lane clear only if
	// the other bits of the lane are 0.
	const low, high = 0x7fff7fff7fff7fff, 0x8000800080008000
	for ; i+8 <= len(w.p); i += 8 {
		if v := binary.LittleEndian.Uint64(w.p[i:]); ^(v&low+low|v)&high != 0 {
			break
		}
	}
	for ; i+2 <= len(w.p); i += 2 {
		if w.p[i] == 0 && w.p[i+1] == 0 {
			w.off = i + 2
			return true
		}
	}
	if w.lenient {
		w.off += (len(w.p) - w.off) &^ 1
		return true
	}
	return w.fail(ErrTruncated)
}

// ansi moves past a string and its NUL.
func (w *walker) ansi() bool {
	n := bytes.IndexByte(w.p[w.off:], 0)
	if n < 0 {
		if w.lenient {
			w.off = len(w.p)
			return true
		}
		return w.fail(ErrTruncated)
	}
	w.off += n + 1
	return true
}

// sid moves past a SID at offset at.
func (w *walker) sid(at int) bool {
	if at+8 > len(w.p) || at+8+4*int(w.p[at+1]) > len(w.p) {
		return w.fail(ErrTruncated)
	}
	w.off = at + 8 + 4*int(w.p[at+1])
	return true
}

// wbemSID moves past the SID of a classic event: two pointers lie before it
// unless the first is null.
func (w *walker) wbemSID() bool {
	if !w.has(4) {
		return w.fail(ErrTruncated)
	}
	if binary.LittleEndian.Uint32(w.p[w.off:]) == 0 {
		w.off += 4
		return true
	}
	return w.sid(w.off + 2*w.ptr.Bytes())
}

// location moves past a word that says where a value lies, and checks that it
// lies in the payload.
func (w *walker) location(d *FieldDesc) bool {
	if !w.has(4) {
		return w.fail(ErrTruncated)
	}
	word := w.p[w.off : w.off+4]
	from := 0
	if d.Type == InRelLoc {
		from = w.off + 4
	}
	if _, _, err := locate(d, word, from, len(w.p), w.ptr); err != nil {
		return w.fail(err)
	}
	w.off += 4
	return true
}

// locate returns from where to where in a payload of size bytes the value lies
// that word points to, counted from offset from.
func locate(d *FieldDesc, word []byte, from, size int, ptr PtrSize) (start, end int, err error) {
	v := binary.LittleEndian.Uint32(word)
	start = from + int(v&0xffff)
	end = start + int(v>>16)
	if len(d.Fields) != 1 {
		return 0, 0, ErrSchema
	}
	unit := d.Fields[0].Type.Size(ptr)
	switch {
	case unit == 0:
		return 0, 0, ErrSchema
	case end > size:
		return 0, 0, ErrTruncated
	case (end-start)%unit != 0:
		return 0, 0, ErrLength
	}
	return start, end, nil
}

// varint moves past a variable-length integer.
func (w *walker) varint() bool {
	_, n := binary.Uvarint(w.p[w.off:])
	switch {
	case n == 0:
		return w.fail(ErrTruncated)
	case n < 0:
		return w.fail(ErrVarInt)
	}
	w.off += n
	return true
}

var errNesting = errors.New("structs are nested too deep")

// structure moves past the members of a struct.
func (w *walker) structure(d *FieldDesc) bool {
	if len(w.frames) >= maxNesting {
		return w.fail(errNesting)
	}
	w.open(d.Fields, w.off)
	for range d.Fields {
		if !w.next() {
			return false
		}
	}
	w.close()
	return true
}

package file

import "encoding/binary"

// A thrift appends structs in the compact protocol of Thrift, which the metadata of
// a file is in. Fields of a struct are given in the order of their numbers.
type thrift struct {
	b    []byte
	last []int16 // number of the last field of each struct that is open
}

// Types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactI8     = 3
	compactI32    = 5
	compactI64    = 6
	compactBinary = 8
	compactList   = 9
	compactStruct = 12
)

// begin opens a struct that is the element of a list, or stands alone.
//
//go:noinline
func (t *thrift) begin() { t.last = append(t.last, 0) }

// end closes the innermost struct.
//
//go:noinline
func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

// field appends the header of a field.
func (t *thrift) field(id int16, kind byte) {
	last := &t.last[len(t.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta)<<4|kind)
	} else {
		t.b = binary.AppendVarint(append(t.b, kind), int64(id))
	}
	*last = id
}

func (t *thrift) i8(id int16, v byte) {
	t.field(id, compactI8)
	t.b = append(t.b, v)
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, compactI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, compactI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) boolean(id int16, v bool) {
	kind := byte(compactFalse)
	if v {
		kind = compactTrue
	}
	t.field(id, kind)
}

func (t *thrift) text(id int16, s string) {
	t.field(id, compactBinary)
	t.element(s)
}

func (t *thrift) bytes(id int16, p []byte) {
	t.field(id, compactBinary)
	t.b = append(binary.AppendUvarint(t.b, uint64(len(p))), p...)
}

// element appends a text that is the element of a list.
func (t *thrift) element(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

// nest opens a struct that is a field.
func (t *thrift) nest(id int16) {
	t.field(id, compactStruct)
	t.begin()
}

// union appends a union whose member is an empty struct.
func (t *thrift) union(id, member int16) {
	t.nest(id)
	t.nest(member)
	t.end()
	t.end()
}

// list appends the header of a list of n elements.
func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, compactList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
}

// A thriftReader reads structs of the compact protocol.
type thriftReader struct {
	b     []byte
	depth int
	bad   bool
}

// maxDepth is how deeply structs may lie in each other.
const maxDepth = 64

func (t *thriftReader) fail() { t.b, t.bad = nil, true }

// take returns the next n bytes.
func (t *thriftReader) take(n uint64) []byte {
	if n > uint64(len(t.b)) {
		t.fail()
		return nil
	}
	p := t.b[:n]
	t.b = t.b[n:]
	return p
}

func (t *thriftReader) byte() byte {
	if p := t.take(1); len(p) == 1 {
		return p[0]
	}
	return 0
}

func (t *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

// varint reads a number in zigzag form.
func (t *thriftReader) varint() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// fields reads a struct. do reads the value of each field, or skips it.
func (t *thriftReader) fields(do func(id int16, kind byte)) {
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	id := int16(0)
	for !t.bad {
		h := t.byte()
		if h == 0 {
			break
		}
		if id += int16(h >> 4); h>>4 == 0 {
			id = int16(t.varint())
		}
		do(id, h&15)
	}
	t.depth--
}

// nest reads a struct that is a field or an element.
func (t *thriftReader) nest(kind byte, do func(id int16, kind byte)) {
	if kind != compactStruct {
		t.fail()
		return
	}
	t.fields(do)
}

// list reads a list. do reads each element.
func (t *thriftReader) list(kind byte, do func(kind byte)) {
	if kind != compactList {
		t.fail()
		return
	}
	h := t.byte()
	n := uint64(h >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && !t.bad; n-- {
		do(h & 15)
	}
}

// number reads an integer.
func (t *thriftReader) number(kind byte) int64 {
	if kind != compactI32 && kind != compactI64 {
		t.fail()
		return 0
	}
	return t.varint()
}

func (t *thriftReader) bytes(kind byte) []byte {
	if kind != compactBinary {
		t.fail()
		return nil
	}
	return t.take(t.uvarint())
}

// skip passes over a value.
func (t *thriftReader) skip(kind byte) {
	switch kind {
	case compactTrue, compactFalse:
	case compactI8:
		t.byte()
	case compactI32, compactI64:
		t.uvarint()
	case compactBinary:
		t.bytes(kind)
	case compactList:
		t.list(kind, func(kind byte) {
			if kind == compactTrue || kind == compactFalse { // which as a field is in its header
				kind = compactI8
			}
			t.skip(kind)
		})
	case compactStruct:
		t.fields(func(_ int16, kind byte) { t.skip(kind) })
	default:
		t.fail()
	}
}

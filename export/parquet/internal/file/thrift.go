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
func (t *thrift) begin() { t.last = append(t.last, 0) }

// end closes the innermost struct.
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

package eventheader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A metadataReader reads an event's description of its fields. It is passed by value where it
// has to be read again, as for each element of an array of structs.
type metadataReader struct {
	b   []byte
	bad bool
}

// name reads a name, without attributes behind it.
func (m *metadataReader) name() string {
	text, rest, found := bytes.Cut(m.b, []byte{0})
	m.b, m.bad = rest, m.bad || !found
	name, _, _ := bytes.Cut(text, []byte{';'})
	return string(name)
}

func (m *metadataReader) byte() byte {
	if len(m.b) == 0 {
		m.bad = true
		return 0
	}
	b := m.b[0]
	m.b = m.b[1:]
	return b
}

func (m *metadataReader) bytes(n int) []byte {
	if len(m.b) < n {
		m.b, m.bad = nil, true
		return make([]byte, n)
	}
	b := m.b[:n]
	m.b = m.b[n:]
	return b
}

// The encodings of fields, and the bits beside them.
const (
	encStruct = 1 + iota
	enc8
	enc16
	enc32
	enc64
	enc128
	encZ8
	encZ16
	encZ32
	encString8
	encString16
	encString32
	encBinary

	encMask     = 0x1f
	encConstant = 0x20
	encVariable = 0x40
	chain       = 0x80
)

// The formats of fields.
const (
	fmtDefault = iota
	fmtUnsigned
	fmtSigned
	fmtHex
	fmtErrno
	fmtPID
	fmtTime
	fmtBoolean
	fmtFloat
	fmtBytes
	fmtLatin1
	fmtUTF
	fmtBOM
	fmtXML
	fmtJSON
	fmtUUID
	fmtPort
	fmtIP
	fmtIPOld
)

// A field is one as the metadata has it.
type field struct {
	name            string
	encoding, count byte
	format          byte
	elements        int // of a constant array
}

func (m *metadataReader) field(order binary.ByteOrder) (f field) {
	f.name = m.name()
	encoding := m.byte()
	f.encoding, f.count = encoding&encMask, encoding&(encConstant|encVariable)
	if encoding&chain != 0 {
		format := m.byte()
		if f.format = format &^ chain; format&chain != 0 {
			m.bytes(2) // a tag
		}
	}
	if f.count == encConstant {
		f.elements = int(order.Uint16(m.bytes(2)))
	}
	return f
}

// A writer writes the payload of an event anew.
type writer struct {
	order    binary.ByteOrder
	in, out  []byte
	variants []byte // on what the types of fields depend besides the metadata
	count    int    // of the elements of the array that is read
	depth    int
	steps    int
}

// How deep structs lie in each other, and how many elements an event has: its size has 16 bits.
const (
	maxDepth = 16
	maxSteps = 1 << 16
)

// zeros are read where only the types of members are sought.
var zeros [math.MaxUint16]byte

// list writes up to n fields, and returns their descriptions. It leaves rest behind the
// metadata that it has read, if that is not nil.
func (w *writer) list(m metadataReader, n int, rest *metadataReader) (fields []etw.FieldDesc, err error) {
	if w.depth++; w.depth > maxDepth {
		return nil, errors.New("structs lie too deep in each other")
	}
	defer func() { w.depth-- }()
	for ; n > 0 && len(m.b) > 0; n-- {
		f := m.field(w.order)
		if m.bad {
			return nil, errShort
		}
		d, err := w.field(&f, &m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		fields = append(fields, d)
	}
	if rest != nil {
		*rest = m
	}
	return fields, nil
}

// field writes a field, with all its elements if it is an array.
func (w *writer) field(f *field, m *metadataReader) (d etw.FieldDesc, err error) {
	count := 1
	switch f.count {
	case encConstant:
		count = f.elements
		d.Count = etw.Size{Kind: etw.SizeConst, N: uint32(count)}
	case encVariable:
		count = int(w.uint16())
		w.count = count
		d.Count = etw.Size{Kind: etw.SizePrefix}
		w.out = binary.LittleEndian.AppendUint16(w.out, uint16(count))
	case encConstant | encVariable:
		return d, errors.New("an array of no kind")
	}
	d.Name = f.name
	if f.encoding == encStruct {
		return d, w.structs(f, m, count, &d)
	}
	var e element
	if err := w.element(f, &e); err != nil {
		return d, err
	}
	d.Type, d.Out, d.Length = e.typ, e.out, e.length
	for i := range count {
		if w.spent(i) {
			return d, errShort
		}
		w.write(f, &e)
		if w.in == nil {
			return d, errShort
		}
	}
	return d, nil
}

// structs writes structs, whose members follow in the metadata.
func (w *writer) structs(f *field, m *metadataReader, count int, d *etw.FieldDesc) error {
	d.Type = etw.InStruct
	members, begin := *m, len(w.variants)
	for i := range max(count, 1) {
		if w.spent(i) {
			return errShort
		}
		x := w
		if count == 0 { // only what they are is written
			x = &writer{order: w.order, in: zeros[:], depth: w.depth, steps: w.steps}
		}
		fields, err := x.list(members, int(f.format), m)
		w.steps = x.steps
		if err != nil {
			return err
		}
		if i == 0 {
			d.Fields = fields
		}
	}
	if count > 1 && len(w.variants) > begin { // elements may not differ in their types
		return errors.New("an array of structs with values of several types")
	}
	return nil
}

// spent counts an element, and reports whether there can be none: there are too many, or the
// payload ended before one that is not the first.
func (w *writer) spent(i int) bool {
	w.steps++
	return w.steps > maxSteps || w.in == nil || i > 0 && len(w.in) == 0
}

// take returns the next n bytes of the payload.
func (w *writer) take(n int) []byte {
	if w.in == nil || n > len(w.in) {
		w.in = nil
		return make([]byte, n)
	}
	b := w.in[:n:n]
	w.in = w.in[n:]
	if w.in == nil {
		w.in = []byte{}
	}
	return b
}

func (w *writer) uint16() uint16 { return w.order.Uint16(w.take(2)) }

// number takes a number of a size and writes it little-endian.
func (w *writer) number(size int) {
	b := w.take(size)
	if w.order == binary.BigEndian {
		b = bytes.Clone(b)
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	w.out = append(w.out, b...)
}

// units takes text of units of a size up to a 0, or as long as the payload says, and returns
// its bytes.
func (w *writer) units(size int, ends bool) []byte {
	if !ends {
		return w.take(size * int(w.uint16()))
	}
	for n := 0; n+size <= len(w.in); n += size {
		if bytes.Count(w.in[n:][:size], []byte{0}) == size {
			b := w.take(n)
			w.take(size)
			return b
		}
	}
	b := w.take(len(w.in)) // it ends with the payload
	return b[:len(b)/size*size]
}

// text returns text of units of a size as UTF-8.
func text(b []byte, unit int, latin1 bool, order binary.ByteOrder) []byte {
	if unit == 1 && !latin1 && utf8.Valid(b) {
		return b
	}
	var out []byte
	if unit == 2 {
		var units []uint16
		for ; len(b) >= 2; b = b[2:] {
			units = append(units, order.Uint16(b))
		}
		return []byte(string(utf16.Decode(units)))
	}
	for ; len(b) >= unit; b = b[unit:] {
		r := rune(b[0]) // bytes that are no UTF-8 are shown as Latin-1, as others do
		if unit == 4 {
			r = rune(min(order.Uint32(b), utf8.MaxRune+1))
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

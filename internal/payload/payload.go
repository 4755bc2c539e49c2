// Package payload makes payloads of events from their descriptions, for tests.
package payload

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Random returns a payload of the event that d describes, with pointers of size
// ptr. The same seed gives the same payload. Values are arbitrary, but for
// counts and lengths, which are small and right; seed 0 has all of them 0. The
// description is one that a manifest can have.
func Random(d *etw.EventDesc, ptr etw.PtrSize, seed uint64) []byte {
	m := maker{b: []byte{}, ptr: ptr, rand: rand.New(rand.NewPCG(seed, uint64(d.ID)<<8|uint64(d.Version))), empty: seed == 0}
	m.fields(d.Fields)
	return m.b
}

// Plain returns a payload for people to read: numbers count from 1, text is letters, and
// lists with a count or a length in the payload have 2 elements.
func Plain(d *etw.EventDesc, ptr etw.PtrSize) []byte {
	m := maker{b: []byte{}, ptr: ptr, plain: true}
	m.fields(d.Fields)
	return m.b
}

// A maker builds a payload.
type maker struct {
	b     []byte
	ptr   etw.PtrSize
	rand  *rand.Rand
	empty bool
	plain bool
	last  uint64 // the last number of a plain payload
	// scopes holds the integers of the structs around the current one, and its
	// own, by the index of the field.
	scopes [][]uint64
}

// fields appends the fields of an event or struct.
func (m *maker) fields(fields []etw.FieldDesc) {
	sizes := make(map[int]bool)
	markSizes(fields, 0, sizes)
	values := make([]uint64, len(fields))
	m.scopes = append(m.scopes, values)
	for i := range fields {
		d := &fields[i]
		if sizes[i] {
			values[i] = m.upTo(4)
			m.number(d.Type.Size(m.ptr), values[i])
			continue
		}
		if d.When.Left > 0 && (m.empty || !m.plain && m.rand.Uint64N(4) == 0) {
			break // and all after it
		}
		if d.When.Ptr == 0 || d.When.Ptr == m.ptr {
			m.field(d)
		}
	}
	m.scopes = m.scopes[:len(m.scopes)-1]
}

// markSizes collects the fields that give a count or length to a field among
// fields, or, depth structs further in, among their members.
func markSizes(fields []etw.FieldDesc, depth uint8, sizes map[int]bool) {
	for i := range fields {
		for _, s := range []etw.Size{fields[i].Count, fields[i].Length} {
			if s.Kind == etw.SizeField && s.Up == depth {
				sizes[int(s.N)] = true
			}
		}
		markSizes(fields[i].Fields, depth+1, sizes)
	}
}

// field appends a field, all elements of it.
func (m *maker) field(d *etw.FieldDesc) {
	n := uint64(1)
	if d.Count.Kind != etw.SizeNone {
		n = m.size(d.Count)
	}
	for range n {
		m.element(d)
	}
}

// size returns a count or length.
func (m *maker) size(s etw.Size) uint64 {
	switch s.Kind {
	case etw.SizeConst:
		return uint64(s.N)
	case etw.SizeField:
		return m.scopes[len(m.scopes)-1-int(s.Up)][s.N]
	case etw.SizeRest:
		return m.upTo(4)
	}
	return 0
}

// upTo returns a small number: 0 in an empty payload, and 2 in a plain one.
func (m *maker) upTo(most uint64) uint64 {
	switch {
	case m.empty:
		return 0
	case m.plain:
		return 2
	}
	return m.rand.Uint64N(most + 1)
}

// next returns the next number of a plain payload.
func (m *maker) next() uint64 {
	m.last++
	return m.last
}

// element appends one element of a field.
func (m *maker) element(d *etw.FieldDesc) {
	switch d.Type {
	case etw.InStruct:
		m.fields(d.Fields)
	case etw.InUnicodeString:
		m.string(2, d.Length)
	case etw.InAnsiString:
		m.string(1, d.Length)
	case etw.InBinary:
		m.bytes(m.size(d.Length))
	case etw.InSID:
		if d.Length.Kind == etw.SizeNone {
			n := m.length()
			m.number(1, 1)
			m.number(1, n)
			m.bytes(6 + 4*n)
			return
		}
		m.bytes(m.size(d.Length))
	case etw.InWBEMSID:
		if m.length() == 0 {
			m.number(4, 0)
			return
		}
		m.number(m.ptr.Bytes(), 1+m.value(math.MaxUint32))
		m.bytes(uint64(m.ptr.Bytes()))
		m.element(&etw.FieldDesc{Type: etw.InSID})
	case etw.InCountedUnicodeString:
		n := m.length()
		m.number(2, 2*n)
		m.text(2, n)
	case etw.InCountedAnsiString:
		n := m.length()
		m.number(2, n)
		m.text(1, n)
	case etw.InCountedBinary:
		n := m.length()
		m.number(2, n)
		m.bytes(n)
	case etw.InVarInt, etw.InVarUint:
		m.b = binary.AppendUvarint(m.b, m.variable())
	case etw.InFloat:
		m.number(4, uint64(math.Float32bits(float32(m.float()))))
	case etw.InDouble:
		m.number(8, math.Float64bits(m.float()))
	default:
		if size := d.Type.Size(m.ptr); m.plain && size <= 8 {
			m.number(size, m.next())
		} else {
			m.bytes(uint64(size))
		}
	}
}

// variable returns a number that takes some of 64 bits.
func (m *maker) variable() uint64 {
	switch {
	case m.plain:
		return m.next()
	case m.empty:
		return 0
	}
	return m.rand.Uint64() >> m.rand.Uint64N(64)
}

// string appends text of characters of the given size, which ends with its length or at a NUL.
func (m *maker) string(size int, length etw.Size) {
	if length.Kind != etw.SizeNone {
		m.text(size, m.size(length))
		return
	}
	for range m.length() {
		m.character(size)
	}
	m.number(size, 0)
}

// length returns how long something is that ends where it says.
func (m *maker) length() uint64 { return m.upTo(11) }

// float returns a number with a fraction.
func (m *maker) float() float64 {
	if m.plain {
		return float64(m.next()) + 0.5
	}
	return m.rand.Float64()
}

// value returns a number below n.
func (m *maker) value(n uint64) uint64 {
	if m.plain {
		return m.next() % n
	}
	return m.rand.Uint64N(n)
}

// character appends a character of the given size, which is not NUL.
func (m *maker) character(size int) {
	if m.plain {
		m.number(size, 'a'+m.next()%26)
		return
	}
	m.number(size, 1+m.rand.Uint64N(1<<(8*size)-1))
}

// text appends n characters, or bytes in their place.
func (m *maker) text(size int, n uint64) {
	if !m.plain {
		m.bytes(uint64(size) * n)
		return
	}
	for range n {
		m.character(size)
	}
}

// bytes appends n bytes.
func (m *maker) bytes(n uint64) {
	for range n {
		if m.plain {
			m.b = append(m.b, byte(m.next()))
		} else {
			m.b = append(m.b, byte(m.rand.Uint32()))
		}
	}
}

// number appends the lower size bytes of v.
func (m *maker) number(size int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	m.b = append(m.b, b[:size]...)
}

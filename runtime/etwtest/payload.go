package etwtest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Payload returns a payload of the event that d describes, with pointers of size
// ptr. The same seed gives the same payload. Values are arbitrary, but for
// counts and lengths, which are small and right; seed 0 has all of them 0. The
// description is one that a manifest can have.
func Payload(d *etw.EventDesc, ptr etw.PtrSize, seed uint64) []byte {
	m := maker{b: []byte{}, ptr: ptr, rand: rand.New(rand.NewPCG(seed, uint64(d.ID)<<8|uint64(d.Version))), empty: seed == 0}
	m.fields(d.Fields)
	return m.b
}

// A maker builds a payload.
type maker struct {
	b     []byte
	ptr   etw.PtrSize
	rand  *rand.Rand
	empty bool
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
			if !m.empty {
				values[i] = m.rand.Uint64N(5)
			}
			m.number(d.Type.Size(m.ptr), values[i])
			continue
		}
		if d.When.Left > 0 && (m.empty || m.rand.Uint64N(4) == 0) {
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
		if !m.empty {
			return m.rand.Uint64N(5)
		}
	}
	return 0
}

// element appends one element of a field.
func (m *maker) element(d *etw.FieldDesc) {
	switch d.Type {
	case etw.InStruct:
		m.fields(d.Fields)
	case etw.InUnicodeString:
		if d.Length.Kind == etw.SizeNone {
			for range m.length() {
				m.number(2, 1+m.rand.Uint64N(math.MaxUint16))
			}
			m.number(2, 0)
			return
		}
		m.bytes(2 * m.size(d.Length))
	case etw.InAnsiString:
		if d.Length.Kind == etw.SizeNone {
			for range m.length() {
				m.number(1, 1+m.rand.Uint64N(math.MaxUint8))
			}
			m.number(1, 0)
			return
		}
		m.bytes(m.size(d.Length))
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
		m.number(m.ptr.Bytes(), 1+m.rand.Uint64N(math.MaxUint32))
		m.bytes(uint64(m.ptr.Bytes()))
		m.element(&etw.FieldDesc{Type: etw.InSID})
	case etw.InCountedUnicodeString:
		n := 2 * m.length()
		m.number(2, n)
		m.bytes(n)
	case etw.InCountedAnsiString, etw.InCountedBinary:
		n := m.length()
		m.number(2, n)
		m.bytes(n)
	case etw.InVarInt, etw.InVarUint:
		v := m.rand.Uint64() >> m.rand.Uint64N(64)
		if m.empty {
			v = 0
		}
		m.b = binary.AppendUvarint(m.b, v)
	case etw.InFloat:
		m.number(4, uint64(math.Float32bits(m.rand.Float32())))
	case etw.InDouble:
		m.number(8, math.Float64bits(m.rand.Float64()))
	default:
		m.bytes(uint64(d.Type.Size(m.ptr)))
	}
}

// length returns how long something is that ends where it says.
func (m *maker) length() uint64 {
	if m.empty {
		return 0
	}
	return m.rand.Uint64N(12)
}

// bytes appends n bytes.
func (m *maker) bytes(n uint64) {
	for range n {
		m.b = append(m.b, byte(m.rand.Uint32()))
	}
}

// number appends the lower size bytes of v.
func (m *maker) number(size int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	m.b = append(m.b, b[:size]...)
}

// takesRest reports whether a field takes the rest of the payload or depends on
// it, so that less of a payload may be a payload, too.
func takesRest(fields []etw.FieldDesc) bool {
	for i := range fields {
		d := &fields[i]
		if d.Count.Kind == etw.SizeRest || d.Length.Kind == etw.SizeRest || d.When.Left > 0 || takesRest(d.Fields) {
			return true
		}
	}
	return false
}

package frames

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A FixedNumber is where payloads have a field that is an unsigned number, if it is the same
// place in all of them. Most fields are read from there, many times faster than through a
// value.
type FixedNumber struct {
	size uint8 // 0 if there is no such place
	at   uint32
}

// FixedNumbers returns the places of the fields of an event whose pointers are of
// size ptr.
func FixedNumbers(desc *etw.EventDesc, ptr etw.PtrSize) []FixedNumber {
	list := make([]FixedNumber, len(desc.Fields))
	at := 0
	for i := range desc.Fields {
		d := &desc.Fields[i]
		size, exact := d.Size(ptr)
		if !exact || d.When != (etw.When{}) {
			break
		}
		if d.Count.Kind == etw.SizeNone {
			switch d.Type {
			case etw.InUInt8, etw.InUInt16, etw.InUInt32, etw.InUInt64, etw.InHexInt32, etw.InHexInt64, etw.InPointer:
				list[i] = FixedNumber{uint8(size), uint32(at)}
			}
		}
		at += size
	}
	return list
}

// Load returns the number of an event that was decoded without a fault.
func (f FixedNumber) Load(s *pick.Shot) (uint64, bool) {
	if f.size == 0 || s.Err != nil || int(f.at)+int(f.size) > len(s.Payload) {
		return 0, false
	}
	switch p := s.Payload[f.at:]; f.size {
	case 4:
		return uint64(binary.LittleEndian.Uint32(p)), true
	case 8:
		return binary.LittleEndian.Uint64(p), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(p)), true
	default:
		return uint64(p[0]), true
	}
}

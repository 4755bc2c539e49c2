package native

import (
	"encoding/binary"
	"encoding/hex"
)

// maxNotes bounds notes that are read.
const maxNotes = 1 << 16

// buildID returns the build id of an ELF file in hexadecimal, or "".
func (x *elfFile) buildID() string {
	find := func(at, n uint64) string {
		if n > maxNotes {
			return ""
		}
		b, err := x.bytes(at, n)
		if err != nil {
			return ""
		}
		return noteID(x.order, b)
	}
	for i := range x.sections {
		if s := &x.sections[i]; s.kind == sectionNote {
			if id := find(s.at, s.n); id != "" {
				return id
			}
		}
	}
	for i := range x.segments {
		if s := &x.segments[i]; s.kind == segmentNote {
			if id := find(s.at, s.n); id != "" {
				return id
			}
		}
	}
	return ""
}

// noteID finds the build id among notes: three numbers, a name and a value, padded to 4
// bytes each.
func noteID(order binary.ByteOrder, b []byte) string {
	const gnuBuildID = 3
	for len(b) >= 12 {
		name, desc, kind := uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])), order.Uint32(b[8:])
		at := 12 + (name+3)&^3
		end := at + (desc+3)&^3
		if at+desc > uint64(len(b)) {
			return ""
		}
		if kind == gnuBuildID && string(b[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(b[at : at+desc])
		}
		b = b[min(end, uint64(len(b))):]
	}
	return ""
}

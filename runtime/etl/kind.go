package etl

import "encoding/binary"

// The top byte of a record's first 32 bits tells its kind.
const (
	markerRecord  = 0xc0
	markerMessage = 0x90
)

// Kinds of records: the byte below the marker. The odd one out of each pair
// differs in the pointer size of the process that logged.
const (
	kindSystem32   = 0x01
	kindSystem64   = 0x02
	kindCompact32  = 0x03
	kindCompact64  = 0x04
	kindFull32     = 0x0a
	kindInstance32 = 0x0b
	kindPerfInfo32 = 0x10
	kindPerfInfo64 = 0x11
	kindEvent32    = 0x12
	kindEvent64    = 0x13
	kindFull64     = 0x14
	kindInstance64 = 0x15
	numberedKinds  = 0x16
)

// Sizes of the headers of records.
const (
	systemHeaderSize   = 0x20
	compactHeaderSize  = 0x18
	perfInfoHeaderSize = 0x10
	fullHeaderSize     = 0x30
	instanceHeaderSize = 0x48
	eventHeaderSize    = 0x50
	messageHeaderSize  = 0x08
)

// A recordLayout says where a kind of record has its size and time stamp.
type recordLayout struct {
	header  uint8 // size of the header, 0 for kinds that are not known
	sizeAt  uint8 // 0 or 4
	timeAt  uint8
	pointer uint8
}

var recordLayouts = [numberedKinds]recordLayout{
	kindSystem32:   {systemHeaderSize, 4, 0x10, 4},
	kindSystem64:   {systemHeaderSize, 4, 0x10, 8},
	kindCompact32:  {compactHeaderSize, 4, 0x10, 4},
	kindCompact64:  {compactHeaderSize, 4, 0x10, 8},
	kindPerfInfo32: {perfInfoHeaderSize, 4, 0x08, 4},
	kindPerfInfo64: {perfInfoHeaderSize, 4, 0x08, 8},
	kindFull32:     {fullHeaderSize, 0, 0x10, 4},
	kindFull64:     {fullHeaderSize, 0, 0x10, 8},
	kindInstance32: {instanceHeaderSize, 0, 0x10, 4},
	kindInstance64: {instanceHeaderSize, 0, 0x10, 8},
	kindEvent32:    {eventHeaderSize, 0, 0x10, 4},
	kindEvent64:    {eventHeaderSize, 0, 0x10, 8},
}

// A measured has the facts about a record that finding needs.
type measured struct {
	size  int
	ticks int64
	timed bool // ticks is known
	known bool // the kind is
}

// isFilling reports whether p, at the place of a record, is the filling behind
// the last one.
func isFilling(p []byte) bool {
	marker := binary.LittleEndian.Uint32(p)
	return marker == 0xffffffff || marker == 0
}

// measureRecord looks at the start of p, of at least messageHeaderSize bytes. It
// reports false unless all of a record lies there that is of a known kind, and no
// message: nearly all are. The rest is up to measure.
func measureRecord(p []byte) (r measured, sound bool) {
	start := binary.LittleEndian.Uint64(p)
	kind := uint8(start >> 16)
	if uint8(start>>24) != markerRecord || kind >= numberedKinds {
		return r, false
	}
	l := &recordLayouts[kind]
	r.size = int(uint16(start >> (8 * l.sizeAt & 63)))
	if l.header == 0 || r.size < int(l.header) || r.size > len(p) {
		return r, false
	}
	r.ticks, r.timed, r.known = le64(p[l.timeAt:]), true, true
	return r, true
}

// measure looks at the record at the start of p, of at least messageHeaderSize
// bytes. If there is none, or not all of it, it says so in words.
func measure(p []byte) (r measured, fault string) {
	r, sound := measureRecord(p)
	if sound {
		return r, ""
	}
	if isFilling(p) {
		return r, "there is filling before the end that the header gives"
	}
	minimum := messageHeaderSize
	switch p[3] {
	case markerRecord:
		if p[2] < numberedKinds && recordLayouts[p[2]].header != 0 {
			minimum, r.known = int(recordLayouts[p[2]].header), true
			if len(p) < minimum {
				return r, "it is cut off"
			}
		} else {
			// A kind that is not known has its size where most have it.
			r.size = int(binary.LittleEndian.Uint16(p))
		}
	case markerMessage:
		minimum = messageSize(p)
		r.size = int(binary.LittleEndian.Uint16(p))
		r.ticks, r.timed = messageTime(p)
		r.known = true
	default:
		return r, "it does not begin like one"
	}
	switch {
	case r.size < minimum:
		return r, "it is shorter than its header"
	case r.size > len(p):
		return r, "it is cut off"
	}
	return r, ""
}

// beginsRecord reports whether p begins like a record.
func beginsRecord(p []byte) bool {
	return len(p) >= 4 && (p[3] == markerRecord || p[3] == markerMessage)
}

// recordTime returns the time stamp of a record of which p is the beginning,
// and false if it has none there.
func recordTime(p []byte) (int64, bool) {
	if len(p) < messageHeaderSize {
		return 0, false
	}
	switch p[3] {
	case markerRecord:
		if p[2] < numberedKinds {
			if l := &recordLayouts[p[2]]; l.header != 0 && len(p) >= int(l.timeAt)+8 {
				return le64(p[l.timeAt:]), true
			}
		}
	case markerMessage:
		return messageTime(p)
	}
	return 0, false
}

// le64 reads a little-endian number where the caller has checked the length.
func le64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// optionalID reads a process or thread id, of which all ones mean none.
func optionalID(p []byte) int64 {
	id := binary.LittleEndian.Uint32(p)
	if id == 0xffffffff {
		return -1
	}
	return int64(id)
}

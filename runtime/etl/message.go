package etl

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Bits of the options of a WPP trace message, at offset 6 of its header. Each of
// the first group says that a member follows the header, in this order.
const (
	messageSequence    = 0x01 // uint32
	messageGUID        = 0x02 // 16 bytes
	messageComponentID = 0x04 // uint32, in place of the GUID
	messageTimestamp   = 0x08 // int64
	messagePerfClock   = 0x10 // int64
	messageSystemInfo  = 0x20 // uint32 thread, uint32 process
	messagePointer32   = 0x40
	messagePointer64   = 0x80
)

func messageOptions(p []byte) uint16 { return binary.LittleEndian.Uint16(p[6:]) }

// messageSize returns the size of the header of the message p with the members
// that its options announce.
func messageSize(p []byte) int {
	size := messageHeaderSize + messageTimeAt(messageOptions(p))
	if hasMessageTime(p) {
		size += 8
	}
	if messageOptions(p)&messageSystemInfo != 0 {
		size += 8
	}
	return size
}

// messageTimeAt returns the size of the members before the time stamp.
func messageTimeAt(options uint16) int {
	n := 0
	if options&messageSequence != 0 {
		n = 4
	}
	switch {
	case options&messageGUID != 0:
		n += 16
	case options&messageComponentID != 0:
		n += 4
	}
	return n
}

func hasMessageTime(p []byte) bool {
	return messageOptions(p)&(messageTimestamp|messagePerfClock) != 0
}

// messageTime returns the time stamp of the message p, and false if it has none
// or p ends before it.
func messageTime(p []byte) (int64, bool) {
	at := messageHeaderSize + messageTimeAt(messageOptions(p))
	if !hasMessageTime(p) || len(p) < at+8 {
		return 0, false
	}
	return le64(p[at:]), true
}

// fillMessage sets rec from the message p.
func fillMessage(rec *etw.Record, p []byte, native etw.PtrSize) {
	options := messageOptions(p)
	rec.Kind = etw.KindMessage
	rec.ID = binary.LittleEndian.Uint16(p[4:])
	rec.ProcessID, rec.ThreadID = -1, -1
	switch {
	case options&messagePointer32 != 0:
		rec.PointerSize = etw.Ptr32
	case options&messagePointer64 != 0:
		rec.PointerSize = etw.Ptr64
	default:
		rec.PointerSize = native
	}
	at := messageHeaderSize
	if options&messageSequence != 0 {
		at += 4
	}
	switch {
	case options&messageGUID != 0:
		rec.Provider = etw.GUID(p[at : at+16])
		at += 16
	case options&messageComponentID != 0:
		// A component has a number instead of a GUID. It is put where a GUID has
		// its first group.
		copy(rec.Provider[:4], p[at:])
		at += 4
	}
	if hasMessageTime(p) {
		at += 8
	}
	if options&messageSystemInfo != 0 {
		rec.ThreadID = optionalID(p[at:])
		rec.ProcessID = optionalID(p[at+4:])
		at += 8
	}
	rec.Payload = p[at:]
}

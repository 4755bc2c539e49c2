package etl

import "encoding/binary"

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

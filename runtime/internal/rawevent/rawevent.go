// Package rawevent has the structures with which Windows calls back for each event, and
// makes records of them.
package rawevent

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/extended"
)

// The structures of evntcons.h, for 64 and 32 bits. C aligns 64-bit members to 8 bytes
// everywhere, Go on 386 to 4: where that matters there is padding of narrow bytes. The sizes
// and offsets at the end of this file are checked when the package is compiled, on whatever
// system.

// word is the size of a pointer, and narrow 4 where that is 4, otherwise 0.
const (
	word   = unsafe.Sizeof(uintptr(0))
	narrow = 8 - word
)

// Header is EVENT_HEADER, which is in buffers as it is in memory.
type Header struct {
	Size       uint16
	HeaderType uint16
	Flags      uint16
	Property   uint16
	ThreadID   uint32
	ProcessID  uint32
	TimeStamp  int64
	ProviderID etw.GUID
	ID         uint16
	Version    uint8
	Channel    uint8
	Level      uint8
	Opcode     uint8
	Task       uint16
	Keyword    uint64
	Times      uint64
	ActivityID etw.GUID
}

// Flags of Header.
const (
	HasItems       = 0x0001
	Bits32         = 0x0020
	Bits64         = 0x0040
	Message        = 0x0008
	Classic        = 0x0100
	ProcessorIndex = 0x0200
)

// Record is EVENT_RECORD.
type Record struct {
	Header         Header
	Processor      [2]uint8 // a number and an alignment, or one number of 16 bits
	_              uint16
	ExtendedCount  uint16
	UserDataLength uint16
	Extended       *Item
	UserData       *byte
	Context        uintptr
	_              [narrow]byte
	end            [0]byte
}

// Item is EVENT_HEADER_EXTENDED_DATA_ITEM.
type Item struct {
	_    uint16
	Type uint16
	_    uint16
	Size uint16
	Data uint64 // a pointer, whatever its size
}

// fileTimeClock is that of time stamps that Windows has made times of.
var fileTimeClock = etw.Clock{Frequency: 1e7}

// RecordOf sets r to the event of an EVENT_RECORD, whose time stamps are those of a clock, or of
// nil in units of 100 ns since 1601. Extended of r is used again.
func RecordOf(r *etw.Record, event unsafe.Pointer, clock *etw.Clock) {
	e := (*Record)(event)
	if clock == nil {
		clock = &fileTimeClock
	}
	processor := uint16(e.Processor[0])
	if e.Header.Flags&ProcessorIndex != 0 {
		processor = binary.LittleEndian.Uint16(e.Processor[:])
	}
	items := r.Extended[:0]
	Set(r, &e.Header, etw.PtrSize(unsafe.Sizeof(uintptr(0))))
	r.Processor, r.Clock = int32(processor), clock
	if e.Extended != nil {
		list := unsafe.Slice(e.Extended, int(e.ExtendedCount))
		for i := range list {
			// The address is a number of 64 bits, of which the lower ones, which come
			// first, are the pointer.
			data := unsafe.Slice(*(**byte)(unsafe.Pointer(&list[i].Data)), int(list[i].Size))
			if typ := etw.ExtendedType(list[i].Type); extended.Take(r, typ, data) {
				items = append(items, etw.ExtendedItem{Type: typ, Data: data})
			}
		}
	}
	if len(items) > 0 {
		r.Extended = items
	}
	if e.UserData != nil {
		r.Payload = unsafe.Slice(e.UserData, int(e.UserDataLength))
	}
}

// Set sets r to the values of a header. The size of pointers is that of the system, for
// headers that do not tell.
func Set(r *etw.Record, h *Header, size etw.PtrSize) {
	*r = etw.Record{
		Provider: h.ProviderID, Version: h.Version, Level: etw.Level(h.Level), Opcode: etw.Opcode(h.Opcode),
		PointerSize: size, ProcessID: optionalID(h.ProcessID), ThreadID: optionalID(h.ThreadID), Timestamp: h.TimeStamp,
	}
	switch {
	case h.Flags&Bits32 != 0:
		r.PointerSize = etw.Ptr32
	case h.Flags&Bits64 != 0:
		r.PointerSize = etw.Ptr64
	}
	switch {
	case h.Flags&Classic != 0:
		r.Kind = etw.KindClassic
	case h.Flags&Message != 0:
		r.Kind, r.ID = etw.KindMessage, h.ID
		r.Version, r.Level, r.Opcode = 0, 0, 0
	default:
		r.ID, r.Channel, r.Task, r.Keywords, r.ActivityID = h.ID, h.Channel, h.Task, h.Keyword, h.ActivityID
	}
}

// optionalID returns a process or thread id, of which all ones mean none.
func optionalID(id uint32) int64 {
	if id == math.MaxUint32 {
		return -1
	}
	return int64(id)
}

// Each of these has two numbers that must be equal, or the package does not compile: the
// negative of anything but 0 is no uintptr.
const (
	both = (word - 4) / 4 // 1 where pointers have 64 bits

	_ = -(unsafe.Sizeof(Header{}) ^ 80)
	_ = -(unsafe.Offsetof(Header{}.TimeStamp) ^ 16)
	_ = -(unsafe.Offsetof(Header{}.ID) ^ 40)
	_ = -(unsafe.Offsetof(Header{}.Keyword) ^ 48)
	_ = -(unsafe.Offsetof(Header{}.ActivityID) ^ 64)
	_ = -(unsafe.Offsetof(Record{}.end) ^ (104 + 8*both))
	_ = -(unsafe.Offsetof(Record{}.Extended) ^ 88)
	_ = -(unsafe.Offsetof(Record{}.UserData) ^ (92 + 4*both))
	_ = -(unsafe.Offsetof(Record{}.Context) ^ (96 + 8*both))
	_ = -(unsafe.Sizeof(Item{}) ^ 16)
)

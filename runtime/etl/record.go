package etl

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// flagExtended says in an event header's flags that extended items follow it.
const flagExtended = 1

// Bits of the version of kernel records: the data between header and payload.
const (
	versionPEBS     = 0x8000 // 8 bytes
	versionCounters = 0x0700 // 8 bytes each
)

// A filler sets records, each from bytes of a block. It has the state that one record leaves
// to the next.
type filler struct {
	items []etw.ExtendedItem // room for those of a record
	// The class of the last record with a GUID for it. Mostly the next is of the
	// same one.
	class     etw.GUID
	className string
}

// nameOf returns the name of a class.
func (f *filler) nameOf(class etw.GUID) string {
	if class != f.class {
		f.class, f.className = class, classic.ClassName(class)
	}
	return f.className
}

// fill sets rec from the record p of block b.
func (f *filler) fill(rec *etw.Record, b *block, p []byte, key int64) {
	*rec = etw.Record{
		Processor: int32(b.ref.processor),
		Clock:     b.file.clock,
		File:      b.file.name,
	}
	f.items = f.items[:0]
	if p[3] == markerMessage {
		fillMessage(rec, p, b.file.header.PointerSize)
		if ticks, ok := messageTime(p); ok {
			rec.Timestamp = ticks
		} else {
			rec.Timestamp = b.file.ticks(key)
		}
		return
	}
	kind := p[2]
	l := &recordLayouts[kind]
	rec.PointerSize = etw.PtrSize(l.pointer)
	rec.Timestamp = le64(p[l.timeAt:])
	switch kind {
	case kindEvent64, kindEvent32:
		f.fillEvent(rec, p)
	case kindPerfInfo64, kindPerfInfo32:
		rec.ProcessID, rec.ThreadID = -1, -1
		f.fillKernel(rec, p, perfInfoHeaderSize)
	case kindSystem64, kindSystem32, kindCompact64, kindCompact32:
		rec.ThreadID = optionalID(p[0x08:])
		rec.ProcessID = optionalID(p[0x0c:])
		f.fillKernel(rec, p, int(l.header))
	default:
		f.fillClassic(rec, p, int(l.header))
	}
}

// fillClassic sets rec from a record with an EVENT_TRACE_HEADER or an
// EVENT_INSTANCE_GUID_HEADER, which identify the event by a class and a type.
func (f *filler) fillClassic(rec *etw.Record, p []byte, header int) {
	rec.Kind = etw.KindClassic
	rec.Opcode = etw.Opcode(p[0x04])
	rec.Level = etw.Level(p[0x05])
	rec.Version = p[0x06]
	rec.ThreadID = optionalID(p[0x08:])
	rec.ProcessID = optionalID(p[0x0c:])
	rec.Provider = etw.GUID(p[0x18:0x28])
	rec.ProviderName = f.nameOf(rec.Provider)
	rec.Payload = p[header:]
	if header == instanceHeaderSize {
		f.items = append(f.items, etw.ExtendedItem{Type: etw.ExtInstance, Data: p[fullHeaderSize:instanceHeaderSize]})
		rec.Extended = f.items
	}
}

// fillKernel sets rec from a record of the kernel, whose header is of the given
// size and identifies the event by a group and a type.
func (f *filler) fillKernel(rec *etw.Record, p []byte, header int) {
	version := binary.LittleEndian.Uint16(p)
	rec.Kind = etw.KindClassic
	rec.Version = uint8(version)
	rec.Opcode = etw.Opcode(p[6])
	rec.Provider, rec.ProviderName = classic.KernelClass(p[7], rec.Opcode)
	payload := p[header:]
	if version&(versionPEBS|versionCounters) == 0 {
		rec.Payload = payload
		return
	}
	pebs := 8 * int(version>>15)
	counters := 8 * int(version&versionCounters>>8)
	if len(payload) < pebs+counters {
		rec.Payload = payload
		return
	}
	if pebs > 0 {
		f.items = append(f.items, etw.ExtendedItem{Type: etw.ExtPEBSIndex, Data: payload[:pebs]})
	}
	if counters > 0 {
		f.items = append(f.items, etw.ExtendedItem{Type: etw.ExtCounters, Data: payload[pebs : pebs+counters]})
	}
	rec.Extended = f.items
	rec.Payload = payload[pebs+counters:]
}

// fillEvent sets rec from a record with an EVENT_HEADER.
func (f *filler) fillEvent(rec *etw.Record, p []byte) {
	_ = p[eventHeaderSize-1]
	rec.ThreadID = optionalID(p[0x08:])
	rec.ProcessID = optionalID(p[0x0c:])
	rec.Provider = etw.GUID(p[0x18:0x28])
	rec.ID = binary.LittleEndian.Uint16(p[0x28:])
	rec.Version = p[0x2a]
	rec.Channel = p[0x2b]
	rec.Level = etw.Level(p[0x2c])
	rec.Opcode = etw.Opcode(p[0x2d])
	rec.Task = binary.LittleEndian.Uint16(p[0x2e:])
	rec.Keywords = binary.LittleEndian.Uint64(p[0x30:])
	rec.ActivityID = etw.GUID(p[0x40:0x50])
	rec.Payload = p[eventHeaderSize:]
	if p[4]&flagExtended != 0 {
		f.fillExtended(rec, rec.Payload)
	}
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

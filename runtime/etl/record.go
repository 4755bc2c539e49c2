package etl

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// flagExtended says in an event header's flags that extended items follow it.
const flagExtended = 1

// Bits of the version of kernel records: what is between header and payload.
const (
	versionPEBS     = 0x8000 // 8 bytes
	versionCounters = 0x0700 // 8 bytes each
)

// fill sets rec from the record p of block b. items has room for extended items
// and is returned with those of the record.
func fill(rec *etw.Record, b *block, p []byte, key int64, items []etw.ExtendedItem) []etw.ExtendedItem {
	*rec = etw.Record{
		Processor: int32(b.ref.processor),
		Clock:     b.file.clock,
	}
	items = items[:0]
	if p[3] == markerMessage {
		fillMessage(rec, p, b.file.header.PointerSize)
		if ticks, ok := messageTime(p); ok {
			rec.Timestamp = ticks
		} else {
			rec.Timestamp = b.file.ticks(key)
		}
		return items
	}
	kind := p[2]
	l := &recordLayouts[kind]
	rec.PointerSize = etw.PtrSize(l.pointer)
	rec.Timestamp = le64(p[l.timeAt:])
	switch kind {
	case kindEvent64, kindEvent32:
		return fillEvent(rec, p, items)
	case kindPerfInfo64, kindPerfInfo32:
		rec.ProcessID, rec.ThreadID = -1, -1
		return fillKernel(rec, p, perfInfoHeaderSize, items)
	case kindSystem64, kindSystem32, kindCompact64, kindCompact32:
		rec.ThreadID = optionalID(p[0x08:])
		rec.ProcessID = optionalID(p[0x0c:])
		return fillKernel(rec, p, int(l.header), items)
	}
	// FULL and INSTANCE: EVENT_TRACE_HEADER and EVENT_INSTANCE_GUID_HEADER.
	rec.Kind = etw.Classic
	rec.Opcode = p[0x04]
	rec.Level = p[0x05]
	rec.Version = p[0x06]
	rec.ThreadID = optionalID(p[0x08:])
	rec.ProcessID = optionalID(p[0x0c:])
	rec.Provider = etw.GUID(p[0x18:0x28])
	rec.Payload = p[l.header:]
	if l.header == instanceHeaderSize {
		items = append(items, etw.ExtendedItem{Type: etw.ExtInstance, Data: p[fullHeaderSize:instanceHeaderSize]})
		rec.Extended = items
	}
	return items
}

// fillKernel sets rec from a record of the kernel, whose header is of the given
// size and identifies the event by a group and a type.
func fillKernel(rec *etw.Record, p []byte, header int, items []etw.ExtendedItem) []etw.ExtendedItem {
	version := binary.LittleEndian.Uint16(p)
	hook := binary.LittleEndian.Uint16(p[6:])
	rec.Kind = etw.Classic
	rec.Version = uint8(version)
	rec.Opcode = uint8(hook)
	rec.Provider = classOf(hook)
	payload := p[header:]
	if version&(versionPEBS|versionCounters) == 0 {
		rec.Payload = payload
		return items
	}
	pebs := 8 * int(version>>15)
	counters := 8 * int(version&versionCounters>>8)
	if len(payload) < pebs+counters {
		rec.Payload = payload
		return items
	}
	if pebs > 0 {
		items = append(items, etw.ExtendedItem{Type: etw.ExtPEBSIndex, Data: payload[:pebs]})
	}
	if counters > 0 {
		items = append(items, etw.ExtendedItem{Type: etw.ExtCounters, Data: payload[pebs : pebs+counters]})
	}
	rec.Extended = items
	rec.Payload = payload[pebs+counters:]
	return items
}

// fillEvent sets rec from a record with an EVENT_HEADER.
func fillEvent(rec *etw.Record, p []byte, items []etw.ExtendedItem) []etw.ExtendedItem {
	_ = p[eventHeaderSize-1]
	rec.ThreadID = optionalID(p[0x08:])
	rec.ProcessID = optionalID(p[0x0c:])
	rec.Provider = etw.GUID(p[0x18:0x28])
	rec.ID = binary.LittleEndian.Uint16(p[0x28:])
	rec.Version = p[0x2a]
	rec.Channel = p[0x2b]
	rec.Level = p[0x2c]
	rec.Opcode = p[0x2d]
	rec.Task = binary.LittleEndian.Uint16(p[0x2e:])
	rec.Keywords = binary.LittleEndian.Uint64(p[0x30:])
	rec.ActivityID = etw.GUID(p[0x40:0x50])
	rec.Payload = p[eventHeaderSize:]
	if p[4]&flagExtended != 0 {
		items = fillExtended(rec, rec.Payload, items)
	}
	return items
}

// optionalID reads a process or thread id.
func optionalID(p []byte) int64 { return processOrThread(binary.LittleEndian.Uint32(p)) }

// processOrThread returns an id, of which all ones mean none.
func processOrThread(id uint32) int64 {
	if id == 0xffffffff {
		return -1
	}
	return int64(id)
}

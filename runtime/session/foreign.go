package session

import (
	"encoding/binary"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/extended"
)

// fileTimeClock is that of time stamps that Windows has made times of.
var fileTimeClock = etw.Clock{Frequency: 1e7}

// RecordOf sets r to an event that another package for ETW has received, so that a Mux
// dispatches it: event points to the EVENT_RECORD with which Windows calls back. The clock
// is that of the session's time stamps; nil is the one that consumers have unless they
// ask for raw time stamps, in units of 100 ns since 1601.
//
// What r points to is memory of Windows, or whatever event points to: it is valid until
// the callback returns. [etw.Record.Clone] makes a copy. Extended is used again, so that
// with the same r nothing is allocated.
func RecordOf(r *etw.Record, event unsafe.Pointer, clock *etw.Clock) {
	e := (*eventRecord)(event)
	if clock == nil {
		clock = &fileTimeClock
	}
	processor := uint16(e.processor[0])
	if e.header.flags&headerProcessorIndex != 0 {
		processor = binary.LittleEndian.Uint16(e.processor[:])
	}
	items := r.Extended[:0]
	setHeader(r, &e.header, etw.PtrSize(unsafe.Sizeof(uintptr(0))))
	r.Processor, r.Clock = int32(processor), clock
	if r.Kind == etw.KindClassic {
		r.ProviderName = classic.ClassName(r.Provider)
	}
	if e.extended != nil {
		list := unsafe.Slice(e.extended, int(e.extendedCount))
		for i := range list {
			// The address is a number of 64 bits, of which the lower ones, which come
			// first, are the pointer.
			data := unsafe.Slice(*(**byte)(unsafe.Pointer(&list[i].data)), int(list[i].size))
			if typ := etw.ExtendedType(list[i].extType); extended.Take(r, typ, data) {
				items = append(items, etw.ExtendedItem{Type: typ, Data: data})
			}
		}
	}
	if len(items) > 0 {
		r.Extended = items
	}
	if e.userData != nil {
		r.Payload = unsafe.Slice(e.userData, int(e.userDataLength))
	}
}

// setHeader sets r to what a header says. The size of pointers is that of the system,
// for headers that do not tell.
func setHeader(r *etw.Record, h *eventHeader, size etw.PtrSize) {
	*r = etw.Record{
		Provider: h.providerID, Version: h.version, Level: etw.Level(h.level), Opcode: etw.Opcode(h.opcode),
		PointerSize: size, ProcessID: optionalID(h.processID), ThreadID: optionalID(h.threadID), Timestamp: h.timeStamp,
	}
	switch {
	case h.flags&header32 != 0:
		r.PointerSize = etw.Ptr32
	case h.flags&header64 != 0:
		r.PointerSize = etw.Ptr64
	}
	switch {
	case h.flags&headerClassic != 0:
		r.Kind = etw.KindClassic
	case h.flags&headerMessage != 0:
		r.Kind, r.ID = etw.KindMessage, h.id
		r.Version, r.Level, r.Opcode = 0, 0, 0
	default:
		r.ID, r.Channel, r.Task, r.Keywords, r.ActivityID = h.id, h.channel, h.task, h.keyword, h.activityID
	}
}

package etltest

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Form is how a record is laid out in a file.
type Form uint8

// The forms of records.
const (
	// FormEvent is that of manifest events: EVENT_HEADER with extended items.
	FormEvent Form = iota
	// FormFull is that of classic events: EVENT_TRACE_HEADER.
	FormFull
	// FormInstance is FormFull with an instance, from an item ExtInstance.
	FormInstance
	// FormSystem is that of the kernel's events, by group and type. Counters and a
	// PEBS index are taken from the extended items.
	FormSystem
	// FormCompact is FormSystem without processor times.
	FormCompact
	// FormPerfInfo is FormCompact without process and thread.
	FormPerfInfo
	// FormMessage is that of WPP messages.
	FormMessage
)

const (
	markerRecord  = 0xc0
	markerMessage = 0x90

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

	systemHeaderSize   = 0x20
	compactHeaderSize  = 0x18
	perfInfoHeaderSize = 0x10
	fullHeaderSize     = 0x30
	instanceItemSize   = 0x18
	eventHeaderSize    = 0x50
)

// Write appends a record to the buffer of its processor: a manifest event as
// FormEvent, a classic one as FormFull, a message as FormMessage.
func (w *Writer) Write(r *etw.Record) error {
	switch r.Kind {
	case etw.KindManifest:
		return w.WriteAs(FormEvent, r)
	case etw.KindClassic:
		return w.WriteAs(FormFull, r)
	}
	return w.WriteAs(FormMessage, r)
}

// WriteAs appends a record in the given form.
func (w *Writer) WriteAs(f Form, r *etw.Record) error {
	p, err := Encode(f, r)
	if err != nil {
		return err
	}
	return w.Raw(int(max(r.Processor, 0)), p)
}

// Encode returns a record in the given form.
func Encode(f Form, r *etw.Record) ([]byte, error) {
	var p []byte
	var err error
	switch f {
	case FormEvent:
		p = encodeEvent(r)
	case FormFull, FormInstance:
		p, err = encodeFull(f, r)
	case FormSystem, FormCompact, FormPerfInfo:
		p, err = encodeKernel(f, r)
	case FormMessage:
		p = encodeMessage(r)
	default:
		err = fmt.Errorf("etltest: unknown form %d", f)
	}
	if err != nil {
		return nil, err
	}
	if len(p) > 0xffff {
		return nil, fmt.Errorf("etltest: a record of %d bytes", len(p))
	}
	at := 0
	switch f {
	case FormSystem, FormCompact, FormPerfInfo:
		at = 4
	}
	binary.LittleEndian.PutUint16(p[at:], uint16(len(p)))
	return p, nil
}

// kind returns the one of two kinds for the pointer size of r.
func kind(r *etw.Record, kind32, kind64 byte) byte {
	if r.PointerSize == etw.Ptr32 {
		return kind32
	}
	return kind64
}

// putIDs writes what all long headers have: thread, process and time.
func putIDs(p []byte, r *etw.Record) {
	binary.LittleEndian.PutUint32(p[0x08:], uint32(r.ThreadID))
	binary.LittleEndian.PutUint32(p[0x0c:], uint32(r.ProcessID))
	binary.LittleEndian.PutUint64(p[0x10:], uint64(r.Timestamp))
}

func encodeEvent(r *etw.Record) []byte {
	le := binary.LittleEndian
	p := make([]byte, eventHeaderSize)
	p[2], p[3] = kind(r, kindEvent32, kindEvent64), markerRecord
	putIDs(p, r)
	copy(p[0x18:], r.Provider[:])
	le.PutUint16(p[0x28:], r.ID)
	p[0x2a], p[0x2b], p[0x2c], p[0x2d] = r.Version, r.Channel, byte(r.Level), byte(r.Opcode)
	le.PutUint16(p[0x2e:], r.Task)
	le.PutUint64(p[0x30:], r.Keywords)
	copy(p[0x40:], r.ActivityID[:])
	if items := extendedItems(r); len(items) > 0 {
		le.PutUint16(p[4:], 1)
		p = appendItems(p, items)
	}
	return append(p, r.Payload...)
}

// extendedItems returns the items of r, with those that have their own places in
// a record.
func extendedItems(r *etw.Record) (items []etw.ExtendedItem) {
	if !r.RelatedActivityID.IsZero() {
		items = append(items, etw.ExtendedItem{Type: etw.ExtRelatedActivityID, Data: r.RelatedActivityID[:]})
	}
	kept := false // the stack is an item as well, if it has a match id
	for _, item := range r.Extended {
		kept = kept || item.Type == etw.ExtStack32 || item.Type == etw.ExtStack64
	}
	if r.Stack.Addresses != nil && !kept {
		typ := etw.ExtStack64
		if r.Stack.PtrSize == etw.Ptr32 {
			typ = etw.ExtStack32
		}
		items = append(items, etw.ExtendedItem{Type: typ, Data: append(make([]byte, 8), r.Stack.Addresses...)})
	}
	return append(items, r.Extended...)
}

func appendItems(p []byte, items []etw.ExtendedItem) []byte {
	le := binary.LittleEndian
	for i, item := range items {
		linked := uint16(0)
		if i < len(items)-1 {
			linked = 1
		}
		p = le.AppendUint16(p, 0)
		p = le.AppendUint16(p, uint16(item.Type))
		p = le.AppendUint16(p, linked)
		p = le.AppendUint16(p, uint16(len(item.Data)))
		p = append(p, item.Data...)
		for len(p)%8 != 0 {
			p = append(p, 0)
		}
	}
	return p
}

func encodeFull(f Form, r *etw.Record) ([]byte, error) {
	p := make([]byte, fullHeaderSize)
	p[2], p[3] = kind(r, kindFull32, kindFull64), markerRecord
	p[4], p[5], p[6] = byte(r.Opcode), byte(r.Level), r.Version
	putIDs(p, r)
	copy(p[0x18:], r.Provider[:])
	if f == FormInstance {
		p[2] = kind(r, kindInstance32, kindInstance64)
		item := itemOf(r, etw.ExtInstance)
		if len(item) != instanceItemSize {
			return nil, fmt.Errorf("etltest: an instance of %d bytes, want %d", len(item), instanceItemSize)
		}
		p = append(p, item...)
	}
	return append(p, r.Payload...), nil
}

// itemOf returns the data of the item of a type, or nil.
func itemOf(r *etw.Record, typ etw.ExtendedType) []byte {
	for _, item := range r.Extended {
		if item.Type == typ {
			return item.Data
		}
	}
	return nil
}

func encodeKernel(f Form, r *etw.Record) ([]byte, error) {
	const versionPEBS = 0x8000
	le := binary.LittleEndian
	group, ok := classic.KernelGroup(r.Provider, r.Opcode)
	if !ok {
		return nil, fmt.Errorf("etltest: %v is not a class of kernel events", r.Provider)
	}
	pebs, counters := itemOf(r, etw.ExtPEBSIndex), itemOf(r, etw.ExtCounters)
	if len(counters)%8 != 0 || len(counters) > 7*8 {
		return nil, fmt.Errorf("etltest: counters of %d bytes", len(counters))
	}
	version := uint16(r.Version) | uint16(len(counters)/8)<<8
	if pebs != nil {
		version |= versionPEBS
	}
	var p []byte
	switch f {
	case FormSystem:
		p = make([]byte, systemHeaderSize)
		p[2] = kind(r, kindSystem32, kindSystem64)
		putIDs(p, r)
	case FormCompact:
		p = make([]byte, compactHeaderSize)
		p[2] = kind(r, kindCompact32, kindCompact64)
		putIDs(p, r)
	default:
		p = make([]byte, perfInfoHeaderSize)
		p[2] = kind(r, kindPerfInfo32, kindPerfInfo64)
		le.PutUint64(p[0x08:], uint64(r.Timestamp))
	}
	p[3] = markerRecord
	le.PutUint16(p[0:], version)
	p[6], p[7] = byte(r.Opcode), group
	p = append(p, pebs...)
	p = append(p, counters...)
	return append(p, r.Payload...), nil
}

func encodeMessage(r *etw.Record) []byte {
	const (
		hasGUID, hasTime, hasSystemInfo = 0x02, 0x08, 0x20
		pointer32, pointer64            = 0x40, 0x80
	)
	le := binary.LittleEndian
	options := uint16(hasTime)
	p := make([]byte, 8)
	if !r.Provider.IsZero() {
		options |= hasGUID
		p = append(p, r.Provider[:]...)
	}
	p = le.AppendUint64(p, uint64(r.Timestamp))
	if r.ProcessID >= 0 || r.ThreadID >= 0 {
		options |= hasSystemInfo
		p = le.AppendUint32(p, uint32(r.ThreadID))
		p = le.AppendUint32(p, uint32(r.ProcessID))
	}
	if r.PointerSize == etw.Ptr32 {
		options |= pointer32
	} else {
		options |= pointer64
	}
	p[3] = markerMessage
	le.PutUint16(p[4:], r.ID)
	le.PutUint16(p[6:], options)
	return append(p, r.Payload...)
}

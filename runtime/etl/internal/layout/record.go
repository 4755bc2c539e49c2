// Package layout has the layout of the records of .etl files, for writers.
package layout

import (
	"encoding/binary"
	"fmt"
	"math"

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

// Append appends a record in the given form to b, without its padding to a multiple of 8.
func Append(b []byte, f Form, r *etw.Record) ([]byte, error) {
	at, sizeAt := len(b), 0
	if r.ThreadID > math.MaxUint32 || r.ProcessID > math.MaxUint32 {
		return b, fmt.Errorf("process %d, thread %d: a record has room for 32 bits", r.ProcessID, r.ThreadID)
	}
	var err error
	switch f {
	case FormEvent:
		b, err = appendEvent(b, r)
	case FormFull, FormInstance:
		b, err = appendFull(b, f, r)
	case FormSystem, FormCompact, FormPerfInfo:
		sizeAt = 4
		b, err = appendKernel(b, f, r)
	case FormMessage:
		b = appendMessage(b, r)
	default:
		err = fmt.Errorf("unknown form %d", f)
	}
	if err != nil {
		return b[:at], err
	}
	if len(b)-at > MaxRecord {
		return b[:at], fmt.Errorf("a record of %d bytes is longer than %d", len(b)-at, MaxRecord)
	}
	binary.LittleEndian.PutUint16(b[at+sizeAt:], uint16(len(b)-at))
	return b, nil
}

// MaxRecord is the size of the largest record.
const MaxRecord = 0xffff

// grow appends n zeros to b, and returns them as well.
func grow(b []byte, n int) (whole, zeros []byte) {
	b = append(b, zero[:n]...)
	return b, b[len(b)-n:]
}

var zero [fullHeaderSize + eventHeaderSize]byte

// kind returns the one of two kinds for the pointer size of r.
func kind(r *etw.Record, kind32, kind64 byte) byte {
	if r.PointerSize == etw.Ptr32 {
		return kind32
	}
	return kind64
}

// putIDs writes the common part of long headers: thread, process and time.
func putIDs(p []byte, r *etw.Record) {
	binary.LittleEndian.PutUint32(p[0x08:], uint32(r.ThreadID))
	binary.LittleEndian.PutUint32(p[0x0c:], uint32(r.ProcessID))
	binary.LittleEndian.PutUint64(p[0x10:], uint64(r.Timestamp))
}

func appendEvent(b []byte, r *etw.Record) ([]byte, error) {
	le := binary.LittleEndian
	start := len(b)
	b, p := grow(b, eventHeaderSize)
	p[2], p[3] = kind(r, kindEvent32, kindEvent64), markerRecord
	putIDs(p, r)
	copy(p[0x18:], r.Provider[:])
	le.PutUint16(p[0x28:], r.ID)
	p[0x2a], p[0x2b], p[0x2c], p[0x2d] = r.Version, r.Channel, byte(r.Level), byte(r.Opcode)
	le.PutUint16(p[0x2e:], r.Task)
	le.PutUint64(p[0x30:], r.Keywords)
	copy(p[0x40:], r.ActivityID[:])
	items := items{b: b, start: start, last: -1}
	items.addRecord(r)
	if items.last >= 0 {
		items.b[start+4] = 1
	}
	return append(items.b, r.Payload...), items.err
}

// items appends extended items to a record that begins at start.
type items struct {
	b     []byte
	start int
	last  int // where the last one begins, or -1
	err   error
}

// addRecord adds the items of r, with those that have their own places in a record.
func (i *items) addRecord(r *etw.Record) {
	if !r.RelatedActivityID.IsZero() {
		i.add(etw.ExtRelatedActivityID, nil, r.RelatedActivityID[:])
	}
	kept := false // the stack is an item as well, if it has a match id
	for n := range r.Extended {
		t := r.Extended[n].Type
		kept = kept || t == etw.ExtStack32 || t == etw.ExtStack64
	}
	if r.Stack.Addresses != nil && !kept {
		typ := etw.ExtStack64
		if r.Stack.PtrSize == etw.Ptr32 {
			typ = etw.ExtStack32
		}
		i.add(typ, zero[:8], r.Stack.Addresses)
	}
	for n := range r.Extended {
		i.add(r.Extended[n].Type, nil, r.Extended[n].Data)
	}
}

// add adds an item whose data are those of head and data.
func (i *items) add(t etw.ExtendedType, head, data []byte) {
	size := len(head) + len(data)
	if size > MaxRecord {
		i.err = fmt.Errorf("an extended item of %d bytes is longer than %d", size, MaxRecord)
		return
	}
	if i.last >= 0 {
		i.b[i.last+4] = 1 // another one follows it
	}
	i.last = len(i.b)
	le := binary.LittleEndian
	i.b = le.AppendUint16(i.b, 0)
	i.b = le.AppendUint16(i.b, uint16(t))
	i.b = le.AppendUint16(i.b, 0)
	i.b = le.AppendUint16(i.b, uint16(size))
	i.b = append(append(i.b, head...), data...)
	for (len(i.b)-i.start)%8 != 0 {
		i.b = append(i.b, 0)
	}
}

func appendFull(b []byte, f Form, r *etw.Record) ([]byte, error) {
	b, p := grow(b, fullHeaderSize)
	p[2], p[3] = kind(r, kindFull32, kindFull64), markerRecord
	p[4], p[5], p[6] = byte(r.Opcode), byte(r.Level), r.Version
	putIDs(p, r)
	copy(p[0x18:], r.Provider[:])
	if f == FormInstance {
		p[2] = kind(r, kindInstance32, kindInstance64)
		item := itemOf(r, etw.ExtInstance)
		if len(item) != instanceItemSize {
			return b, fmt.Errorf("an instance of %d bytes, want %d", len(item), instanceItemSize)
		}
		b = append(b, item...)
	}
	return append(b, r.Payload...), nil
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

func appendKernel(b []byte, f Form, r *etw.Record) ([]byte, error) {
	const versionPEBS = 0x8000
	le := binary.LittleEndian
	group, ok := classic.KernelGroup(r.Provider, r.Opcode)
	if !ok {
		return b, fmt.Errorf("%v is not a class of kernel events", r.Provider)
	}
	pebs, counters := itemOf(r, etw.ExtPEBSIndex), itemOf(r, etw.ExtCounters)
	if len(counters)%8 != 0 || len(counters) > 7*8 {
		return b, fmt.Errorf("counters of %d bytes", len(counters))
	}
	version := uint16(r.Version) | uint16(len(counters)/8)<<8
	if pebs != nil {
		version |= versionPEBS
	}
	var p []byte
	switch f {
	case FormSystem:
		b, p = grow(b, systemHeaderSize)
		p[2] = kind(r, kindSystem32, kindSystem64)
		putIDs(p, r)
	case FormCompact:
		b, p = grow(b, compactHeaderSize)
		p[2] = kind(r, kindCompact32, kindCompact64)
		putIDs(p, r)
	default:
		b, p = grow(b, perfInfoHeaderSize)
		p[2] = kind(r, kindPerfInfo32, kindPerfInfo64)
		le.PutUint64(p[0x08:], uint64(r.Timestamp))
	}
	p[3] = markerRecord
	le.PutUint16(p[0:], version)
	p[6], p[7] = byte(r.Opcode), group
	b = append(append(b, pebs...), counters...)
	return append(b, r.Payload...), nil
}

func appendMessage(b []byte, r *etw.Record) []byte {
	const (
		hasGUID, hasTime, hasSystemInfo = 0x02, 0x08, 0x20
		pointer32, pointer64            = 0x40, 0x80
	)
	le := binary.LittleEndian
	options := uint16(hasTime | pointer64)
	if r.PointerSize == etw.Ptr32 {
		options = hasTime | pointer32
	}
	start := len(b)
	b, _ = grow(b, 8)
	if !r.Provider.IsZero() {
		options |= hasGUID
		b = append(b, r.Provider[:]...)
	}
	b = le.AppendUint64(b, uint64(r.Timestamp))
	if r.ProcessID >= 0 || r.ThreadID >= 0 {
		options |= hasSystemInfo
		b = le.AppendUint32(b, uint32(r.ThreadID))
		b = le.AppendUint32(b, uint32(r.ProcessID))
	}
	p := b[start:]
	p[3] = markerMessage
	le.PutUint16(p[4:], r.ID)
	le.PutUint16(p[6:], options)
	return append(b, r.Payload...)
}

package provider

import (
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// pointerSize is that of this program.
const pointerSize = unsafe.Sizeof(uintptr(0))

// An eventDescriptor is the EVENT_DESCRIPTOR of Windows.
type eventDescriptor struct {
	id                              uint16
	version, channel, level, opcode uint8
	task                            uint16
	keywords                        uint64
}

// A dataDescriptor is the EVENT_DATA_DESCRIPTOR of Windows, which is a MOF_FIELD and an
// EVENT_FILTER_DESCRIPTOR, too. Its pointer has 8 bytes on every system.
type dataDescriptor struct {
	pointer unsafe.Pointer
	_       [8 - pointerSize]byte
	size    uint32
	kind    uint32
}

// The kinds of data.
const (
	kindPayload  = 0
	kindMetadata = 1 // what describes a TraceLogging event
	kindTraits   = 2 // what describes its provider
)

// describe returns the descriptor of b, which is to stay where it is.
func describe(b []byte, kind uint32) dataDescriptor {
	return dataDescriptor{pointer: unsafe.Pointer(unsafe.SliceData(b)), size: uint32(len(b)), kind: kind}
}

// bytes returns the bytes that d describes.
func (d *dataDescriptor) bytes() []byte { return unsafe.Slice((*byte)(d.pointer), d.size) }

// A traceHeader is the EVENT_TRACE_HEADER of Windows, the header of classic events.
type traceHeader struct {
	size, _         uint16
	kind, level     uint8
	version         uint16
	thread, process uint32
	time            int64
	class           etw.GUID
	_               uint32
	flags           uint32
}

// The flags of a traceHeader: that it is one, and that dataDescriptors follow it and not
// the payload itself.
const (
	flagTraced = 0x00020000
	flagFields = 0x00100000
)

// Of a wrong layout these arrays have different lengths. Windows has the same one for
// programs of 32 and of 64 bits.
var (
	_ [16]struct{} = [unsafe.Sizeof(eventDescriptor{})]struct{}{}
	_ [6]struct{}  = [unsafe.Offsetof(eventDescriptor{}.task)]struct{}{}
	_ [8]struct{}  = [unsafe.Offsetof(eventDescriptor{}.keywords)]struct{}{}
	_ [16]struct{} = [unsafe.Sizeof(dataDescriptor{})]struct{}{}
	_ [8]struct{}  = [unsafe.Offsetof(dataDescriptor{}.size)]struct{}{}
	_ [12]struct{} = [unsafe.Offsetof(dataDescriptor{}.kind)]struct{}{}
	_ [48]struct{} = [unsafe.Sizeof(traceHeader{})]struct{}{}
	_ [6]struct{}  = [unsafe.Offsetof(traceHeader{}.version)]struct{}{}
	_ [16]struct{} = [unsafe.Offsetof(traceHeader{}.time)]struct{}{}
	_ [24]struct{} = [unsafe.Offsetof(traceHeader{}.class)]struct{}{}
	_ [44]struct{} = [unsafe.Offsetof(traceHeader{}.flags)]struct{}{}
	_ [48]struct{} = [unsafe.Offsetof(frame{}.data) - unsafe.Offsetof(frame{}.header)]struct{}{}
)

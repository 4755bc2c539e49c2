package provider

import (
	"sync"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxParts is of how many parts an event may be, with its description. ETW takes 128, and 16
// of a classic event.
const maxParts = 16

// maxKept is the largest buffer that is kept for other events: no event is larger.
const maxKept = 1 << 16

// A frame is an event on its way: the data that Windows is to read, in memory that stays
// where it is. Frames are used again.
type frame struct {
	event      *etw.EventDesc
	activity   Activity
	descriptor eventDescriptor
	header     traceHeader // of a classic event; data follows it
	data       [maxParts]dataDescriptor
	parts      int    // of data that are set
	metadata   []byte // of a TraceLogging event
	buffer     []byte
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame returns a frame without a payload.
func newFrame(p *Provider, d *etw.EventDesc, a Activity, metadata []byte) *frame {
	f := frames.Get().(*frame)
	f.event, f.activity, f.metadata = d, a, metadata
	if d.Kind == etw.KindClassic {
		f.header = traceHeader{
			kind: uint8(d.Opcode), level: uint8(d.Level), version: uint16(d.Version),
			class: d.Class, flags: flagTraced | flagFields,
		}
		return f
	}
	f.descriptor = eventDescriptor{
		id: d.ID, version: d.Version, channel: d.Channel, level: uint8(d.Level), opcode: uint8(d.Opcode),
		task: d.Task, keywords: d.Keywords | p.channelKeyword(d.Channel),
	}
	if metadata != nil {
		f.add(p.traits, kindTraits)
		f.add(metadata, kindMetadata)
	}
	return f
}

// channelKeyword returns the keyword by which the event log enables a channel: the first
// one of a manifest has the highest bit.
func (p *Provider) channelKeyword(channel uint8) uint64 {
	for i, c := range p.channels {
		if c == channel && channel != 0 {
			return 1 << 63 >> i
		}
	}
	return 0
}

func (f *frame) add(b []byte, kind uint32) {
	f.data[f.parts] = describe(b, kind)
	f.parts++
}

// addPayload adds the parts of a payload: as they are, if there are not too many.
func (f *frame) addPayload(parts [][]byte) {
	if f.parts+len(parts) <= maxParts {
		for _, part := range parts {
			f.add(part, kindPayload)
		}
		return
	}
	f.buffer = f.buffer[:0]
	for _, part := range parts {
		f.buffer = append(f.buffer, part...)
	}
	f.add(f.buffer, kindPayload)
}

// payload returns the descriptors of the payload.
func (f *frame) payload() []dataDescriptor {
	from := 0
	if f.metadata != nil {
		from = 2
	}
	return f.data[from:f.parts]
}

// size returns the number of bytes of the payload.
func (f *frame) size() (n uint64) {
	for _, d := range f.payload() {
		n += uint64(d.size)
	}
	return n
}

// free gives the frame back.
func (f *frame) free() {
	clear(f.data[:f.parts])
	f.event, f.metadata, f.parts = nil, nil, 0
	if cap(f.buffer) > maxKept {
		f.buffer = nil
	}
	frames.Put(f)
}

// hide returns e, and hides from the compiler that it is the same: the events of callers
// need not be on the heap, although methods of an unknown type are called. No event
// keeps itself.
//
//go:nosplit
func hide(e etw.Event) etw.Event {
	words := *(*[2]uintptr)(unsafe.Pointer(&e))
	return *(*etw.Event)(unsafe.Pointer(&words))
}

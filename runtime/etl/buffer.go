package etl

import "encoding/binary"

// A file is a row of buffers with nothing before, between or after them. Each
// begins with a header, WMI_BUFFER_HEADER, that is never compressed.
const bufferHeaderSize = 0x48

// maxBufferSize bounds what a header can make the reader allocate. Windows
// itself allows 16 MiB.
const maxBufferSize = 64 << 20

// Bits of bufferHeader.flags.
const (
	bufferProcessorIndex = 0x20 // the processor has 16 bits instead of 8
	bufferCompressed     = 0x40
)

// Types of buffers without records.
const (
	bufferRefTime   = 3
	bufferEmpty     = 6
	bufferDebugInfo = 7
	maxBufferType   = 7
)

// A bufferHeader is what the reader needs of WMI_BUFFER_HEADER. The other
// members hold run-time state that leaks into files.
type bufferHeader struct {
	size      uint32 // on disk, with this header
	extent    uint32 // with this header and without compression; FilledBytes
	sequence  int64
	processor uint16
	logger    uint16
	state     uint32
	flags     uint16
	typ       uint16
}

func parseBufferHeader(b []byte) bufferHeader {
	_ = b[bufferHeaderSize-1]
	h := bufferHeader{
		size:     binary.LittleEndian.Uint32(b[0x00:]),
		sequence: int64(binary.LittleEndian.Uint64(b[0x18:])),
		logger:   binary.LittleEndian.Uint16(b[0x2a:]),
		state:    binary.LittleEndian.Uint32(b[0x2c:]),
		extent:   binary.LittleEndian.Uint32(b[0x30:]),
		flags:    binary.LittleEndian.Uint16(b[0x34:]),
		typ:      binary.LittleEndian.Uint16(b[0x36:]),
	}
	if h.flags&bufferProcessorIndex != 0 {
		h.processor = binary.LittleEndian.Uint16(b[0x28:]) & 0x7ff
	} else {
		h.processor = uint16(b[0x28])
	}
	return h
}

func (h *bufferHeader) compressed() bool { return h.flags&bufferCompressed != 0 }

// hasRecords reports whether a buffer of this type holds records.
func (h *bufferHeader) hasRecords() bool {
	switch h.typ {
	case bufferRefTime, bufferEmpty, bufferDebugInfo:
		return false
	}
	return h.extent > bufferHeaderSize
}

// sane reports whether the header can be one at all.
func (h *bufferHeader) sane() bool {
	return h.size >= bufferHeaderSize && h.size <= maxBufferSize &&
		h.extent <= maxBufferSize && h.typ <= maxBufferType
}

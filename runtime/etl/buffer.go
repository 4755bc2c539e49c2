package etl

import "encoding/binary"

// A file is a row of buffers with nothing before, between or after them. Each
// begins with a header, WMI_BUFFER_HEADER, that is never compressed.
const bufferHeaderSize = 0x48

// Limits of headers. The first is that of Windows.
const (
	maxBufferSize  = 16 << 20
	minBufferSize  = 1 << 10
	maxBufferState = 6
	maxSequence    = 1 << 40
)

// Bits of bufferHeader.flags.
const (
	bufferProcessorIndex = 0x20 // the processor has 16 bits instead of 8
	bufferCompressed     = 0x40
	maxBufferFlags       = 0xff
)

// Types of buffers without records.
const (
	bufferRefTime   = 3
	bufferEmpty     = 6
	bufferDebugInfo = 7
	maxBufferType   = 7
)

// A bufferHeader has the members of WMI_BUFFER_HEADER that the reader needs. The other
// members hold run-time state that leaks into files.
type bufferHeader struct {
	size      uint32 // on disk, with this header
	saved     uint32 // mostly the same as extent, but not always
	used      uint32 // references to it, in memory
	extent    uint32 // with this header and without compression; FilledBytes
	least     uint32 // what extent may be as well, if it is not 0
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
		saved:    binary.LittleEndian.Uint32(b[0x04:]),
		used:     binary.LittleEndian.Uint32(b[0x0c:]),
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
	return true
}

// faults counts the members of h that cannot be right in this file, and those that are
// otherwise in all files that are known. A header with one fault is still told from
// everything else by its right parts; one that only has oddities may be part of another
// header, or of a file of another kind.
func (f *file) faults(h *bufferHeader) (faults, oddities int) {
	extentFits := h.extent >= bufferHeaderSize && h.extent <= f.limit
	faults = count(
		!f.sizeFits(h),
		!extentFits,
		h.typ > maxBufferType,
		h.flags > maxBufferFlags || f.grid > 0 && h.compressed(),
		h.sequence < 0 || h.sequence > maxSequence)
	oddities = count(
		extentFits && h.saved != h.extent,
		h.used != 0,
		h.state > maxBufferState,
		h.logger != f.first.logger,
		!h.compressed() && f.isCompressed())
	return faults, oddities
}

func count(list ...bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// A likeness says how much something looks like the header of a buffer.
type likeness uint8

const (
	unlike likeness = iota
	alike
	same
)

func (f *file) likeness(h *bufferHeader) likeness {
	switch faults, oddities := f.faults(h); {
	case faults+oddities <= 1:
		return same
	case faults == 0:
		return alike
	}
	return unlike
}

// sizeFits reports whether the size of h can be right.
func (f *file) sizeFits(h *bufferHeader) bool {
	switch {
	case f.grid > 0:
		return int64(h.size) == f.grid
	case h.compressed() || f.isCompressed():
		return h.size >= bufferHeaderSize && int64(h.size) <= f.maxOnDisk()
	}
	return h.size >= bufferHeaderSize && h.size <= maxBufferSize && h.size%8 == 0
}

// isCompressed reports whether the header of the file says that it is.
func (f *file) isCompressed() bool { return f.header.Mode&ModeCompressed != 0 }

// maxOnDisk is the size that a compressed buffer may have: incompressible data grows by a
// bit for each byte.
func (f *file) maxOnDisk() int64 { return int64(f.limit) + int64(f.limit)/8 + 2*bufferHeaderSize }

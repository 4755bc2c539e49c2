package etltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
	"github.com/etwgen/etwgen/runtime/etw"
)

// bufferHeaderSize is the size of WMI_BUFFER_HEADER.
const bufferHeaderSize = 0x48

// DefaultHeader is the header of a session like those that tools record: 64 KiB
// buffers, a performance counter of 10 MHz, 4 processors, Windows 10.
func DefaultHeader() etl.Header {
	const start = etw.FileTime(133000000000000000) // in 2022
	return etl.Header{
		SessionName:   "etltest",
		WindowsMajor:  10,
		WindowsBuild:  19045,
		Processors:    4,
		ProcessorMHz:  3000,
		PointerSize:   etw.Ptr64,
		Clock:         etw.Clock{Start: start, Origin: 36e9, Frequency: 1e7},
		ClockType:     etl.ClockQPC,
		End:           start + 10e7,
		Boot:          start - 36e9,
		Mode:          etl.ModeSequential,
		BufferSize:    64 << 10,
		FormatVersion: [2]uint8{1, 5},
	}
}

// A Writer writes one .etl file.
type Writer struct {
	out      io.Writer
	header   etl.Header
	open     map[int]*buffer // by processor
	sequence int64
	written  uint32 // buffers
	err      error  // of out
	packed   []byte
}

// A buffer is one that is being filled.
type buffer struct {
	data     []byte // with the space of its header
	sequence int64
}

// NewWriter begins a file of the session h. What follows the header's buffer is
// written when a processor's buffer is full, and by Close. If out is also an
// io.WriterAt, Close puts the number of buffers into the header.
func NewWriter(out io.Writer, h etl.Header) (*Writer, error) {
	if h.BufferSize < 1024 || h.BufferSize%8 != 0 {
		return nil, fmt.Errorf("etltest: a buffer size of %d", h.BufferSize)
	}
	if h.Compression != etl.CompressionNone {
		h.Mode |= etl.ModeCompressed
	}
	w := &Writer{out: out, header: h, open: make(map[int]*buffer)}
	first := w.headerBuffer()
	if uint32(len(first)) > h.BufferSize {
		return nil, fmt.Errorf("etltest: the names of session and file do not fit a buffer of %d bytes", h.BufferSize)
	}
	w.write(first)
	return w, w.err
}

// File returns a file of the session h with the given records.
func File(h etl.Header, records ...*etw.Record) ([]byte, error) {
	var out bytes.Buffer
	w, err := NewWriter(&out, h)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	copy(out.Bytes(), w.headerBuffer()) // which now has the number of buffers
	return out.Bytes(), err
}

// Raw appends a record as it is to the buffer of a processor. It need not be a
// sound one.
func (w *Writer) Raw(processor int, record []byte) error {
	if w.err != nil {
		return w.err
	}
	size := (len(record) + 7) &^ 7
	if size > int(w.header.BufferSize)-bufferHeaderSize {
		return fmt.Errorf("etltest: a record of %d bytes does not fit a buffer of %d", len(record), w.header.BufferSize)
	}
	b := w.open[processor]
	if b != nil && len(b.data)+size > int(w.header.BufferSize) {
		w.Flush(processor)
		b = nil
	}
	if b == nil {
		w.sequence++
		b = &buffer{data: make([]byte, bufferHeaderSize, w.header.BufferSize), sequence: w.sequence}
		w.open[processor] = b
	}
	b.data = append(b.data, record...)
	for len(b.data)%8 != 0 {
		b.data = append(b.data, 0xff)
	}
	return w.err
}

// Flush writes the buffer of a processor, if it has one, as it is.
func (w *Writer) Flush(processor int) error {
	b := w.open[processor]
	if b == nil {
		return w.err
	}
	delete(w.open, processor)
	const processorIndex, compressed = 0x20, 0x40
	flags := uint16(processorIndex)
	extent := len(b.data)
	data := b.data
	if w.header.Compression == etl.CompressionNone {
		for len(data) < int(w.header.BufferSize) {
			data = append(data, 0xff)
		}
	} else {
		flags |= compressed
		w.packed = w.compress(append(w.packed[:0], data[:bufferHeaderSize]...), data[bufferHeaderSize:])
		data = w.packed
	}
	h := bufferHeader{
		size: len(data), extent: extent, sequence: b.sequence, processor: processor,
		state: 3, flags: flags,
	}
	h.put(data)
	w.write(data)
	return w.err
}

func (w *Writer) compress(dst, src []byte) []byte {
	switch w.header.Compression {
	case etl.CompressionLZNT1:
		return xca.AppendLZNT1(dst, src)
	case etl.CompressionXpressHuffman:
		return xca.AppendHuffman(dst, src)
	}
	return xca.AppendPlain(dst, src)
}

// Close writes the buffers that are not full.
func (w *Writer) Close() error {
	for processor := 0; len(w.open) > 0; processor++ {
		w.Flush(processor)
	}
	w.header.BuffersWritten = w.written
	if at, ok := w.out.(io.WriterAt); ok && w.err == nil {
		_, w.err = at.WriteAt(w.headerBuffer(), 0)
	}
	return w.err
}

func (w *Writer) write(buffer []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(buffer)
		w.written++
	}
}

// A bufferHeader is what a WMI_BUFFER_HEADER says.
type bufferHeader struct {
	size, extent int
	sequence     int64
	processor    int
	state        uint32
	flags, typ   uint16
}

// put writes the header to the start of b.
func (h *bufferHeader) put(b []byte) {
	clear(b[:bufferHeaderSize])
	binary.LittleEndian.PutUint32(b[0x00:], uint32(h.size))
	binary.LittleEndian.PutUint32(b[0x04:], uint32(h.extent))
	binary.LittleEndian.PutUint32(b[0x08:], uint32(h.extent))
	binary.LittleEndian.PutUint64(b[0x18:], uint64(h.sequence))
	binary.LittleEndian.PutUint16(b[0x28:], uint16(h.processor))
	binary.LittleEndian.PutUint16(b[0x2a:], 1) // the logger
	binary.LittleEndian.PutUint32(b[0x2c:], h.state)
	binary.LittleEndian.PutUint32(b[0x30:], uint32(h.extent))
	binary.LittleEndian.PutUint16(b[0x34:], h.flags)
	binary.LittleEndian.PutUint16(b[0x36:], h.typ)
}

// headerBuffer returns the first buffer.
func (w *Writer) headerBuffer() []byte {
	const flushMarker, typeHeader = 1, 4
	b := append(make([]byte, bufferHeaderSize), logFileHeader(&w.header)...)
	extent := len(b)
	size := int(w.header.BufferSize)
	state := uint32(3)
	if w.header.Compression != etl.CompressionNone {
		// The buffer of the header is not compressed, but cut.
		state = uint32(w.header.Compression)
		size = (extent + 0x1ff) &^ 0x1ff
	}
	for len(b) < size {
		b = append(b, 0xff)
	}
	h := bufferHeader{size: len(b), extent: extent, state: state, flags: flushMarker, typ: typeHeader}
	h.put(b)
	return b
}

package etl

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etl/internal/layout"
	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Writer writes one file, as Windows lays it out: a buffer with the header of
// the log file, and then buffers of the records of one processor each. It must not
// be used by several goroutines at once.
//
// A Writer holds one buffer for each processor, and nothing else that grows with the number
// of records. A record should not be older than the one before of the same processor:
// readers merge the processors by time, but do not sort the records of one of them.
type Writer struct {
	out      io.Writer
	header   Header
	like     []byte    // the record of the header of the file that is copied
	open     []*buffer // by processor
	sequence int64
	written  uint32 // buffers
	newest   int64  // time stamp written so far
	timed    bool   // newest is one
	err      error  // of out, sticky
	begun    bool   // the header is written

	clock   *etw.Clock // of the last record
	convert bool       // clock is another than that of the file

	record []byte // room for one
	packed []byte
	filler filler
	closed bool
}

// A buffer is one that is being filled.
type buffer struct {
	data     []byte // with the space of its header
	sequence int64
	used     bool
}

// DefaultBufferSize is the size of a Writer's buffers if the header does not say
// another one: it has room for the largest record.
const DefaultBufferSize = 128 << 10

// minWriteBuffer is the least size of a Writer's buffers.
const minWriteBuffer = 1 << 10

// NewWriter begins a file of the session h, of which the Clock is the unit of the file's
// time stamps; a record with another Clock gets the time stamp of the same moment. A Clock
// that is zero becomes that of the first record that has one, which serves a program whose
// records are all of one session:
//
//	w, err := etl.NewWriter(file, etl.Header{SessionName: "orders"})
//
// A Compression compresses the buffers. A BufferSize of 0 is [DefaultBufferSize], and a
// PointerSize of 0 is that of 64 bits.
//
// Buffers are written when they are full, by [Writer.Flush] and by [Writer.Close]. If out is
// also an io.WriterAt, as a file is, Close completes the header: with the number of buffers,
// with the counts of [Writer.Lost], and, if h has no End, with the time of the last record.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	h.BufferSize = cmp.Or(h.BufferSize, DefaultBufferSize)
	h.PointerSize = cmp.Or(h.PointerSize, etw.Ptr64)
	if h.BufferSize < minWriteBuffer || h.BufferSize > maxBufferSize || h.BufferSize%8 != 0 {
		return nil, fmt.Errorf("etl: a buffer size of %d: it must be a multiple of 8 from %d to %d", h.BufferSize, minWriteBuffer, maxBufferSize)
	}
	if h.ClockType == ClockRaw {
		h.ClockType = ClockQPC
	}
	if h.FormatVersion == [2]uint8{} {
		h.FormatVersion = [2]uint8{1, 5}
	}
	h.Mode &^= ModeCompressed
	switch h.Compression {
	case CompressionNone:
	case CompressionLZNT1, CompressionXpress, CompressionXpressHuffman:
		h.Mode |= ModeCompressed
	default:
		return nil, fmt.Errorf("etl: there is no compression %d", uint16(h.Compression))
	}
	w := &Writer{out: out, header: h}
	first := w.headerBuffer()
	if uint32(len(first)) > h.BufferSize {
		return nil, fmt.Errorf("etl: the names of session and file do not fit a buffer of %d bytes", h.BufferSize)
	}
	if n := len(h.append(nil, nil)); n > layout.MaxRecord {
		return nil, fmt.Errorf("etl: the names of session and file make a record of %d bytes, longer than %d", n, layout.MaxRecord)
	}
	if h.Clock != (etw.Clock{}) {
		w.begin()
	}
	return w, w.err
}

// begin writes the header, of which Close completes the unknown parts. Where the clock is
// that of the first record, it waits for the first buffer.
func (w *Writer) begin() {
	if !w.begun {
		w.begun = true
		w.put(w.headerBuffer())
	}
}

// Write appends a record. A manifest event gets the header and the extended items that it
// has on Windows. A classic event of a class of the kernel is written as the kernel does,
// any other with its class. It leaves out parts for which the format has no room: a Schema.
// [Writer.WriteManifest] writes one that readers find.
func (w *Writer) Write(rec *etw.Record) error {
	if isLogHeader(rec) {
		return w.err // the file has its own
	}
	form := layout.FormEvent
	switch rec.Kind {
	case etw.KindClassic:
		form = formOf(rec)
	case etw.KindMessage:
		form = layout.FormMessage
	}
	in, at := rec, w.ticks(rec)
	if at != rec.Timestamp {
		moved := *rec
		moved.Timestamp = at
		in = &moved
	}
	var err error
	if w.record, err = layout.Append(w.record[:0], form, in); err != nil {
		return fmt.Errorf("etl: %w", err)
	}
	w.note(at)
	return w.WriteRaw(rec.Processor, w.record)
}

// WriteRaw appends the bytes of a record, as they are, to the buffer of a processor.
// They are not looked at.
func (w *Writer) WriteRaw(processor int32, record []byte) error {
	size := (len(record) + 7) &^ 7
	b, err := w.room(processor, size)
	if err != nil {
		return err
	}
	b.data = append(b.data, record...)
	for len(b.data)%8 != 0 {
		b.data = append(b.data, 0xff)
	}
	return nil
}

// maxProcessors is how many the headers of buffers can tell apart.
const maxProcessors = 1 << 11

// room returns the buffer of a processor with room for size bytes more.
func (w *Writer) room(processor int32, size int) (*buffer, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case w.closed:
		return nil, errClosed
	case size > int(w.header.BufferSize)-bufferHeaderSize:
		return nil, fmt.Errorf("etl: a record of %d bytes does not fit a buffer of %d", size, w.header.BufferSize)
	case processor >= maxProcessors:
		return nil, fmt.Errorf("etl: processor %d: the last one is %d", processor, maxProcessors-1)
	}
	n := int(max(processor, 0)) // -1 is not known
	for n >= len(w.open) {
		w.open = append(w.open, nil)
	}
	b := w.open[n]
	if b == nil {
		b = &buffer{data: make([]byte, bufferHeaderSize, w.header.BufferSize)}
		w.open[n] = b
	}
	if len(b.data)+size > int(w.header.BufferSize) {
		w.flush(n, 0)
	}
	if !b.used {
		w.sequence++
		b.used, b.sequence = true, w.sequence
	}
	return b, w.err
}

// note takes notice of a time stamp.
func (w *Writer) note(ticks int64) {
	if !w.timed || ticks > w.newest {
		w.newest, w.timed = ticks, true
	}
}

// Lost adds to the events and buffers that were lost before they came to the Writer,
// which the header of the file tells.
func (w *Writer) Lost(events, buffers int64) {
	w.header.EventsLost = uint32(min(int64(w.header.EventsLost)+max(events, 0), 1<<32-1))
	w.header.BuffersLost = uint32(min(int64(w.header.BuffersLost)+max(buffers, 0), 1<<32-1))
}

// Name has Close complete the header with another name of the log file, which must be as long as
// the one that [NewWriter] was given.
func (w *Writer) Name(file string) {
	if len(file) == len(w.header.LogFileName) {
		w.header.LogFileName = file
	}
}

// Flush writes the buffer of a processor, or with -1 those of all, though there is
// room in it.
func (w *Writer) Flush(processor int) error {
	if processor >= 0 {
		if processor < len(w.open) {
			w.flush(processor, 0)
		}
		return w.err
	}
	for n := range w.open {
		w.flush(n, 0)
	}
	return w.err
}

// Close writes the buffers that are not full, and completes the header. It does not close
// the underlying writer.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	last := len(w.open) - 1
	for last >= 0 && (w.open[last] == nil || !w.open[last].used) {
		last--
	}
	for n := range w.open {
		marker := uint16(0)
		if n == last {
			marker = bufferFlushMarker
		}
		w.flush(n, marker)
	}
	w.open = nil
	w.begin()
	w.header.BuffersWritten = w.written
	if w.header.End == 0 && w.timed {
		w.header.End = max(w.header.Clock.Start, w.header.Clock.FileTime(w.newest))
	}
	if at, ok := w.out.(io.WriterAt); ok && w.err == nil {
		_, w.err = at.WriteAt(w.headerBuffer(), 0)
	}
	return w.err
}

const (
	bufferFlushMarker = 1
	bufferTypeHeader  = 4
	bufferStateFlush  = 3
	fill              = 0xff
)

// flush writes the buffer of a processor, if there is anything in it.
func (w *Writer) flush(processor int, flags uint16) {
	b := w.open[processor]
	if b == nil || !b.used {
		return
	}
	flags |= bufferProcessorIndex
	extent := len(b.data)
	data := b.data
	if w.header.Compression == CompressionNone {
		data = data[:w.header.BufferSize]
		for i := extent; i < len(data); i++ {
			data[i] = fill
		}
	} else {
		flags |= bufferCompressed
		w.packed = w.compress(append(w.packed[:0], data[:bufferHeaderSize]...), data[bufferHeaderSize:])
		data = w.packed
	}
	at := int64(0)
	if w.timed {
		at = int64(w.header.Clock.FileTime(w.newest))
	}
	putBufferHeader(data, &bufferHeader{
		extent: uint32(extent), sequence: b.sequence, processor: uint16(processor), state: bufferStateFlush, flags: flags,
	}, at)
	w.write(data)
	b.data, b.used = b.data[:bufferHeaderSize], false
}

func (w *Writer) compress(dst, src []byte) []byte {
	switch w.header.Compression {
	case CompressionLZNT1:
		return xca.AppendLZNT1(dst, src)
	case CompressionXpressHuffman:
		return xca.AppendHuffman(dst, src)
	}
	return xca.AppendPlain(dst, src)
}

// write writes a buffer of records.
func (w *Writer) write(buffer []byte) {
	w.begin()
	w.put(buffer)
}

func (w *Writer) put(buffer []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(buffer)
		w.written++
	}
}

// putBufferHeader writes the header of the buffer b, which was flushed at a time.
func putBufferHeader(b []byte, h *bufferHeader, flushed int64) {
	const logger = 1
	le := binary.LittleEndian
	clear(b[:bufferHeaderSize])
	le.PutUint32(b[0x00:], uint32(len(b)))
	le.PutUint32(b[0x04:], h.extent)
	le.PutUint32(b[0x08:], h.extent)
	le.PutUint64(b[0x10:], uint64(flushed))
	le.PutUint64(b[0x18:], uint64(h.sequence))
	le.PutUint16(b[0x28:], h.processor)
	le.PutUint16(b[0x2a:], logger)
	le.PutUint32(b[0x2c:], h.state)
	le.PutUint32(b[0x30:], h.extent)
	le.PutUint16(b[0x34:], h.flags)
	le.PutUint16(b[0x36:], h.typ)
}

// headerBuffer returns the first buffer of the file.
func (w *Writer) headerBuffer() []byte {
	b := w.header.append(make([]byte, bufferHeaderSize), w.like)
	extent := len(b)
	size := int(w.header.BufferSize)
	state := uint32(bufferStateFlush)
	if w.header.Compression != CompressionNone {
		// The buffer of the header is not compressed, but cut.
		state = uint32(w.header.Compression)
		size = (extent + 0x1ff) &^ 0x1ff
	}
	for len(b) < size {
		b = append(b, fill)
	}
	putBufferHeader(b, &bufferHeader{extent: uint32(extent), state: state, flags: bufferFlushMarker, typ: bufferTypeHeader}, 0)
	return b
}

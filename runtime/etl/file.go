package etl

import (
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A file is one .etl file of a Reader: its header and the places of its
// buffers. It does not change while records are read.
type file struct {
	src    io.ReaderAt
	size   int64
	name   string
	header Header
	clock  *etw.Clock

	// asFileTimes is set where the time stamps of several sessions must be
	// compared: the merge then goes by time instead of by ticks.
	asFileTimes bool

	buffers []bufferRef
	// grid is the size of every buffer of a file without compression, or 0 where
	// they differ.
	grid    int64
	damage  damageLog
	stats   fileStats
	scratch [bufferHeaderSize + peekSize]byte
}

// A fileStats is what the scan of the buffers counts.
type fileStats struct {
	found     int64 // buffers, with and without records
	truncated int
	unread    int64
	unwritten int64
}

// openFile reads the header of src and finds its buffers.
func openFile(src io.ReaderAt, size int64, name string) (*file, error) {
	f := &file{src: src, size: size, name: name}
	f.header.File = name
	if err := f.readHeader(); err != nil {
		if name != "" {
			return nil, fmt.Errorf("etl: %s: %w", name, err)
		}
		return nil, fmt.Errorf("etl: %w", err)
	}
	clock := f.header.Clock()
	f.clock = &clock
	f.scan()
	return f, nil
}

// readHeader reads the first buffer.
func (f *file) readHeader() error {
	n, err := f.readAt(f.scratch[:], 0)
	if err != nil {
		return err
	}
	if n < bufferHeaderSize {
		return fmt.Errorf("%w: %d bytes", ErrNotETL, n)
	}
	h := parseBufferHeader(f.scratch[:])
	if !h.sane() {
		return fmt.Errorf("%w: the first buffer's header makes no sense", ErrNotETL)
	}
	records := make([]byte, min(h.size, max(h.extent, bufferHeaderSize))-bufferHeaderSize)
	n, err = f.readAt(records, bufferHeaderSize)
	if err != nil {
		return err
	}
	if !f.header.parse(records[:n]) {
		f.damage.add(&Damage{File: f.name, Err: ErrHeader, What: "no record of the log file's header; times are unknown"})
		f.header.BufferSize = h.size
		f.header.PointerSize = etw.Ptr64 // as nearly all systems have it
	}
	switch {
	case f.header.Mode&ModeCompressed != 0:
		f.header.Compression = Compression(h.state)
	case h.size == f.header.BufferSize:
		f.grid = int64(h.size)
	}
	return nil
}

// compression returns the algorithm of the compressed buffers. A file that has
// some without saying so has them as Windows makes them.
func (f *file) compression() Compression {
	if f.header.Compression == CompressionNone {
		return CompressionXpress
	}
	return f.header.Compression
}

// missing returns how many of the buffers that the session has written are not in
// the file. A session that overwrites its buffers or changes files counts those
// that it left behind.
func (f *file) missing() int64 {
	if f.header.Mode&(ModeCircular|ModeNewFile|ModeBuffering) != 0 {
		return 0
	}
	return max(int64(f.header.BuffersWritten)-f.stats.found, 0)
}

// readAt fills p from offset off, or up to the end of the file. What is missing
// is no error.
func (f *file) readAt(p []byte, off int64) (int, error) {
	if off >= f.size {
		return 0, nil
	}
	if int64(len(p)) > f.size-off {
		p = p[:f.size-off]
	}
	n, err := f.src.ReadAt(p, off)
	if err == io.EOF || n == len(p) {
		err = nil
	}
	return n, err
}

// decompress decodes src into dst, as far as it goes.
func (f *file) decompress(dst, src []byte, huffman **xca.HuffmanDecoder) (int, error) {
	switch f.compression() {
	case CompressionXpress:
		return xca.DecodePlain(dst, src)
	case CompressionLZNT1:
		return xca.DecodeLZNT1(dst, src)
	case CompressionXpressHuffman:
		if *huffman == nil {
			*huffman = new(xca.HuffmanDecoder)
		}
		return (*huffman).Decode(dst, src)
	}
	return 0, fmt.Errorf("unknown algorithm %d", f.header.Compression)
}

// key returns what orders a record with the given time stamp.
func (f *file) key(ticks int64) int64 {
	if f.asFileTimes {
		return int64(f.clock.FileTime(ticks))
	}
	return ticks
}

// ticks is the inverse of key.
func (f *file) ticks(key int64) int64 {
	if f.asFileTimes {
		return f.clock.Ticks(etw.FileTime(key))
	}
	return key
}

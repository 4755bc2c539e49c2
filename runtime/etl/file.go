package etl

import (
	"context"
	"fmt"
	"io"
	"math/bits"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A file is one .etl file of a Reader: its header and the places of its
// buffers. It does not change while records are read.
type file struct {
	ctx    context.Context
	src    io.ReaderAt
	memory []byte // all of it, if that is where it is
	size   int64
	name   string
	header Header
	clock  *etw.Clock
	// clockGroup is the index of the first file that counts the same ticks.
	clockGroup int

	// asFileTimes is set where the time stamps of several sessions must be
	// compared: the merge then goes by time instead of by ticks.
	asFileTimes bool

	// first is the header of the first buffer, as it is, and start where that lies.
	first bufferHeader
	start int64
	// grid is the size of every buffer of a file without compression, or 0 where
	// they differ. limit is that of their extents.
	grid  int64
	limit uint32
	// algorithm is that of the compressed buffers. tried counts the buffers that
	// were to show whether it is the right one.
	algorithm Compression
	tried     int

	buffers []bufferRef
	damage  etw.DamageLog
	stats   fileStats

	// The memory of the scan: the position of the last header, the parts looked at and
	// searched last, and the unpacked size of compressed buffers so far.
	previous int64
	peeks    [2]peeked
	lastPeek int
	searched searched
	chunk    []byte
	unpacked int64
}

// A searched is the result of a search: no header between from and found.
type searched struct{ from, found int64 }

// A fileStats is the counts of the scan of the buffers.
type fileStats struct {
	found     int64 // buffers, with and without records
	last      int64 // number of the latest
	missing   int64
	truncated int
	unread    int64
	unwritten int64
}

// openFile reads the header of src and finds its buffers.
func openFile(ctx context.Context, src io.ReaderAt, size int64, name string) (*file, error) {
	f := &file{ctx: ctx, src: src, size: size, name: name, limit: maxBufferSize, memory: memoryOf(src, size)}
	f.header.File = name
	err := f.readHeader()
	if err == nil {
		f.clock = &f.header.Clock
		err = f.scan()
	}
	if err != nil {
		return nil, f.damageAt(0, "", err)
	}
	f.peeks, f.chunk = [2]peeked{}, nil
	return f, nil
}

// Recognizes reports whether a file is one that the package reads, by its first
// bytes, of which 80 are enough: the first record is that of the file's header. If
// it is damaged, the header of the buffer before it must be whole.
func Recognizes(head []byte) bool {
	if len(head) < bufferHeaderSize+messageHeaderSize {
		return false
	}
	record := head[bufferHeaderSize:]
	if (record[2] == kindSystem32 || record[2] == kindSystem64) && record[3] == markerRecord && record[6] == 0 && record[7] == 0 {
		return true
	}
	h := parseBufferHeader(head)
	f := file{first: h, limit: maxBufferSize}
	faults, oddities := f.faults(&h)
	return faults == 0 && oddities <= 1 && h.size > bufferHeaderSize && bits.OnesCount8(record[3]^markerRecord) <= 1
}

// readHeader reads the first buffer. Its own header may be damaged, if the record
// in it is the header of a file, and the other way round.
func (f *file) readHeader() error {
	const most = 4 << 10 // of the record, whose names have some hundred bytes
	b := make([]byte, bufferHeaderSize+most)
	n, err := f.readAt(b, 0)
	if err != nil {
		return err
	}
	if n < bufferHeaderSize {
		return fmt.Errorf("%w: %d bytes", ErrNotETL, n)
	}
	f.first = parseBufferHeader(b)
	if f.header.parse(b[bufferHeaderSize:n]) {
		if size := f.header.BufferSize; size >= minBufferSize && size < f.limit {
			f.limit = size
		}
		if f.isCompressed() {
			f.header.Compression = Compression(f.first.state)
		}
		return nil
	}
	f.header.PointerSize = etw.Ptr64 // as nearly all systems have it
	if faults, _ := f.faults(&f.first); faults > 0 && !f.findStart() {
		return fmt.Errorf("%w: it does not begin with a buffer", ErrNotETL)
	}
	f.lose(0, f.start, "file header", fmt.Errorf("%w: it is not the first record, so times are unknown", ErrHeader))
	return nil
}

// findStart looks for a buffer where the beginning of the file is lost, not too
// far from there. That another follows, or the end of the file, shows that it is
// one.
func (f *file) findStart() bool {
	const far, tries = 32 << 20, 16
	size := f.size
	f.size = min(size, far)
	defer func() { f.size, f.searched = size, searched{} }()
	for range tries {
		pos := f.search(f.searched.found + 1)
		b, _ := f.peek(pos)
		if len(b) < bufferHeaderSize {
			return false
		}
		h := parseBufferHeader(b)
		if f.likeness(&h) != same {
			continue
		}
		confirmed := pos+int64(h.size) == size
		if b, _ := f.peek(pos + int64(h.size)); len(b) >= bufferHeaderSize {
			next := parseBufferHeader(b)
			confirmed = f.likeness(&next) == same && next.logger == h.logger
		}
		if confirmed {
			f.start, f.first = pos, h
			return true
		}
	}
	return false
}

// missing returns how many of the buffers that the session has written are not in
// the file. A session that overwrites its buffers or changes files counts those
// that it left behind, once it has filled a file.
func (f *file) missing() int64 {
	h := &f.header
	switch {
	case h.Mode&ModeBuffering != 0:
		return 0
	case h.Mode&(ModeCircular|ModeNewFile) != 0:
		unit := int64(1 << 20)
		if h.Mode&ModeKilobytes != 0 {
			unit = 1 << 10
		}
		if int64(h.BuffersWritten)*int64(h.BufferSize) > int64(h.MaxFileSize)*unit {
			return 0
		}
	}
	return max(int64(h.BuffersWritten)-f.stats.found, 0)
}

// surplus returns how many buffers the file has that its session, which was stopped,
// has not written: there are several files in one, or parts of one twice.
func (f *file) surplus() int64 {
	if h := &f.header; h.End == 0 || h.BuffersWritten == 0 {
		return 0
	}
	return max(f.stats.found-int64(f.header.BuffersWritten), 0)
}

// readAt fills p from offset off, or up to the end of the file. Missing bytes are no error.
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

// key returns the key that orders a record with the given time stamp.
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

// damageAt returns a damage of f.
//
//go:noinline
func (f *file) damageAt(offset int64, part string, err error) *etw.Damage {
	return &etw.Damage{Format: "etl", File: f.name, Offset: offset, Part: part, Err: err}
}

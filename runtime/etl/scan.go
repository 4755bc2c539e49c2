package etl

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
)

// The scan finds the buffers of a file by their headers, without reading the
// rest. Each leads to the next: in a file without compression all have one size,
// in one with it each says its own.
//
// Headers can be damaged, and bytes can be missing or too many. So no header is
// believed alone:
//
//  1. Where a header is expected, it may have one fault; what is wrong is put
//     right by what else is known.
//  2. A size is right if there is a header where it leads to.
//  3. Where there is none, the next header is searched for, at every byte behind
//     the last good one. There it must have no fault, and lead to another.
//
// Each byte is searched through once, so that the time is in proportion to the
// size of the file whatever is in it.

// peekSize is how much of a buffer the scan reads to learn the time of its
// first record: enough for the table and first codes of the Huffman format.
const peekSize = 440

// maxRatio bounds the unpacked size of the compressed buffers of a file, in all, by the size
// of the file; so much more is allowed. Traces compress four to six times, the best buffers
// twenty.
const (
	maxRatio  = 128
	freeRatio = 4 << 20
)

// scan finds the buffers of f.
func (f *file) scan() error {
	f.findGrid()
	if f.grid > 0 {
		f.buffers = make([]bufferRef, 0, min(f.size/f.grid+1, 1<<20))
	}
	var huffman *xca.HuffmanDecoder
	pos := f.start
	for pos+bufferHeaderSize <= f.size {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		b, err := f.peek(pos)
		if len(b) < bufferHeaderSize {
			f.lose(pos, f.size, "buffer header", cmp.Or(err, io.ErrUnexpectedEOF))
			return nil
		}
		h := parseBufferHeader(b)
		next, ok := f.accept(&h, pos)
		if !ok {
			pos = f.skip(pos)
			continue
		}
		f.add(&h, pos, &huffman)
		pos = next
	}
	if pos < f.size {
		if b, _ := f.peek(pos); !allZero(b) {
			f.stats.truncated++
			f.lose(pos, f.size, "buffer header", fmt.Errorf("the file ends in it: %w", ErrTruncated))
		}
	}
	f.stats.missing = f.missing()
	if f.ctx.Err() != nil { // in a search
		return context.Cause(f.ctx)
	}
	return nil
}

// findGrid finds out whether all buffers have one size. The header of the file
// and that of its first buffer both say it, unless the file is compressed. Where
// they do not agree one of them is damaged, and the buffers show which.
func (f *file) findGrid() {
	given, first := int64(f.header.BufferSize), int64(f.first.size)
	compressed := f.isCompressed()
	switch {
	case !compressed && given == first && f.limit == f.header.BufferSize:
		f.grid = given
	case compressed && given != first:
	case f.isGrid(given):
		f.grid = given
	case f.isGrid(first):
		f.grid = first
	}
	if f.grid > 0 {
		f.limit = uint32(f.grid)
	}
}

// isGrid reports whether there are sound headers of buffers of the given size at
// most of its first multiples.
func (f *file) isGrid(size int64) bool {
	if size < minBufferSize || size > maxBufferSize || size%8 != 0 {
		return false
	}
	limit := f.limit
	f.grid, f.limit = size, uint32(size)
	defer func() { f.grid, f.limit = 0, limit }()
	places, sound := 0, 0
	for pos := size; places < 8 && pos+bufferHeaderSize <= f.size; pos += size {
		places++
		if b, _ := f.peek(pos); len(b) >= bufferHeaderSize {
			h := parseBufferHeader(b)
			if faults, _ := f.faults(&h); faults == 0 {
				sound++
			}
		}
	}
	return places > 0 && 2*sound >= places
}

// A peeked is the beginning of the data at some place of a file: the header of a buffer and
// a part of its data.
type peeked struct {
	pos   int64 // plus 1
	bytes []byte
	err   error
	room  [bufferHeaderSize + peekSize]byte
}

// peek returns the data at pos, or less at the end of the file or with an error. It stays
// valid for one more call: a header is looked at together with the next.
func (f *file) peek(pos int64) ([]byte, error) {
	for i := range f.peeks {
		if p := &f.peeks[i]; p.pos == pos+1 {
			f.lastPeek = i
			return p.bytes, p.err
		}
	}
	f.lastPeek = 1 - f.lastPeek
	p := &f.peeks[f.lastPeek]
	n, err := f.readAt(p.room[:], pos)
	p.pos, p.bytes, p.err = pos+1, p.room[:n], err
	return p.bytes, err
}

// zeroAt reports whether there are only zeros where a buffer could begin at pos.
func (f *file) zeroAt(pos int64) bool {
	b, err := f.peek(pos)
	return err == nil && allZero(b)
}

// look says whether a buffer can begin at pos. Where the file ends, or was not
// written further, a buffer is as good as any that could follow.
func (f *file) look(pos int64) likeness {
	if pos > f.size {
		return unlike
	}
	b, err := f.peek(pos)
	switch {
	case len(b) >= bufferHeaderSize && !allZero(b):
		h := parseBufferHeader(b)
		return f.likeness(&h)
	case err != nil:
		return unlike
	case f.grid == 0 && len(b) > 0:
		return alike // if nothing speaks for another size
	}
	return same
}

// accept reports whether h is the header of a buffer at pos, and where the next one begins.
// Faults of h are put right. The first buffer has the header of the file; whatever its own
// header says, it is there.
func (f *file) accept(h *bufferHeader, pos int64) (next int64, ok bool) {
	if pos == 0 {
		h.flags &^= bufferCompressed
		h.typ = 0
	} else if f.likeness(h) == unlike {
		return 0, false
	}
	next = f.endOf(h, pos)
	if given := h.size; int64(given) != next-pos {
		h.size = uint32(next - pos)
		f.note(pos, "the size is given as %d, but the next buffer begins after %d bytes", given, h.size)
	}
	f.repair(h, pos)
	return next, true
}

// note notes that something is wrong with the header of the buffer at pos, which
// costs no records.
func (f *file) note(pos int64, format string, args ...any) {
	f.lose(pos, pos, "buffer header", fmt.Errorf("%w: "+format, append([]any{ErrHeader}, args...)...))
}

// endOf returns where the buffer at pos ends, which is beyond the end of the file
// if that cuts it off.
func (f *file) endOf(h *bufferHeader, pos int64) int64 {
	size := int64(h.size)
	switch {
	case f.grid > 0:
		size = f.grid
	case !f.sizeFits(h), !h.compressed() && h.extent > h.size && h.extent <= f.limit:
		size = 0
	}
	next := unlike
	if size > 0 {
		next = f.look(pos + size)
	}
	if next == same {
		return pos + size
	}
	found := f.search(pos + bufferHeaderSize)
	if next == alike && (found >= pos+size+bufferHeaderSize || found == pos+size) {
		return pos + size // it is not a part of another header
	}
	if size > 0 && (found >= pos+size || found == f.size) {
		return pos + size // it is the next header that is damaged, or there is none
	}
	return min(found, pos+f.maxOnDisk())
}

// repair puts impossible values right in a header of which the size is.
func (f *file) repair(h *bufferHeader, pos int64) {
	if h.typ > maxBufferType {
		f.note(pos, "there is no type %d", h.typ)
		h.typ = 0
	}
	switch {
	case f.grid > 0 && h.compressed():
		f.note(pos, "it is said to be compressed")
		h.flags &^= bufferCompressed
	case f.isCompressed() && !h.compressed() && pos > 0 && !f.recordAt(pos+bufferHeaderSize):
		f.note(pos, "it is not said to be compressed")
		h.flags |= bufferCompressed
	}
	switch {
	case h.extent < bufferHeaderSize || h.extent > f.limit:
		f.note(pos, "%d bytes are said to be filled", h.extent)
		if h.extent = h.saved; h.saved < bufferHeaderSize || h.saved > f.limit {
			h.extent = min(f.limit, max(64<<10, maxRatio*h.size))
		}
	case h.saved > h.extent && (h.saved <= f.limit || h.compressed()):
		h.least, h.extent = h.extent, min(h.saved, f.limit) // the data will show
	}
	if !h.compressed() {
		h.extent = min(h.extent, h.size)
	}
}

// recordAt reports whether the data at pos looks like a record.
func (f *file) recordAt(pos int64) bool {
	var b [4]byte
	n, err := f.readAt(b[:], pos)
	return err == nil && beginsRecord(b[:n])
}

// add adds the buffer at pos.
func (f *file) add(h *bufferHeader, pos int64, huffman **xca.HuffmanDecoder) {
	f.previous = pos
	f.stats.found++
	if h.sequence < int64(f.header.BuffersWritten) {
		f.stats.last = max(f.stats.last, h.sequence)
	}
	ref := bufferRef{
		pos: pos, sequence: h.sequence, size: h.size, extent: h.extent, least: h.least,
		processor: h.processor, compressed: h.compressed(), doubtful: !h.hasRecords(),
	}
	if left := f.size - pos; int64(ref.size) > left {
		ref.size, ref.cut = uint32(left), true
	}
	if ref.extent == bufferHeaderSize && (ref.compressed || !f.recordAt(pos+bufferHeaderSize)) {
		return
	}
	if ref.compressed {
		if !f.allow(int64(ref.extent)) {
			f.lose(pos, pos+int64(ref.size), "buffer", fmt.Errorf(
				"%w: the file unpacks to more than %d times its size", ErrLimit, maxRatio))
			return
		}
		f.findAlgorithm(&ref, huffman)
	}
	ref.first, ref.hasFirst = f.firstTime(&ref, huffman)
	f.buffers = append(f.buffers, ref)
}

// allow reports whether a buffer may unpack to n bytes, after all those before.
func (f *file) allow(n int64) bool {
	if f.unpacked+n > freeRatio+maxRatio*f.size {
		return false
	}
	f.unpacked += n
	return true
}

// skip returns the place of the next header, where there is none at pos, and accounts for
// the bytes between. It may be before pos: in bytes taken for a part of the last buffer.
func (f *file) skip(pos int64) (next int64) {
	if f.grid > 0 && f.zeroAt(pos) {
		for next = pos; next < f.size && f.zeroAt(next) && f.ctx.Err() == nil; next += f.grid {
		}
		next = min(next, f.size)
		f.passZeros(pos, next)
		return next
	}
	next = f.search(f.previous + bufferHeaderSize)
	if n := len(f.buffers); n > 0 && f.buffers[n-1].pos == f.previous {
		// More than the buffer is no fault in compressed data, less is one: so the
		// size of the last buffer, if it led astray, is that which it can have.
		last := &f.buffers[n-1]
		if room := min(next-last.pos, f.maxOnDisk()); last.compressed || int64(last.size) > room {
			last.size = uint32(room)
		}
		if !last.compressed {
			last.extent = min(last.extent, last.size)
		}
	}
	if pos < next && f.zeros(pos, next) {
		f.passZeros(pos, next)
		return next
	}
	f.lose(min(pos, next), next, "buffer header", fmt.Errorf("%w: %d bytes are skipped", ErrHeader, max(next-pos, 0)))
	return next
}

// passZeros accounts for zeros between pos and next. At the end of a file they are parts not
// written yet.
func (f *file) passZeros(pos, next int64) {
	f.stats.unwritten += next - pos
	if next < f.size {
		f.note(pos, "%d bytes of zeros between buffers", next-pos)
	}
}

// lose notes a damage at pos and that the bytes up to next are not read.
func (f *file) lose(pos, next int64, part string, err error) {
	f.damage.Add(f.damageAt(pos, part, err))
	f.stats.unread += next - pos
}

// search returns the position of the first header at or after pos that has no
// fault and leads to another, or the end of the file. Its results are kept, and
// it is called for rising positions only.
func (f *file) search(pos int64) int64 {
	if f.searched.from <= pos && pos <= f.searched.found {
		return f.searched.found
	}
	f.searched.from = pos
	if f.chunk == nil {
		f.chunk = make([]byte, 256<<10)
	}
	for pos+bufferHeaderSize <= f.size && f.ctx.Err() == nil {
		n, err := f.readAt(f.chunk, pos)
		if n < bufferHeaderSize || err != nil {
			break
		}
		chunk := f.chunk[:n]
		if at := f.searchIn(chunk, pos); at >= 0 {
			f.searched.found = pos + int64(at)
			return f.searched.found
		}
		pos += int64(n-bufferHeaderSize) + 1
	}
	f.searched.found = f.size
	return f.size
}

// searchIn returns the offset of the first header in chunk, which lies at pos, or
// -1.
func (f *file) searchIn(chunk []byte, pos int64) int {
	if allZero(chunk) {
		return -1
	}
	for at := 0; at+bufferHeaderSize <= len(chunk); at++ {
		if b := chunk[at : at+bufferHeaderSize]; b[0x35]|b[0x37] == 0 && b[0x36] <= maxBufferType && b[0x03] <= maxBufferSize>>24 {
			h := parseBufferHeader(b)
			if faults, oddities := f.faults(&h); faults == 0 && oddities <= 2 && h.size > bufferHeaderSize && f.leads(&h, pos+int64(at)) {
				return at
			}
		}
	}
	return -1
}

// leads reports whether the data after the buffer h at pos confirms it: the end of the file,
// or another header of the same session. If there is none, as where the end of the file cuts
// the buffer off, h must have a likely end of its own.
func (f *file) leads(h *bufferHeader, pos int64) bool {
	next := pos + int64(h.size)
	if next == f.size {
		return true
	}
	var b [bufferHeaderSize]byte
	if n, err := f.readAt(b[:], next); n == len(b) && err == nil {
		following := parseBufferHeader(b[:])
		if faults, _ := f.faults(&following); faults == 0 && following.logger == h.logger {
			return true
		}
	}
	return h.saved == h.extent && (next > f.size-bufferHeaderSize || f.zeroAt(next))
}

// zeros reports whether the file has only zeros in [pos, next).
func (f *file) zeros(pos, next int64) bool {
	for pos < next {
		n, err := f.readAt(f.chunk[:min(int64(len(f.chunk)), next-pos)], pos)
		if err != nil || n == 0 || !allZero(f.chunk[:n]) {
			return false
		}
		pos += int64(n)
	}
	return true
}

func allZero(b []byte) bool {
	var zeros [4096]byte
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

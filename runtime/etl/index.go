package etl

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
)

// A bufferRef is where a buffer lies, and what orders it among the others.
type bufferRef struct {
	pos       int64
	first     int64 // key of its first record
	sequence  int64
	size      uint32 // bytes in the file, with the header
	extent    uint32 // bytes without compression, with the header
	file      uint16
	processor uint16

	compressed bool
	cut        bool // the end of the file cuts it off
	hasFirst   bool // first is known
}

// compareStream orders buffers by file, processor and sequence: those of one
// stream as they were filled.
func compareStream(a, b *bufferRef) int {
	return cmp.Or(
		cmp.Compare(a.file, b.file),
		cmp.Compare(a.processor, b.processor),
		cmp.Compare(a.sequence, b.sequence),
		cmp.Compare(a.pos, b.pos))
}

// peekSize is how much of a buffer the scan reads to learn the time of its
// first record: enough for the table and first codes of the Huffman format.
const peekSize = 440

// firstRecordSize is enough of a record to hold its time stamp.
const firstRecordSize = 40

// scan finds the buffers of f by their headers, without reading the rest.
//
// Where there should be a header and is none, it goes on searching: at the next
// place in the grid of a file without compression, and at every byte of one
// with it, for what looks like a header and is followed by another.
func (f *file) scan() {
	if f.grid > 0 {
		f.buffers = make([]bufferRef, 0, min(f.size/f.grid+1, 1<<20))
	}
	var huffman *xca.HuffmanDecoder
	pos, previous := int64(0), int64(-bufferHeaderSize)
	for pos+bufferHeaderSize <= f.size {
		n, err := f.readAt(f.scratch[:], pos)
		if err != nil {
			f.lose(pos, f.size, &Damage{Err: err})
			return
		}
		b := f.scratch[:n]
		h := parseBufferHeader(b)
		if !f.fits(&h, pos) {
			next := f.resync(pos, previous)
			if !f.repair(&h, pos, next) {
				f.skip(pos, next, previous)
				pos = next
				continue
			}
		}
		previous = pos
		f.stats.found++
		ref := bufferRef{
			pos: pos, sequence: h.sequence, size: h.size, extent: h.extent,
			processor: h.processor, compressed: h.compressed(),
		}
		if !ref.compressed {
			ref.extent = min(ref.extent, ref.size)
		}
		if left := f.size - pos; int64(ref.size) > left {
			ref.size = uint32(left)
			ref.cut = ref.compressed || ref.extent > ref.size
		}
		if h.hasRecords() {
			ref.first, ref.hasFirst = f.firstTime(&ref, b, &huffman)
			f.buffers = append(f.buffers, ref)
		}
		pos += int64(h.size)
	}
	if pos < f.size {
		rest := make([]byte, f.size-pos)
		if n, _ := f.readAt(rest, pos); !allZero(rest[:n]) {
			f.stats.truncated++
			f.lose(pos, f.size, &Damage{Err: ErrTruncated, What: "the file ends in a buffer's header"})
		}
	}
}

// fits reports whether h can be the header of the buffer at pos.
func (f *file) fits(h *bufferHeader, pos int64) bool {
	if !h.sane() {
		return false
	}
	if f.grid == 0 || h.compressed() || int64(h.size) == f.grid {
		if int64(h.size) <= f.size-pos {
			return true
		}
		// The last buffer may be cut off. But if another header follows, it is the
		// size that is wrong.
		return h.size <= f.maxOnDisk() && (f.grid > 0 || f.search(pos+bufferHeaderSize) == f.size)
	}
	// Off the grid, only what follows can tell whether the size is right.
	return f.headerAt(pos+int64(h.size), h)
}

// maxOnDisk is the size that a buffer of f may have.
func (f *file) maxOnDisk() uint32 {
	if f.grid > 0 {
		return uint32(f.grid)
	}
	if f.header.BufferSize == 0 {
		return maxBufferSize
	}
	// What does not compress grows by a bit for each byte.
	return f.header.BufferSize + f.header.BufferSize/8 + 2*bufferHeaderSize
}

// headerAt reports whether pos is the end of the file or has what looks like a
// header, of the session that like is of.
func (f *file) headerAt(pos int64, like *bufferHeader) bool {
	if pos == f.size {
		return true
	}
	var b [bufferHeaderSize]byte
	if n, err := f.readAt(b[:], pos); n < len(b) || err != nil {
		return false
	}
	h := parseBufferHeader(b[:])
	return f.alike(&h, like)
}

// alike reports whether h looks like a header, by everything that is known
// about those of this file.
func (f *file) alike(h, like *bufferHeader) bool {
	return h.sane() && h.size > bufferHeaderSize && h.size <= f.maxOnDisk() &&
		h.extent >= bufferHeaderSize &&
		(f.header.BufferSize == 0 || h.extent <= f.header.BufferSize) &&
		h.sequence >= 0 && h.sequence < 1<<40 &&
		h.flags < 0x100 &&
		(like == nil || h.logger == like.logger) &&
		(h.compressed() || h.size%8 == 0)
}

// resync returns the position of the next header, where there is none at pos and
// the last one was at previous, or the end of the file.
func (f *file) resync(pos, previous int64) int64 {
	if f.grid > 0 {
		for pos += f.grid; pos+bufferHeaderSize <= f.size; pos += f.grid {
			if f.headerAt(pos, nil) {
				return pos
			}
		}
		return f.size
	}
	// The fault may be in the size that led here. Then the next header is inside
	// of what was taken for the buffer before.
	return f.search(previous + bufferHeaderSize)
}

// search returns the position of the first header at or after pos, at any byte.
func (f *file) search(pos int64) int64 {
	chunk := make([]byte, 256<<10)
	for pos+bufferHeaderSize <= f.size {
		n, err := f.readAt(chunk, pos)
		if n < bufferHeaderSize || err != nil {
			break
		}
		last := n - bufferHeaderSize
		if allZero(chunk[:n]) {
			pos += int64(last) + 1
			continue
		}
		for at := 0; at <= last; at++ {
			if chunk[at+3] > maxBufferSize>>24 || chunk[at+0x37] != 0 {
				continue
			}
			h := parseBufferHeader(chunk[at:])
			if f.alike(&h, nil) && f.headerAt(pos+int64(at)+int64(h.size), &h) {
				return pos + int64(at)
			}
		}
		pos += int64(last) + 1
	}
	return f.size
}

// repair gives the header h of the buffer at pos the size that the place of the
// next header asks for. It reports whether everything else about h is right.
func (f *file) repair(h *bufferHeader, pos, next int64) bool {
	if next <= pos || next-pos > int64(f.maxOnDisk()) {
		return false
	}
	given := h.size
	h.size = uint32(next - pos)
	if !f.alike(h, nil) || h.extent == bufferHeaderSize {
		return false
	}
	f.noteSize(pos, given, next)
	return true
}

// noteSize notes that a buffer does not have the size that its header says.
func (f *file) noteSize(pos int64, given uint32, next int64) {
	f.lose(pos, pos, &Damage{Err: ErrHeader, What: fmt.Sprintf(
		"its size is given as %d, but the next one begins after %d bytes", given, next-pos)})
}

// skip accounts for what lies between pos, where there was no header, and next,
// where there is one. That may be before pos, but is after previous.
func (f *file) skip(pos, next, previous int64) {
	if pos < next && f.zeros(pos, next) {
		f.stats.unwritten += next - pos
		if next < f.size {
			f.lose(pos, pos, &Damage{Err: ErrHeader, What: fmt.Sprintf("%d bytes of zeros between buffers", next-pos)})
		}
		return
	}
	if n := len(f.buffers); f.grid == 0 && n > 0 && f.buffers[n-1].pos == previous && next < f.size {
		// A size that is wrong is not worth more than the place of the next header.
		// For compressed data more than enough is as good as the right size.
		last := &f.buffers[n-1]
		f.noteSize(last.pos, last.size, next)
		last.size = uint32(min(next-last.pos, maxBufferSize))
		if !last.compressed {
			last.extent = min(last.extent, last.size)
		}
		return
	}
	pos = min(pos, next)
	f.lose(pos, next, &Damage{Err: ErrHeader, What: fmt.Sprintf("%d bytes are skipped", next-pos)})
}

// lose notes a damage at pos and that the bytes up to next are not read.
func (f *file) lose(pos, next int64, d *Damage) {
	d.File, d.Offset = f.name, pos
	f.damage.add(d)
	f.stats.unread += next - pos
}

// zeros reports whether the file has only zeros in [pos, next). In a grid it
// looks at the places of headers only: what they do not announce is no record.
func (f *file) zeros(pos, next int64) bool {
	step, size := f.grid, int64(bufferHeaderSize)
	if f.grid == 0 {
		step, size = 256<<10, 256<<10
	}
	chunk := make([]byte, size)
	for ; pos < next; pos += step {
		n, err := f.readAt(chunk[:min(size, next-pos)], pos)
		if err != nil || !allZero(chunk[:n]) {
			return false
		}
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

// firstTime returns the key of the first record of a buffer of which b is the
// beginning.
func (f *file) firstTime(ref *bufferRef, b []byte, huffman **xca.HuffmanDecoder) (int64, bool) {
	var record [firstRecordSize]byte
	n := min(len(record), int(ref.extent)-bufferHeaderSize)
	packed := b[bufferHeaderSize:min(len(b), int(ref.size))]
	if ref.compressed {
		n, _ = f.decompress(record[:n], packed, huffman)
	} else {
		n = copy(record[:n], packed)
	}
	return recordTime(record[:n])
}

// plan puts the buffers of all files in the order in which a merge by time
// needs them.
func plan(files []*file) []bufferRef {
	var all []bufferRef
	for i, f := range files {
		for j := range f.buffers {
			ref := &f.buffers[j]
			ref.file = uint16(i)
			if ref.hasFirst {
				ref.first = f.key(ref.first)
			}
		}
		if len(files) == 1 {
			all = f.buffers
		} else {
			all = append(all, f.buffers...)
		}
		f.buffers = nil
	}
	slices.SortFunc(all, func(a, b bufferRef) int { return compareStream(&a, &b) })
	inherit(all)
	slices.SortStableFunc(all, func(a, b bufferRef) int { return cmp.Compare(a.first, b.first) })
	return all
}

// inherit gives a buffer whose first record has no time that of the buffer
// before it in its stream. Without one, the buffer comes before all others.
func inherit(all []bufferRef) {
	for i := range all {
		b := &all[i]
		switch {
		case b.hasFirst:
		case i > 0 && all[i-1].file == b.file && all[i-1].processor == b.processor:
			b.first = all[i-1].first
		default:
			b.first = math.MinInt64
		}
	}
}

// le64 reads a little-endian number where the caller has checked the length.
func le64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

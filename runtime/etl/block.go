package etl

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
)

// A block is a buffer in memory: its records without compression, found and in
// order. Blocks are reused.
type block struct {
	ref  bufferRef
	file *file
	data []byte // of the records; offset 0 is bufferHeaderSize in the buffer

	entries []entry
	next    int // the first of the entries that is not delivered

	tally blockTally
}

// An entry is one record of a block.
type entry struct {
	key int64
	off uint32
}

// A blockTally is what reading a block adds to the statistics.
type blockTally struct {
	unknown   int // records of a kind that is not known
	damaged   int // records that are none
	truncated bool
	unread    int64
	damage    *Damage
}

// An unpacker is what a block needs only while it is loaded.
type unpacker struct {
	packed  []byte
	huffman *xca.HuffmanDecoder
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// load reads the buffer ref of file and finds its records. Whatever is wrong ends
// up in b.tally.
func (b *block) load() {
	b.next = 0
	b.entries = b.entries[:0]
	b.tally = blockTally{}
	if b.ref.compressed {
		b.unpack()
	} else {
		b.data = b.sized(b.data, int(min(b.ref.extent, b.ref.size))-bufferHeaderSize)
		b.data = b.data[:b.read(b.data)]
		if b.ref.cut {
			b.cutOff()
		}
	}
	b.walk()
	b.sort()
}

// read fills p with what is behind the buffer's header, and returns how much
// the file has of it.
func (b *block) read(p []byte) int {
	n, err := b.file.readAt(p, b.ref.pos+bufferHeaderSize)
	switch {
	case err != nil:
		b.fail(0, &Damage{Err: err})
	case n < len(p):
		// The file has become shorter since it was scanned.
		b.ref.cut = true
	}
	return n
}

// unpack reads and decompresses the buffer.
func (b *block) unpack() {
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	u.packed = b.sized(u.packed, int(b.ref.size)-bufferHeaderSize)
	u.packed = u.packed[:b.read(u.packed)]
	b.data = b.sized(b.data, int(b.ref.extent)-bufferHeaderSize)
	n, err := b.file.decompress(b.data, u.packed, &u.huffman)
	b.data = b.data[:n]
	switch {
	case err == nil:
	case b.ref.cut:
		b.cutOff()
	default:
		b.fail(n, &Damage{Err: ErrCompression, What: fmt.Sprintf(
			"%v after %d of %d bytes", err, n, b.ref.extent-bufferHeaderSize)})
	}
}

// cutOff notes that the file ends before the buffer does.
func (b *block) cutOff() {
	b.tally.truncated = true
	b.fail(len(b.data), &Damage{Err: ErrTruncated, What: "the file ends in it"})
}

// fail notes that what follows offset at of the records is lost. The first
// fault of a block explains those after it.
func (b *block) fail(at int, d *Damage) {
	if b.tally.damage != nil {
		return
	}
	d.File, d.Offset = b.file.name, b.ref.pos
	if at > 0 {
		d.At = at + bufferHeaderSize
	}
	b.tally.damage = d
	b.tally.unread = max(int64(b.ref.extent)-bufferHeaderSize-int64(at), 0)
}

// typicalRecord is a guess at the size of records, on the low side.
const typicalRecord = 64

// walk finds the records. Each begins at a multiple of 8; after the last there
// may be a filling. What is no record ends the block, since there is no way to
// tell where the next one begins.
func (b *block) walk() {
	if b.entries == nil {
		b.entries = make([]entry, 0, cap(b.data)/typicalRecord+1)
	}
	key, timed := b.ref.first, false
	for off := 0; len(b.data)-off >= messageHeaderSize; {
		p := b.data[off:]
		if isFilling(p) {
			return
		}
		r, fault := measure(p)
		if fault != "" {
			if b.tally.damage == nil {
				b.tally.damaged++
				b.fail(off, &Damage{Err: ErrRecord, What: fault})
			}
			return
		}
		if r.timed {
			key = b.file.key(r.ticks)
			if !timed {
				// Records without a time take it from their neighbours: from the one
				// before, or here from the one after.
				timed = true
				for i := range b.entries {
					b.entries[i].key = key
				}
			}
		}
		if r.known {
			b.entries = append(b.entries, entry{key, uint32(off)})
		} else {
			b.tally.unknown++
		}
		off += (r.size + 7) &^ 7
	}
}

// sort puts the records in the order of time. Within one processor's stream
// they are, but sessions may share one buffer among processors.
func (b *block) sort() {
	for i := 1; i < len(b.entries); i++ {
		if b.entries[i].key < b.entries[i-1].key {
			slices.SortStableFunc(b.entries, func(x, y entry) int { return cmp.Compare(x.key, y.key) })
			return
		}
	}
}

// record returns the bytes of the record of entry e.
func (b *block) record(e entry) []byte {
	p := b.data[e.off:]
	size := int(binary.LittleEndian.Uint16(p))
	if p[3] == markerRecord {
		size = int(binary.LittleEndian.Uint16(p[recordLayouts[p[2]].sizeAt:]))
	}
	return p[:size:size]
}

// memory returns how many bytes the buffer ref takes once loaded, not counting
// the table of its records.
func (ref *bufferRef) memory() int64 { return int64(ref.extent) }

// sized returns p with length n. If p has no room for that, the new one has room
// for any buffer of the session, unless those are very large.
func (b *block) sized(p []byte, n int) []byte {
	if cap(p) >= n {
		return p[:n]
	}
	room := n
	if size := b.file.header.BufferSize; size <= 1<<20 {
		room = max(room, int(size))
	}
	return make([]byte, n, room)
}

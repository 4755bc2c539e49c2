package etl

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A block is a buffer in memory: its records without compression, found and in
// order. Blocks are reused.
type block struct {
	ref  bufferRef
	file *file
	data []byte // of the records; offset 0 is bufferHeaderSize in the buffer
	room []byte // for data, unless that lies in the memory of the file or in home
	home []byte // the whole buffer that data is in, if a stream was given it

	entries []entry
	next    int   // the first of the entries that is not delivered
	held    int64 // by the merge
	touched byte  // of no meaning: what is read must go somewhere

	tally blockTally
}

// An entry is one record of a block.
type entry struct {
	key       int64
	off, size uint32
}

// A blockTally is the part of a block in the statistics.
type blockTally struct {
	unknown   int // records of a kind that is not known
	damaged   int // places of records without one
	truncated bool
	unread    int64
	damage    *etw.Damage
}

// An unpacker is the state that a block needs only while it is loaded.
type unpacker struct {
	packed  []byte
	huffman *xca.HuffmanDecoder
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// load reads the buffer ref of file and finds its records. Whatever is wrong ends
// up in b.tally.
func (b *block) load() {
	b.begin()
	if b.ref.compressed {
		b.unpack()
	} else {
		b.take()
	}
	if b.ref.cut {
		b.cutOff()
	}
	b.find()
}

// place is load of a buffer that is in memory and not compressed. It stays where it is;
// place returns the one that b had before.
func (b *block) place(buffer []byte) (unused []byte) {
	b.begin()
	unused, b.home = b.home, buffer
	b.data = buffer[bufferHeaderSize:b.ref.extent]
	b.find()
	return unused
}

// begin makes b empty.
func (b *block) begin() {
	b.next = 0
	b.entries = b.entries[:0]
	b.tally = blockTally{}
}

// find finds the records of data.
func (b *block) find() {
	if b.file.memory != nil && !b.ref.compressed {
		b.touch()
	}
	b.walk()
	if b.ref.doubtful && len(b.entries) == 0 {
		b.tally = blockTally{} // whatever is in it, that is as it should be
	}
	b.sort()
}

// take reads the buffer, which is not compressed, and some bytes behind its
// records: there is filling, unless the header is wrong about where they end.
func (b *block) take() {
	filled, room := int(min(b.ref.extent, b.ref.size))-bufferHeaderSize, int(b.ref.size)-bufferHeaderSize
	b.data = b.bytes(&b.room, min(filled+messageHeaderSize, room))
	switch {
	case len(b.data) <= filled:
	case beginsRecord(b.data[filled:]):
		if b.ref.least == 0 {
			b.ref.least = b.ref.extent
		}
		b.data = b.bytes(&b.room, room)
	default:
		b.data = b.data[:filled]
	}
}

// bytes returns n bytes from behind the buffer's header, or as much as the file has of it:
// where they lie if the file is in memory, or else in room.
func (b *block) bytes(room *[]byte, n int) []byte {
	from := b.ref.pos + bufferHeaderSize
	if m := b.file.memory; m != nil {
		from = min(from, int64(len(m)))
		p := m[from:min(from+int64(n), int64(len(m)))]
		b.ref.cut = b.ref.cut || len(p) < n
		return p
	}
	p := b.sized(*room, n)
	*room = p
	n, err := b.file.readAt(p, from)
	switch {
	case err != nil:
		b.fail(0, err)
	case n < len(p):
		// The file has become shorter since it was scanned.
		b.ref.cut = true
	}
	return p[:n]
}

// unpack reads and decompresses the buffer.
func (b *block) unpack() {
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	packed := b.bytes(&u.packed, int(b.ref.size)-bufferHeaderSize)
	b.room = b.sized(b.room, int(b.ref.extent)-bufferHeaderSize)
	n, err := b.file.decompress(b.room, packed, &u.huffman)
	b.data = b.room[:n]
	if b.ref.least > 0 {
		// Two members of the header disagree on how much there is.
		least := int(b.ref.least) - bufferHeaderSize
		if more := n - least; err != nil && more >= 0 && more < messageHeaderSize {
			// It ends where the smaller one says. The last bits of some algorithms
			// look like a few bytes more, too few for a record.
			b.data, err = b.data[:least], nil
		} else if err == nil {
			b.fail(n, fmt.Errorf("%w: %d bytes are said to be filled, but there are more", ErrHeader, b.ref.least))
		}
	}
	if err != nil && !b.ref.cut {
		b.fail(n, fmt.Errorf("%w: %v after %d of %d bytes", ErrCompression, err, n, b.ref.extent-bufferHeaderSize))
	}
}

// cutOff notes that the file ends before the buffer does.
func (b *block) cutOff() {
	b.tally.truncated = true
	b.fail(len(b.data), fmt.Errorf("the file ends in it: %w", ErrTruncated))
}

// fail notes that the records after offset at are lost. The first fault of a block explains
// those after it.
func (b *block) fail(at int, err error) {
	if b.tally.damage != nil {
		return
	}
	part := "buffer"
	if at > 0 {
		part = fmt.Sprintf("buffer at %#x", at+bufferHeaderSize)
	}
	b.tally.damage = b.file.damageAt(b.ref.pos, part, err)
	b.tally.unread = max(int64(b.ref.extent)-bufferHeaderSize-int64(at), 0)
}

// typicalRecord is a guess at the size of records, on the low side.
const typicalRecord = 64

// walk finds the records. Each begins at a multiple of 8. Anything but a record ends the
// block, since there is no way to tell where the next one begins.
func (b *block) walk() {
	if b.entries == nil {
		b.entries = make([]entry, 0, max(cap(b.room), len(b.data))/typicalRecord+1)
	}
	key, timed := b.ref.first, false
	off := 0
	for len(b.data)-off >= messageHeaderSize {
		p := b.data[off:]
		r, sound := measureRecord(p)
		if !sound {
			var fault string
			if r, fault = measure(p); fault != "" {
				b.broken(off, fault)
				return
			}
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
			b.entries = append(b.entries, entry{key, uint32(off), uint32(r.size)})
		} else {
			b.tally.unknown++
		}
		off += (r.size + 7) &^ 7
	}
	if off < len(b.data) {
		b.broken(off, "what is left is less than a record")
	} else if !b.ref.compressed {
		b.longer(off)
	}
}

// longer notes that there are records up to offset off, if the header has an end
// before.
func (b *block) longer(off int) {
	if least := int(b.ref.least); least > 0 && off > least-bufferHeaderSize {
		b.fail(len(b.data), fmt.Errorf("%w: %d bytes are said to be filled, but records go on", ErrHeader, least))
	}
}

// broken notes that there is no record at offset off, unless the block has another fault
// before, which explains it, or may end there.
func (b *block) broken(off int, fault string) {
	if !b.ref.compressed && b.ref.least > 0 && off >= int(b.ref.least)-bufferHeaderSize {
		b.longer(off)
		return
	}
	if b.tally.damage == nil {
		b.tally.damaged++
		b.fail(off, fmt.Errorf("%w: %s", ErrRecord, fault))
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

// touch brings the records into the cache, one line after the other: where the next
// header is, only the one before says, and one would wait for each.
func (b *block) touch() {
	x := b.touched
	for i := 0; i < len(b.data); i += cacheLine {
		x ^= b.data[i]
	}
	b.touched = x
}

const cacheLine = 64

// key returns the key of the next record.
func (b *block) key() int64 { return b.entries[b.next].key }

// record returns the bytes of the record of entry e.
func (b *block) record(e entry) []byte {
	end := e.off + e.size
	return b.data[e.off:end:end]
}

// memory returns about how many bytes the buffer ref takes once loaded, not
// counting the table of its records.
func (ref *bufferRef) memory() int64 { return int64(ref.extent) }

// blockSize is about the size of a block itself.
const blockSize = 256

// memory returns how many bytes b takes.
func (b *block) memory() int64 {
	return blockSize + int64(cap(b.room)) + int64(cap(b.home)) + int64(cap(b.entries))*int64(unsafe.Sizeof(entry{}))
}

// isLarge reports whether n bytes are most of a buffer of f.
func (f *file) isLarge(n uint32) bool { return n > f.limit/2 }

// sized returns p with length n. If p has no room for that, the new one has room
// for any buffer of the session if that does not mean to waste half of it, and
// for some more in any case.
func (b *block) sized(p []byte, n int) []byte {
	if cap(p) >= n {
		return p[:n]
	}
	room := 1 << bits.Len(uint(n))
	if limit := b.file.limit; b.file.isLarge(uint32(n)) {
		room = n
		if limit <= 1<<20 {
			room = max(n, int(limit))
		}
	}
	return make([]byte, n, room)
}

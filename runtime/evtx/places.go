package evtx

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"

	"github.com/etwgen/etwgen/internal/order"
)

// A place is where a chunk lies, and the contents of its head.
type place struct {
	offset      int64
	size        int64 // up to the next chunk: another one than that of a chunk is damage
	good        bool  // it has the magic
	firstRecord uint64
	first, last uint64 // numbers, which have no gaps
	surplus     bool   // the file ends too early for a chunk, and they are not the begin of one
}

// places finds the chunks of a file, in the order of their records: a log that is full goes on
// at its beginning. A chunk whose head is damaged stays behind the one before it. Where no chunk
// begins that should, bytes may have come in or gone, and the next one is searched for.
func places(src io.ReaderAt, size int64) ([]place, error) {
	var list []place
	f := finder{src: src, size: size}
	for at := int64(headerBlock); at < size; {
		p, err := f.head(at)
		if err == nil && !p.good {
			list, p, err = f.moved(list, p)
		}
		if err != nil {
			return list, err
		}
		if p.surplus && len(list) > 0 {
			break
		}
		list = append(list, p)
		at = p.offset + chunkSize
	}
	id := uint64(0)
	for i := range list {
		p := &list[i]
		if p.size = size - p.offset; i+1 < len(list) {
			p.size = list[i+1].offset - p.offset
		}
		if p.good {
			id = p.firstRecord
		}
		p.firstRecord = id
	}
	order.Stable(list, func(a, b place) int { return cmp.Compare(a.firstRecord, b.firstRecord) })
	return list, nil
}

// A finder looks for chunks.
type finder struct {
	src    io.ReaderAt
	size   int64
	window []byte
}

// placeHead is how much of the head of a chunk says that it is one, and of which records.
const placeHead = 52

// head returns the chunk at an offset, which is good if one begins there.
func (f *finder) head(at int64) (place, error) {
	var b [placeHead]byte
	n, err := f.src.ReadAt(b[:min(placeHead, f.size-at)], at)
	if err != nil && err != io.EOF {
		return place{}, err
	}
	begins := bytes.HasPrefix([]byte(chunkMagic), b[:min(n, len(chunkMagic))])
	p := place{offset: at, surplus: f.size-at < chunkSize/2 && !begins}
	if n == len(b) && string(b[:8]) == chunkMagic {
		le := binary.LittleEndian
		p.good, p.firstRecord = true, le.Uint64(b[24:])
		p.first, p.last = le.Uint64(b[8:]), le.Uint64(b[16:])
	}
	return p, nil
}

// moved finds the chunk that should be where p is not. It comes after those of the list, to which
// one is added if it lies further off.
func (f *finder) moved(list []place, p place) ([]place, place, error) {
	from := p.offset
	if n := len(list); n > 0 {
		from = list[n-1].offset + chunkSize/2 // so that no part of a file is searched often
	}
	to, err := f.search(from, p.offset+chunkSize)
	if to < 0 || err != nil {
		return list, p, err
	}
	if len(list) == 0 || to-p.offset >= chunkSize/2 { // between them is one whose head is damaged
		list = append(list, place{offset: max(to-chunkSize, headerBlock)})
	}
	p, err = f.head(to)
	return list, p, err
}

// search returns where between two offsets the first chunk begins, -1 if none does.
func (f *finder) search(from, to int64) (int64, error) {
	if f.window == nil {
		f.window = make([]byte, 2*chunkSize+placeHead)
	}
	n, err := f.src.ReadAt(f.window[:max(0, min(to-from+placeHead, f.size-from, int64(len(f.window))))], from)
	if err != nil && err != io.EOF {
		return -1, err
	}
	for b, at := f.window[:n], 0; ; at++ {
		i := bytes.Index(b[at:], []byte(chunkMagic))
		if at += i; i < 0 || at+placeHead > len(b) || from+int64(at) >= to {
			return -1, nil
		}
		if isHead(b[at:]) {
			return from + int64(at), nil
		}
	}
}

// isHead reports whether b, which begins with the magic of a chunk, goes on as its head does: the
// same bytes within a record do not.
func isHead(b []byte) bool {
	le := binary.LittleEndian
	free := le.Uint32(b[48:])
	return le.Uint32(b[40:]) == 128 && free >= chunkHead && free <= chunkSize
}

// realign undoes in a chunk that bytes came in or went: the records behind them are moved to where
// they were, so that what they refer to is where it was. It sets from where on in the chunk they
// were moved, and how far.
func (c *chunk) realign(size int) {
	more := size - chunkSize
	b := c.b
	c.b = b[:min(len(b), chunkSize):min(len(b), chunkSize)]
	at := chunkHead
	for n := recordAt(b, at); n > 0; n = recordAt(b, at) {
		if at += n; at == c.free {
			return // they went behind its records
		}
	}
	next := at
	if at == chunkHead { // they may have gone from before the records
		next = max(0, at+min(more, 0))
	}
	for ; next < len(b); next++ {
		i := bytes.Index(b[next:], []byte(recordMagic))
		if i < 0 {
			return
		}
		next += i
		to := next - more
		if to%8 != 0 || to < at || recordAt(b, next) == 0 {
			continue
		}
		whole := make([]byte, chunkSize)
		copy(whole, b[:at])
		copy(whole[to:], b[next:])
		c.b, c.from, c.moved = whole, to, more
		return
	}
}

// inFile returns where in the file a place of the chunk is.
func (c *chunk) inFile(at int) int64 {
	if c.moved != 0 && at >= c.from {
		at += c.moved
	}
	return c.offset + int64(at)
}

// recordAt returns the size of the record at a place of a chunk, 0 if none begins there.
func recordAt(b []byte, at int) int {
	c := chunk{parser: &parser{b: b}, at: at}
	if at+recordHead+4 > len(b) || !bytes.HasPrefix(b[at:], []byte(recordMagic)) {
		return 0
	}
	n, err := c.size()
	if err != nil {
		return 0
	}
	return n
}

// missing counts the records that the numbers of chunks leave out between them.
func missing(list []place) (n uint64) {
	var last *place
	for i := range list {
		p := &list[i]
		if !p.good || p.last < p.first {
			continue
		}
		if last != nil && p.first > last.last {
			n += p.first - last.last - 1
		}
		last = p
	}
	return n
}

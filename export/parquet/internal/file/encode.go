package file

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// The encodings of the format.
const (
	encodingPlain      = 0
	encodingRLE        = 3
	encodingDelta      = 5
	encodingDictionary = 8
)

// The kinds of pages.
const (
	pageData       = 0
	pageDictionary = 2
)

const codecZstd = 6

// An Encoder makes pages of values. Several writers can share one, each in its turn.
type Encoder struct {
	zstd      *zstd.Encoder
	numbering *numbering
	indexes   []uint32
	page      []byte
	packed    []byte
	header    thrift
}

// NewEncoder returns an encoder.
func NewEncoder() (*Encoder, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	return &Encoder{zstd: z, numbering: new(numbering)}, nil
}

// A chunk is the description of a column of a row group.
type chunk struct {
	plainSize, packedSize int64
	dictionary            int64 // offset of the page, or 0
	data                  int64
	encoding              int32
	nulls                 int64
}

// column writes the pages of a column.
func (e *Encoder) column(w *Writer, l *Leaf) (chunk, error) {
	c := chunk{encoding: encodingPlain, nulls: int64(l.n - l.values())}
	indexes, entries := e.index(l)
	if entries > 0 {
		c.encoding = encodingDictionary
		c.dictionary = w.offset
		e.page = e.page[:0]
		for i := range entries {
			if l.typ.isBytes() {
				e.page = l.appendPlainText(e.page, l.dict.at(uint32(i)))
			} else {
				e.page = l.appendPlain(e.page, e.numbering.values[i])
			}
		}
		if err := e.write(w, &c, pageDictionary, entries, encodingPlain); err != nil {
			return c, err
		}
	} else if p := l.typ.physical(); p == physicalInt32 || p == physicalInt64 {
		c.encoding = encodingDelta
	}
	c.data = w.offset
	width := max(1, bits.Len(uint(max(entries, 1)-1)))
	value := 0
	for from := 0; from < l.n; {
		to, values := l.pageEnd(from, value)
		e.page = l.appendLevels(e.page[:0], from, to)
		switch {
		case entries > 0:
			e.page = appendHybrid(append(e.page, byte(width)), indexes[value:values], width)
		case c.encoding == encodingDelta:
			e.page = appendDeltas(e.page, l.nums[value:values], l.typ.physical() == physicalInt32)
		default:
			e.page = l.appendValues(e.page, value, values)
		}
		if err := e.write(w, &c, pageData, to-from, c.encoding); err != nil {
			return c, err
		}
		from, value = to, values
	}
	return c, nil
}

// index returns the values of a column as numbers of dictionary entries, and how many
// these are; 0 if a dictionary is of no use.
func (e *Encoder) index(l *Leaf) ([]uint32, int) {
	n := l.values()
	switch {
	case n == 0 || l.typ == Bool || l.typ == Timestamp || l.typ == Micros:
		return nil, 0
	case l.typ.isBytes():
		// A dictionary is read as a whole.
		if len(l.dict.text) > 1<<20 || len(l.dict.ends) > n/2 && n > 16 {
			return nil, 0
		}
		return l.texts, len(l.dict.ends)
	}
	var worth bool
	if e.indexes, worth = e.numbering.number(l.nums, e.indexes); !worth {
		return nil, 0
	}
	return e.indexes, len(e.numbering.values)
}

// write compresses the page and writes it.
func (e *Encoder) write(w *Writer, c *chunk, kind int32, n int, encoding int32) error {
	e.packed = e.zstd.EncodeAll(e.page, e.packed[:0])
	h := &e.header
	h.b = h.b[:0]
	h.begin()
	h.i32(1, kind)
	h.i32(2, int32(len(e.page)))
	h.i32(3, int32(len(e.packed)))
	if kind == pageDictionary {
		h.nest(7)
		h.i32(1, int32(n))
		h.i32(2, encoding)
	} else {
		h.nest(5)
		h.i32(1, int32(n))
		h.i32(2, encoding)
		h.i32(3, encodingRLE)
		h.i32(4, encodingRLE)
	}
	h.end()
	h.end()
	c.plainSize += int64(len(h.b) + len(e.page))
	c.packedSize += int64(len(h.b) + len(e.packed))
	if err := w.write(h.b); err != nil {
		return err
	}
	return w.write(e.packed)
}

// The limits of a page.
const (
	pageLevels = 32 << 10
	pageBytes  = 1 << 20
)

// pageEnd returns up to which level and value the page that begins there goes. It
// ends where a row does.
func (l *Leaf) pageEnd(from, value int) (to, values int) {
	if !l.typ.isBytes() && l.maxRep == 0 { // each row is one level, and its size is of no matter
		to = min(l.n, from+pageLevels)
		if len(l.defs) == 0 {
			return to, value + to - from
		}
		return to, value + bytes.Count(l.defs[from:to], []byte{l.maxDef})
	}
	size := 0
	for to, values = from, value; to < l.n; to++ {
		if to-from >= pageLevels || size >= pageBytes {
			if l.maxRep == 0 || l.reps[to] == 0 {
				break
			}
		}
		if len(l.defs) > 0 && l.defs[to] != l.maxDef {
			continue
		}
		if l.typ.isBytes() {
			i := l.texts[values]
			size += len(l.dict.at(i))
		}
		values++
	}
	return to, values
}

// appendLevels appends the levels of a page.
func (l *Leaf) appendLevels(b []byte, from, to int) []byte {
	if l.maxRep > 0 {
		b = appendLevels(b, l.reps[from:to], l.maxRep)
	}
	if l.maxDef > 0 && len(l.defs) > 0 {
		b = appendLevels(b, l.defs[from:to], l.maxDef)
	} else if l.maxDef > 0 { // all of them are values: one run
		mark := len(b)
		b = binary.AppendUvarint(append(b, 0, 0, 0, 0), uint64(to-from)<<1)
		b = append(b, l.maxDef)
		binary.LittleEndian.PutUint32(b[mark:], uint32(len(b)-mark-4))
	}
	return b
}

func appendLevels(b []byte, levels []uint8, most uint8) []byte {
	mark := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, bits.Len8(most))
	binary.LittleEndian.PutUint32(b[mark:], uint32(len(b)-mark-4))
	return b
}

// appendValues appends plain values.
func (l *Leaf) appendValues(b []byte, from, to int) []byte {
	if l.typ.isBytes() {
		for _, i := range l.texts[from:to] {
			b = l.appendPlainText(b, l.dict.at(i))
		}
		return b
	}
	if l.typ == Bool {
		var p packer
		for _, v := range l.nums[from:to] {
			b = p.append(b, v&1, 1)
		}
		return p.flush(b)
	}
	for _, v := range l.nums[from:to] {
		b = l.appendPlain(b, v)
	}
	return b
}

package file

import (
	"encoding/binary"
	"math/bits"

	"github.com/etwgen/etwgen/internal/unzstd"
)

// The limits of pages, which those of a [Writer] do not come near.
const (
	maxPage       = 64 << 20 // bytes, unpacked
	maxPageLevels = 1 << 22
)

// A Decoder unpacks pages. Several readers can share one, each in its turn.
type Decoder struct{ u *unzstd.Unpacker }

// unpack appends the unpacked bytes of a page, which are of that size.
func (d *Decoder) unpack(to, packed []byte, size int) ([]byte, bool) {
	if d.u == nil {
		var err error
		if d.u, err = unzstd.New(); err != nil {
			return to, false
		}
	}
	err := d.u.Unpack(packed, func(b []byte) {
		if len(to)+len(b) <= size {
			to = append(to, b...)
		}
	})
	if err != nil || !d.u.Done() || len(to) != size {
		d.u = nil // where it is in the stream, it does not know
		return to, false
	}
	return to, true
}

// A cursor reads the rows of a column of a row group, one after the other.
type cursor struct {
	d    *Decoder
	leaf *Leaf
	rest []byte // the pages that come
	page []byte
	bad  bool

	left       int // levels of the page
	rep        uint8
	reps, defs runs
	encoding   int64
	values     []byte // in plain form
	indexes    runs
	deltas     deltas
	bit        int
	texts      [][]byte // the dictionary
	numbers    []uint64
}

// next begins the next page of values.
func (c *cursor) next() bool {
	for c.left == 0 && !c.bad {
		if len(c.rest) == 0 {
			return false
		}
		t := &thriftReader{b: c.rest}
		var kind, size, packed, n int64
		var encoding int64
		t.fields(func(id int16, k byte) {
			switch id {
			case 1:
				kind = t.number(k)
			case 2:
				size = t.number(k)
			case 3:
				packed = t.number(k)
			case 5, 7:
				t.nest(k, func(id int16, k byte) {
					switch id {
					case 1:
						n = t.number(k)
					case 2:
						encoding = t.number(k)
					default:
						t.skip(k)
					}
				})
			default:
				t.skip(k)
			}
		})
		body := t.take(uint64(packed))
		if c.rest = t.b; t.bad || size < 0 || size > maxPage || n < 0 || n > maxPageLevels {
			return c.fail()
		}
		var ok bool
		if c.page, ok = c.d.unpack(c.page[:0], body, int(size)); !ok {
			return c.fail()
		}
		switch kind {
		case pageDictionary:
			c.dictionary(int(n))
		case pageData:
			c.begin(int(n), encoding)
		default:
			return c.fail()
		}
	}
	return !c.bad
}

func (c *cursor) fail() bool {
	c.bad, c.left = true, 0
	return false
}

// dictionary reads the page of n values to which others refer.
func (c *cursor) dictionary(n int) {
	c.values = c.page
	c.page = nil // texts stay there
	for range n {
		if c.leaf.typ.isBytes() {
			c.texts = append(c.texts, c.plainText())
		} else {
			c.numbers = append(c.numbers, c.plain())
		}
		if c.bad {
			return
		}
	}
}

// begin begins a page of n values and nulls.
func (c *cursor) begin(n int, encoding int64) {
	b := c.page
	levels := func(most uint8) runs {
		if most == 0 {
			return runs{}
		}
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			c.fail()
			return runs{}
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		r := runs{b: b[4:end], width: bits.Len8(most)}
		b = b[end:]
		return r
	}
	c.reps, c.defs = levels(c.leaf.maxRep), levels(c.leaf.maxDef)
	c.left, c.encoding, c.bit = n, encoding, 0
	switch encoding {
	case encodingPlain:
		c.values = b
	case encodingDelta:
		c.deltas = deltas{b: b, narrow: c.leaf.typ.physical() == physicalInt32}
		c.deltas.begin()
	case encodingDictionary:
		if len(b) == 0 && n > 0 || len(b) > 0 && b[0] > 32 {
			c.fail()
		} else if len(b) > 0 {
			c.indexes = runs{b: b[1:], width: int(b[0])}
		}
	default:
		c.fail()
	}
	if n > 0 && !c.bad {
		c.rep = c.repetition()
	}
}

// repetition reads the next repetition level.
func (c *cursor) repetition() uint8 {
	if c.leaf.maxRep == 0 {
		return 0
	}
	return uint8(c.reps.next())
}

// row adds the values of the next row to a leaf, or passes over them if that is nil. It reports
// whether there is such a row.
func (c *cursor) row(to *Leaf) bool {
	if !c.next() || c.rep != 0 {
		return c.fail()
	}
	for {
		def := c.leaf.maxDef
		if def > 0 {
			def = uint8(c.defs.next())
		}
		if def > c.leaf.maxDef || c.rep > c.leaf.maxRep || c.reps.bad || c.defs.bad {
			return c.fail()
		}
		c.value(to, c.rep, def)
		if c.left--; c.bad || c.left <= 0 {
			return !c.bad
		}
		if c.rep = c.repetition(); c.rep == 0 {
			return true
		}
	}
}

// value adds a value or a null.
func (c *cursor) value(to *Leaf, rep, def uint8) {
	switch {
	case def < c.leaf.maxDef:
		if to != nil {
			to.Null(rep, def)
		}
	case c.leaf.typ.isBytes():
		if p := c.text(); to != nil && !c.bad {
			to.Text(p, rep)
		}
	default:
		if v := c.number(); to != nil && !c.bad {
			to.Number(v, rep)
		}
	}
}

// text reads a text.
func (c *cursor) text() []byte {
	switch c.encoding {
	case encodingPlain:
		return c.plainText()
	case encodingDictionary:
		if i := int(c.indexes.next()); i < len(c.texts) && !c.indexes.bad {
			return c.texts[i]
		}
	}
	c.fail()
	return nil
}

// number reads a number.
func (c *cursor) number() uint64 {
	switch c.encoding {
	case encodingPlain:
		return c.plain()
	case encodingDelta:
		v := c.deltas.next()
		if c.deltas.bad {
			c.fail()
		}
		if c.deltas.narrow {
			v = c.leaf.typ.widen(uint32(v))
		}
		return v
	case encodingDictionary:
		if i := int(c.indexes.next()); i < len(c.numbers) && !c.indexes.bad {
			return c.numbers[i]
		}
	}
	c.fail()
	return 0
}

// plain reads a number in plain form.
func (c *cursor) plain() uint64 {
	if c.leaf.typ == Bool {
		if c.bit/8 >= len(c.values) {
			c.fail()
			return 0
		}
		c.bit++
		return bitsAt(c.values, c.bit-1, 1)
	}
	p := c.leaf.typ.physical()
	narrow := p == physicalInt32 || p == physicalFloat
	size := 8
	if narrow {
		size = 4
	}
	if len(c.values) < size {
		c.fail()
		return 0
	}
	b := c.values[:size]
	c.values = c.values[size:]
	if narrow {
		return c.leaf.typ.widen(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// widen returns the bits of a number of 32 bits as a [Leaf] takes them.
func (t Type) widen(v uint32) uint64 {
	if t.physical() == physicalInt32 && integers[t].signed {
		return uint64(int64(int32(v)))
	}
	return uint64(v)
}

// plainText reads a text in plain form.
func (c *cursor) plainText() []byte {
	n := uint64(16)
	if c.leaf.typ != UUID {
		if len(c.values) < 4 {
			c.fail()
			return nil
		}
		n = uint64(binary.LittleEndian.Uint32(c.values))
		c.values = c.values[4:]
	}
	if n > uint64(len(c.values)) {
		c.fail()
		return nil
	}
	p := c.values[:n]
	c.values = c.values[n:]
	return p
}

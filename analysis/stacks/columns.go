package stacks

import (
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"
)

// An ID is the number of a stack of addresses in one Samples, or of a stack of
// frames in one [Profile]. 0 is an empty stack.
type ID int32

// leftOut stands for stacks whose samples are left out.
const leftOut ID = -1

// maxValues is how many values a sample may have.
const maxValues = 2

// blockRows is how many rows are a block. Their times, a thousandth of a second apart, fit 32
// bits then.
const blockRows = 1 << 10

// A column has one number of each row of a block: the first as long as all are equal, then by
// the differences from it, and all 64 bits only where that does not fit.
type column struct {
	first  int64
	narrow []int32
	wide   []int64 // instead of both
}

// append adds the number of row n of a block that has room for so many.
func (c *column) append(n int, x int64, room int) {
	if n == 0 {
		c.first = x
		return
	}
	less := x - c.first
	switch fits := int64(int32(less)) == less && (x < c.first) == (less < 0); {
	case c.wide != nil:
		c.wide = append(c.wide, x)
	case !fits:
		wide := make([]int64, n, max(room, n+1))
		c.wide, c.narrow = append(c.read(wide), x), nil
	case c.narrow != nil:
		c.narrow = append(c.narrow, int32(less))
	case less != 0:
		c.narrow = append(make([]int32, n, max(room, n+1)), int32(less))
	}
}

// read returns the numbers of the first rows, as many as there is room for in into, which it
// may use for them.
func (c *column) read(into []int64) []int64 {
	switch {
	case c.wide != nil:
		return c.wide[:len(into)]
	case c.narrow != nil:
		for i, less := range c.narrow[:len(into)] {
			into[i] = c.first + int64(less)
		}
		return into
	}
	for i := range into {
		into[i] = c.first
	}
	return into
}

// clip returns the column such that whoever appends to it leaves the other as it is.
func (c *column) clip() column { return column{c.first, slices.Clip(c.narrow), slices.Clip(c.wide)} }

// get returns the number of one row.
func (c *column) get(i int) int64 {
	switch {
	case c.wide != nil:
		return c.wide[i]
	case c.narrow != nil:
		return c.first + int64(c.narrow[i])
	}
	return c.first
}

// A block is samples as columns. All but the last of a store are full.
type block struct {
	from, to int64 // the first and the last time of rows
	at       column
	values   [maxValues]column
	stack    []ID // or what else stands for it: see each
	tag      []int32
}

// append adds a row to a block that has room for so many.
func (b *block) append(x *row, room int) {
	n := len(b.stack)
	if n == 0 {
		b.stack, b.tag, b.from, b.to = make([]ID, 0, room), make([]int32, 0, room), x.at, x.at
	}
	b.from, b.to = min(b.from, x.at), max(b.to, x.at)
	b.at.append(n, x.at, room)
	for v := range b.values {
		b.values[v].append(n, x.values[v], room)
	}
	b.stack, b.tag = append(b.stack, x.stack), append(b.tag, x.tag)
}

// A piece is the rows of a block that are meant.
type piece struct {
	*block
	kept []uint64 // a bit for each row; nil if all are
}

func (p *piece) has(i int) bool { return p.kept == nil || p.kept[i/64]>>(i%64)&1 != 0 }

// size returns how many rows are meant.
func (p *piece) size() int {
	if p.kept == nil {
		return len(p.stack)
	}
	n := 0
	for _, word := range p.kept {
		n += bits.OnesCount64(word)
	}
	return n
}

// keepPlace adds a place to those that are kept of pieces.
func keepPlace(kept [][]uint64, place int) {
	words := &kept[place/blockRows]
	if *words == nil {
		*words = make([]uint64, blockRows/64)
	}
	(*words)[place%blockRows/64] |= 1 << (place % 64)
}

// piecesOf returns the parts of pieces that are kept.
func piecesOf(all []piece, kept [][]uint64) []piece {
	var list []piece
	for i, words := range kept {
		if words != nil {
			list = append(list, piece{all[i].block, words})
		}
	}
	return list
}

// A row is a Sample as it is kept.
type row struct {
	at     int64
	values [maxValues]int64
	stack  ID
	tag    int32
}

// A store keeps rows. Those of a profile are never changed, so that others can have them, too.
type store struct {
	pieces []piece
	count  int
	room   int // for how many rows there is to be room
	// shared is 1 once a profile has the columns, which are copied before they are changed.
	shared uint32
}

// append adds a row to a store that has all of its rows.
func (s *store) append(x *row) {
	if s.count%blockRows == 0 {
		s.pieces = append(s.pieces, piece{block: new(block)})
	}
	room := blockRows // the first block grows, since many stores have few rows
	if len(s.pieces) == 1 {
		room = min(s.room, blockRows)
	}
	s.pieces[len(s.pieces)-1].append(x, room)
	s.count++
}

// have gives a store these rows and no others.
func (s *store) have(pieces []piece) {
	s.pieces, s.count = pieces, 0
	for i := range pieces {
		s.count += pieces[i].size()
	}
}

// add adds to the values of row i.
func (s *store) add(i int, values *[maxValues]int64) {
	s.ownIfShared()
	b, at := s.pieces[i/blockRows].block, i%blockRows
	for v := range values {
		if values[v] != 0 {
			b.values[v].set(len(b.stack), at, b.values[v].get(at)+values[v])
		}
	}
}

// set changes the number of row i of n.
func (c *column) set(n, i int, x int64) {
	if less := x - c.first; c.wide == nil && c.narrow != nil && int64(int32(less)) == less && (x < c.first) == (less < 0) {
		c.narrow[i] = int32(less)
		return
	}
	if c.wide == nil {
		c.wide, c.narrow = c.read(make([]int64, n, max(n, cap(c.narrow)))), nil
	}
	c.wide[i] = x
}

// ownIfShared makes copies of the parts that change and that profiles share.
func (s *store) ownIfShared() {
	if atomic.LoadUint32(&s.shared) == 0 {
		return
	}
	for i := range s.pieces {
		b := s.pieces[i].block
		b.stack = slices.Clone(b.stack)
		for v := range b.values {
			c := &b.values[v]
			c.narrow, c.wide = slices.Clone(c.narrow), slices.Clone(c.wide)
		}
	}
	atomic.StoreUint32(&s.shared, 0)
}

// row returns the row of a place.
func (s *store) row(place int32) row {
	b, i := s.pieces[place/blockRows].block, int(place%blockRows)
	x := row{at: b.at.get(i), stack: b.stack[i], tag: b.tag[i]}
	for v := range x.values {
		x.values[v] = b.values[v].get(i)
	}
	return x
}

// A decoder has the room that it takes to read the columns of a block.
type decoder struct {
	at     [blockRows]int64
	values [maxValues][blockRows]int64
}

// read returns the values of a block. It is not inlined in each loop over rows: a block has many.
//
//go:noinline
func (d *decoder) read(b *block) (values [maxValues][]int64) {
	for v := range values {
		values[v] = b.values[v].read(d.values[v][:len(b.stack)])
	}
	return values
}

// each iterates over the rows and their places, with the stack that into has for theirs, but
// for those for which it has less than 0. The row is valid until the next one.
func (s *store) each(into []ID) iter.Seq2[int, *row] {
	return func(yield func(int, *row) bool) {
		d, x := new(decoder), new(row)
		for k := range s.pieces {
			p := &s.pieces[k]
			at, values := p.at.read(d.at[:len(p.stack)]), d.read(p.block)
			for i, id := range p.stack {
				if !p.has(i) {
					continue
				}
				if into != nil {
					if id = into[id]; id < 0 {
						continue
					}
				}
				x.at, x.stack, x.tag = at[i], id, p.tag[i]
				for v := range values {
					x.values[v] = values[v][i]
				}
				if !yield(k*blockRows+i, x) {
					return
				}
			}
		}
	}
}

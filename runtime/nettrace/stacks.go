package nettrace

import (
	"bytes"
	"sort"

	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// stacks finds the stacks that events refer to by number, in the blocks that they
// came in. A sequence point forgets them, and the numbers start over.
type stacks struct {
	blocks  []stackBlock // by number
	offsets []uint32     // of all blocks
	hit     int          // index of the block that the last one was in
}

// A stackBlock holds n stacks, with the numbers first, first+1 and so on. Each starts
// with its size, at an offset in data, and ends at the next offset, so that the size
// need not be read again.
type stackBlock struct {
	first, n uint32
	offsets  []uint32 // n+1
	data     []byte
}

// add reads a stack block: the number of the first stack, how many there are, and
// for each its size and addresses. Data that is stable is used in place.
func (s *stacks) add(b []byte, stable bool) error {
	if stable { // each size says where the next one is, for which it would wait each time
		touch(b)
	} else {
		b = bytes.Clone(b)
	}
	c := layout.Cursor{B: b}
	first, n := c.U32(), c.U32()
	from := len(s.offsets)
	s.offsets = append(s.offsets, uint32(c.Off))
	err := error(nil)
	for i := range n {
		c.Bytes(c.Size32())
		if c.Bad {
			err, n = layout.Damaged("stack %d of %d does not fit", i, n), i
			break
		}
		s.offsets = append(s.offsets, uint32(c.Off))
	}
	if err == nil && c.Left() > 0 {
		err = layout.Damaged("%d bytes follow the last stack", c.Left())
	}
	if n == 0 {
		s.offsets = s.offsets[:from]
		return err
	}
	// Numbers go up. Where they do not, the later one counts.
	for last := len(s.blocks) - 1; last >= 0 && s.blocks[last].first >= first; last-- {
		s.blocks = s.blocks[:last]
	}
	s.blocks = append(s.blocks, stackBlock{first, n, s.offsets[from:], b})
	s.hit = len(s.blocks) - 1
	return err
}

// get returns the addresses of a stack, and whether there is one.
func (s *stacks) get(id uint32) ([]byte, bool) {
	if s.hit >= len(s.blocks) {
		return nil, false
	}
	b := &s.blocks[s.hit]
	i := id - b.first // which wraps around if id is less
	if i >= b.n {
		if b = s.find(id); b == nil {
			return nil, false
		}
		i = id - b.first
	}
	from, to := b.offsets[i]+4, b.offsets[i+1]
	return b.data[from:to:to], true
}

// has reports whether there is a stack.
func (s *stacks) has(id uint32) bool {
	return s.hit < len(s.blocks) && (id-s.blocks[s.hit].first < s.blocks[s.hit].n || s.find(id) != nil)
}

// find returns the block with a stack, or nil.
func (s *stacks) find(id uint32) *stackBlock {
	n := sort.Search(len(s.blocks), func(n int) bool { return s.blocks[n].first > id }) - 1
	if n < 0 || id-s.blocks[n].first >= s.blocks[n].n {
		return nil
	}
	s.hit = n
	return &s.blocks[n]
}

// next returns the number after the last one.
func (s *stacks) next() uint64 {
	if len(s.blocks) == 0 {
		return 0
	}
	b := &s.blocks[len(s.blocks)-1]
	return uint64(b.first) + uint64(b.n)
}

func (s *stacks) reset() {
	clear(s.blocks)
	s.blocks, s.offsets, s.hit = s.blocks[:0], s.offsets[:0], 0
}

package nettrace

// stacks holds the stacks that events refer to by number. A sequence point
// forgets them, and the numbers start over.
type stacks struct {
	data []byte // of all stack blocks since then
	at   table[span]
}

// A span is a part of stacks.data.
type span struct{ off, end int }

// add reads a stack block: the id of the first stack, the number of stacks, and
// for each its size and addresses.
func (s *stacks) add(b []byte) error {
	c := cursor{b: b}
	first, n := c.u32(), c.u32()
	base := len(s.data)
	s.data = append(s.data, b...)
	for i := range n {
		size := c.size32()
		from := base + c.off
		c.bytes(size)
		if c.bad {
			return damaged("stack %d of %d does not fit", i, n)
		}
		s.at.put(uint64(first)+uint64(i), span{from, from + size})
	}
	return nil
}

// get returns the addresses of a stack, and whether there is one. Number 0
// stands for no stack.
func (s *stacks) get(id uint32) ([]byte, bool) {
	if id == 0 {
		return nil, true
	}
	at, ok := s.at.get(uint64(id))
	if !ok {
		return nil, false
	}
	return s.data[at.off:at.end:at.end], true
}

func (s *stacks) reset() {
	s.data = s.data[:0]
	s.at.reset()
}

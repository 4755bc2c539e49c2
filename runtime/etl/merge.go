package etl

import "math"

// A merge holds the blocks that the current time lies in: a heap by the key of
// their next records.
type merge struct {
	open  []*block
	bytes int64 // of open
}

func (b *block) key() int64 { return b.entries[b.next].key }

// before reports whether the next record of b comes before that of c. Records of
// the same time come by file, processor and sequence, which keeps those of one
// processor in the order in which it logged them.
func (b *block) before(c *block) bool {
	if k, l := b.key(), c.key(); k != l {
		return k < l
	}
	return compareStream(&b.ref, &c.ref) < 0
}

func (m *merge) push(b *block) {
	m.bytes += b.ref.memory()
	m.open = append(m.open, b)
	i := len(m.open) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !m.open[i].before(m.open[parent]) {
			break
		}
		m.open[i], m.open[parent] = m.open[parent], m.open[i]
		i = parent
	}
}

// pop removes the first block.
func (m *merge) pop() *block {
	b := m.open[0]
	m.bytes -= b.ref.memory()
	last := len(m.open) - 1
	m.open[0] = m.open[last]
	m.open[last] = nil
	m.open = m.open[:last]
	if last > 0 {
		m.sink()
	}
	return b
}

// sink restores the order after the first block has gone on to its next record.
func (m *merge) sink() {
	open := m.open
	i, b := 0, open[0]
	for {
		child := 2*i + 1
		if child >= len(open) {
			break
		}
		if child+1 < len(open) && open[child+1].before(open[child]) {
			child++
		}
		if !open[child].before(b) {
			break
		}
		open[i] = open[child]
		i = child
	}
	open[i] = b
}

// until returns the key up to which, but not including it, the first block can
// go on without a look at the others.
func (m *merge) until() int64 {
	switch len(m.open) {
	case 0, 1:
		return math.MaxInt64
	case 2:
		return m.open[1].key()
	}
	return min(m.open[1].key(), m.open[2].key())
}

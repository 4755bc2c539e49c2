package etl

import "math"

// A merge holds the blocks that the current time lies in: a heap by the key of
// their next records.
type merge struct {
	open  []openBlock
	bytes int64 // of open
}

// An openBlock has the key beside the block, so that compared values lie together.
type openBlock struct {
	key int64 // of the next record
	*block
}

// before reports whether the next record of b comes before that of c. Records of
// the same time come by file, processor and sequence, which keeps those of one
// processor in the order in which it logged them.
func (b openBlock) before(c openBlock) bool {
	return b.key < c.key || b.key == c.key && compareStream(&b.ref, &c.ref) < 0
}

func (m *merge) push(b *block) {
	b.held = b.memory()
	m.bytes += b.held
	m.open = append(m.open, openBlock{b.key(), b})
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
	b := m.open[0].block
	m.bytes -= b.held
	last := len(m.open) - 1
	m.open[0] = m.open[last]
	m.open[last] = openBlock{}
	m.open = m.open[:last]
	if last > 0 {
		m.sink()
	}
	return b
}

// advance restores the order after the first block has gone on to its next record.
func (m *merge) advance() {
	m.open[0].key = m.open[0].block.key()
	m.sink()
}

// sink puts the first block in its place.
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
		return m.open[1].key
	}
	return min(m.open[1].key, m.open[2].key)
}

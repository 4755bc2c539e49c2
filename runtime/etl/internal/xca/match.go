package xca

// A matcher finds earlier occurrences of the next bytes, for the encoders.
type matcher struct {
	data []byte
	head [1 << 13]int32 // the last position of each hash, plus 1
	prev []int32        // the position before with the same hash, plus 1
	next int            // the first position that is not entered yet
}

func newMatcher(data []byte) *matcher {
	return &matcher{data: data, prev: make([]int32, len(data))}
}

// matchTries bounds the work that a match costs.
const matchTries = 16

// find returns the longest match for the data at position at: not before
// position low, at most dist back, of 3 to limit bytes. A length of 0 means
// that there is none.
func (m *matcher) find(at, low, dist, limit int) (bestDist, bestLen int) {
	limit = min(limit, len(m.data)-at)
	if limit < 3 {
		return 0, 0
	}
	m.enter(at)
	low = max(low, at-dist)
	c := int(m.head[m.hash(at)]) - 1
	for range matchTries {
		if c < low {
			break
		}
		n := 0
		for n < limit && m.data[c+n] == m.data[at+n] {
			n++
		}
		if n > bestLen {
			bestDist, bestLen = at-c, n
			if n == limit {
				break
			}
		}
		c = int(m.prev[c]) - 1
	}
	if bestLen < 3 {
		return 0, 0
	}
	return bestDist, bestLen
}

// enter makes the positions before at known to find.
func (m *matcher) enter(at int) {
	for ; m.next < at && m.next+3 <= len(m.data); m.next++ {
		h := m.hash(m.next)
		m.prev[m.next] = m.head[h]
		m.head[h] = int32(m.next + 1)
	}
}

func (m *matcher) hash(at int) uint32 {
	v := uint32(m.data[at]) | uint32(m.data[at+1])<<8 | uint32(m.data[at+2])<<16
	return v * 2654435761 >> 19
}

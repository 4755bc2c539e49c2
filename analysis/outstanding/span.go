package outstanding

import "math/rand/v2"

// A span is the addresses of an allocation, or a part of them, in a tree of spans that do not
// overlap: by address from left to right, and by chance from the root down, which keeps the tree
// flat whatever order a trace has them in.
type span struct {
	from, till  uint64 // without till
	held        int32
	rank        uint32
	left, right *span
}

func newSpan(from, till uint64, held int32) *span {
	return &span{from: from, till: till, held: held, rank: rand.Uint32()}
}

// split divides a tree at an address, and the span that the address lies within.
func (s *span) split(at uint64) (left, right *span) {
	x := s
	for x != nil && (at <= x.from || at >= x.till) {
		if at <= x.from {
			x = x.left
		} else {
			x = x.right
		}
	}
	if x == nil {
		return s.part(at)
	}
	rest := newSpan(at, x.till, x.held)
	x.till = at
	left, right = s.part(at)
	return left, merge(rest, right)
}

// part divides a tree at an address that no span has on both sides.
func (s *span) part(at uint64) (left, right *span) {
	switch {
	case s == nil:
		return nil, nil
	case at <= s.from:
		left, s.left = s.left.part(at)
		return left, s
	}
	s.right, right = s.right.part(at)
	return s, right
}

// merge joins trees, of which all spans of the one come before those of the other.
func merge(left, right *span) *span {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.rank > right.rank:
		left.right = merge(left.right, right)
		return left
	}
	right.left = merge(left, right.left)
	return right
}

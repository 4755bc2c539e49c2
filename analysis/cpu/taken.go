package cpu

import "iter"

// A series is a list of any length, whose elements stay where they are when it grows.
type series[T any] struct {
	blocks [][]T // all but the last one are full
	n      int
}

const seriesBlock = 1 << 12

func (s *series[T]) add(x T) {
	if s.n%seriesBlock == 0 {
		room := seriesBlock // but the first block grows, since there may be few
		if s.n == 0 {
			room = 0
		}
		s.blocks = append(s.blocks, make([]T, 0, room))
	}
	last := &s.blocks[len(s.blocks)-1]
	*last = append(*last, x)
	s.n++
}

func (s *series[T]) at(i int) *T { return &s.blocks[i/seriesBlock][i%seriesBlock] }

func (s *series[T]) all() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for b, block := range s.blocks {
			for i := range block {
				if !yield(b*seriesBlock+i, &block[i]) {
					return
				}
			}
		}
	}
}

type thread struct{ process, id int64 }

// threads numbers threads.
type threads struct {
	list    []thread
	numbers map[thread]int32
	recent  [256]int32 // + 1, by their IDs
}

// number returns the number of a thread.
func (t *threads) number(of thread) int32 {
	recent := &t.recent[uint64(of.id)%uint64(len(t.recent))]
	if *recent > 0 && t.list[*recent-1] == of {
		return *recent - 1
	}
	i, ok := t.numbers[of]
	if !ok {
		if t.numbers == nil {
			t.numbers = make(map[thread]int32)
		}
		i = int32(len(t.list))
		t.list = append(t.list, of)
		t.numbers[of] = i
	}
	*recent = i + 1
	return i
}

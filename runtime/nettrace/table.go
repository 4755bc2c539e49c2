package nettrace

// A table maps ids to values. The ids of a trace are small and dense, and are
// then looked up in a slice; others, which only a damaged or unusual trace has,
// go to a map, so that a large id costs no memory.
type table[T any] struct {
	dense  []entry[T]
	sparse map[uint64]T
}

type entry[T any] struct {
	v  T
	ok bool
}

func (t *table[T]) get(id uint64) (v T, ok bool) {
	if id < uint64(len(t.dense)) {
		if e := &t.dense[id]; e.ok {
			return e.v, true
		}
	}
	if t.sparse == nil {
		return v, false
	}
	v, ok = t.sparse[id]
	return v, ok
}

func (t *table[T]) put(id uint64, v T) {
	n := uint64(len(t.dense))
	if id > 2*n+64 {
		if t.sparse == nil {
			t.sparse = make(map[uint64]T)
		}
		t.sparse[id] = v
		return
	}
	for n <= id {
		t.dense = append(t.dense, entry[T]{})
		n++
	}
	t.dense[id] = entry[T]{v, true}
	delete(t.sparse, id)
}

func (t *table[T]) remove(id uint64) {
	if id < uint64(len(t.dense)) {
		t.dense[id] = entry[T]{}
	}
	delete(t.sparse, id)
}

// reset forgets all values and keeps the memory.
func (t *table[T]) reset() {
	clear(t.dense)
	t.dense = t.dense[:0]
	t.sparse = nil
}

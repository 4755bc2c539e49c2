package stacks

import (
	"container/list"
	"sync"
)

// maxShapes is how many shapes are kept with the stacks that they are of, and maxPicked of how
// many queries the samples.
const maxShapes, maxPicked = 8, 4

// A recent keeps the values of the keys that were asked for last, so that the same is not
// made twice, however many ask at once.
type recent struct {
	most int // for how many keys there is room
	mu   sync.Mutex
	kept list.List // of *result, the last one asked for first
}

// A result is the value of a key, or the error instead.
type result struct {
	key   any
	mu    sync.Mutex
	value any
}

func newRecent(most int) *recent { return &recent{most: most} }

// of returns the place for a key.
func (r *recent) of(key any) *result {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.kept.Front(); e != nil; e = e.Next() {
		if x := e.Value.(*result); x.key == key {
			r.kept.MoveToFront(e)
			return x
		}
	}
	x := &result{key: key}
	if r.kept.PushFront(x); r.kept.Len() > r.most {
		r.kept.Remove(r.kept.Back())
	}
	return x
}

// recall returns the value of a key in r, or makes it. Errors are not kept. A nil r keeps nothing.
func recall[V any](r *recent, key any, make func() (V, error)) (V, error) {
	if r == nil {
		return make()
	}
	x := r.of(key)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.value != nil {
		return x.value.(V), nil
	}
	v, err := make()
	if err == nil {
		x.value = v
	}
	return v, err
}

// Package spans pairs begins and ends of operations on threads.
package spans

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Table has the spans that have begun on each thread, and not ended. The last one begun
// ends first. The zero Table is ready for use.
type Table[T any] struct {
	threads map[int64][]T
	gaps    map[int64]uint32 // events of threads that were lost, as of their last records
	Lost    int              // begins whose end cannot come any more
}

// maxDepth bounds how much a damaged trace can leave open on a thread.
const maxDepth = 128

// Gap gives up the spans that are open on the thread of a record if events of it were lost since the
// record before: their ends may be among these, so that the next end is of another one. It reports
// whether any events of the thread were lost so far.
func (t *Table[T]) Gap(r *etw.Record) bool {
	if r.Lost != t.gaps[r.ThreadID] {
		if t.gaps == nil {
			t.gaps = make(map[int64]uint32)
		}
		t.gaps[r.ThreadID] = r.Lost
		if list := t.threads[r.ThreadID]; list != nil {
			t.Lost += len(list)
			clear(list)
			t.threads[r.ThreadID] = list[:0]
		}
	}
	return r.Lost != 0
}

// Push begins v.
func (t *Table[T]) Push(thread int64, v T) *T {
	if t.threads == nil {
		t.threads = make(map[int64][]T)
	}
	list := t.threads[thread]
	if len(list) == maxDepth {
		list = slices.Delete(list, 0, 1)
		t.Lost++
	}
	list = append(list, v)
	t.threads[thread] = list
	return &list[len(list)-1]
}

// Top returns the span that began last on a thread, or nil.
func (t *Table[T]) Top(thread int64) *T {
	list := t.threads[thread]
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// Find returns the last on a thread that match is true for, or nil.
func (t *Table[T]) Find(thread int64, match func(*T) bool) *T {
	list := t.threads[thread]
	for i := len(list) - 1; i >= 0; i-- {
		if match(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Pop ends the span that began last on a thread.
func (t *Table[T]) Pop(thread int64) (v T, ok bool) {
	list := t.threads[thread]
	if len(list) == 0 {
		return v, false
	}
	v = list[len(list)-1]
	var zero T
	list[len(list)-1] = zero
	t.threads[thread] = list[:len(list)-1]
	return v, true
}

// PopMatch ends the last on a thread that match is true for. Spans that began after it and
// are still there have lost their ends: they are returned, too, and valid until the next
// call.
func (t *Table[T]) PopMatch(thread int64, match func(*T) bool) (v T, lost []T, ok bool) {
	list := t.threads[thread]
	for i := len(list) - 1; i >= 0; i-- {
		if match(&list[i]) {
			lost = list[i+1:]
			t.Lost += len(lost)
			t.threads[thread] = list[:i]
			return list[i], lost, true
		}
	}
	return v, nil, false
}

// Open returns all that has not ended, by thread and begin.
func (t *Table[T]) Open() []Open[T] {
	var all []Open[T]
	for thread, list := range t.threads {
		for i := range list {
			all = append(all, Open[T]{thread, i, list[i]})
		}
	}
	order.Sort(all, func(a, b Open[T]) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Depth, b.Depth))
	})
	return all
}

// An Open is something that has not ended.
type Open[T any] struct {
	Thread int64
	Depth  int
	Value  T
}

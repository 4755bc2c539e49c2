// Package lanes has several goroutines handle what one of them reads. Each item is of a lane:
// those of a lane are handled in their order, one at a time, and those of several lanes at the
// same time. Items come in batches. If their caller ends these by the items alone, the outcome is
// the same with any number of goroutines.
package lanes

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A Lane is the part of its owner that a [Pool] needs, which has it as a field.
type Lane struct {
	batch uint64 // the last with an item of the lane
	at    int    // in the shares of that
}

// An Owner has a lane.
type Owner interface{ OwnLane() *Lane }

// OwnLane returns l: a type that embeds a Lane is an [Owner].
func (l *Lane) OwnLane() *Lane { return l }

// A Pool handles items. Its methods are for one goroutine, which with one processor handles all
// of them itself, as they come.
type Pool[O Owner, T any] struct {
	workers int
	handle  func(worker int, owner O, item T) error
	between func() error

	number uint64 // of the batch that is filled
	lanes  int    // in it
	owner  O      // of the item that is set
	one    T      // that item, if it is handled as it comes
	fresh  func() T

	batch *batch[O, T] // that is filled
	free  chan *batch[O, T]
	full  chan *batch[O, T]
	done  chan struct{} // closed after the last batch
	fault atomic.Pointer[error]
}

// A batch has the items that are handled at the same time.
type batch[O Owner, T any] struct {
	shares []share[O]
	items  []queued[T] // the first of them are in use
	used   int
	bytes  []byte // that items refer to
}

// A share says which items of a batch are of a lane.
type share[O Owner] struct {
	owner              O
	first, last, count int
}

type queued[T any] struct {
	item T
	next int // of the lane
}

// batches is how many there are: one that is filled, one that waits, and one that is handled.
const batches = 3

// New returns a pool with as many workers as there are processors. Items are made by fresh, and used
// again and again: they are pointers, so that all pools share their code. They are handled by handle,
// which gets the number of the worker, counted from 0. After each batch, when no item is being
// handled, between is called. Neither is called after an error.
func New[O Owner, T any](fresh func() T, handle func(worker int, owner O, item T) error, between func() error) *Pool[O, T] {
	p := &Pool[O, T]{workers: runtime.GOMAXPROCS(0), handle: handle, between: between, number: 1, fresh: fresh}
	if p.Direct() {
		p.one = fresh()
		return p
	}
	p.free, p.full, p.done = make(chan *batch[O, T], batches), make(chan *batch[O, T]), make(chan struct{})
	for range batches {
		p.free <- new(batch[O, T])
	}
	p.batch = <-p.free
	go p.run(p.full)
	return p
}

// Workers returns how many goroutines handle items.
func (p *Pool[O, T]) Workers() int { return p.workers }

// Direct reports whether items are handled as they come, and so may refer to what does not last.
func (p *Pool[O, T]) Direct() bool { return p.workers == 1 }

// Keep returns bytes that last until the next item is handled.
func (p *Pool[O, T]) Keep(b []byte) []byte {
	if p.Direct() {
		return b
	}
	n := len(p.batch.bytes)
	p.batch.bytes = append(p.batch.bytes, b...)
	return p.batch.bytes[n:len(p.batch.bytes):len(p.batch.bytes)]
}

// Lanes returns how many lanes the batch has that is filled.
func (p *Pool[O, T]) Lanes() int { return p.lanes }

// Next returns the next item, which is of a lane, with whatever an earlier one had: the caller sets
// all of it, and then calls [Pool.Add].
func (p *Pool[O, T]) Next(owner O) T {
	p.owner = owner
	l := owner.OwnLane()
	fresh := l.batch != p.number
	if fresh {
		l.batch, l.at = p.number, p.lanes
		p.lanes++
	}
	if p.Direct() {
		return p.one
	}
	b, n := p.batch, p.batch.used
	if b.used++; n == len(b.items) {
		b.items = append(b.items, queued[T]{item: p.fresh()})
	}
	if fresh {
		b.shares = append(b.shares, share[O]{owner, n, n, 1})
	} else {
		s := &b.shares[l.at]
		b.items[s.last].next = n
		s.last = n
		s.count++
	}
	return b.items[n].item
}

// Add adds the item that Next returned. The error is that of this item, or of one before.
func (p *Pool[O, T]) Add() error {
	if p.Direct() && p.err() == nil {
		p.fail(p.handle(0, p.owner, p.one))
	}
	return p.err()
}

// End ends the batch. The error is that of an item of this batch, or of one before.
func (p *Pool[O, T]) End() error {
	if p.lanes == 0 {
		return p.err()
	}
	p.number++
	p.lanes = 0
	if !p.Direct() {
		p.full <- p.batch
		p.batch = <-p.free
	} else if p.err() == nil {
		p.fail(p.between())
	}
	return p.err()
}

// Close ends the last batch, and returns once all items are handled. It may be called again.
func (p *Pool[O, T]) Close() error {
	err := p.End()
	if p.done == nil {
		return err
	}
	if p.full != nil {
		close(p.full)
		p.full = nil
	}
	<-p.done
	return p.err()
}

func (p *Pool[O, T]) fail(err error) {
	if err != nil {
		fault := err // which takes no memory where there is none
		p.fault.CompareAndSwap(nil, &fault)
	}
}

func (p *Pool[O, T]) err() error {
	if err := p.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// run handles the batches, one after the other.
func (p *Pool[O, T]) run(full <-chan *batch[O, T]) {
	defer close(p.done)
	for b := range full {
		if p.err() == nil {
			p.fail(p.share(b))
		}
		if p.err() == nil {
			p.fail(p.between())
		}
		b.shares, b.used, b.bytes = b.shares[:0], 0, b.bytes[:0]
		p.free <- b
	}
}

// share handles the items of a batch, the longest lane first.
func (p *Pool[O, T]) share(b *batch[O, T]) error {
	for i, s := range b.shares {
		if s.count > b.shares[0].count {
			b.shares[0], b.shares[i] = s, b.shares[0]
		}
	}
	return Each(p.workers, len(b.shares), func(worker, i int) error {
		s := &b.shares[i]
		for k, at := 0, s.first; k < s.count; k++ {
			q := &b.items[at]
			if err := p.handle(worker, s.owner, q.item); err != nil {
				return err
			}
			at = q.next
		}
		return nil
	})
}

// Each calls do for the numbers below n, by so many workers. After an error, which it returns, it
// begins with no other number.
func Each(workers, n int, do func(worker, i int) error) error {
	if n == 1 {
		return do(0, 0)
	}
	var next atomic.Int64
	var fault atomic.Pointer[error]
	work := func(worker int) {
		for fault.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := do(worker, i); err != nil {
				fault.CompareAndSwap(nil, &err)
			}
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
	if err := fault.Load(); err != nil {
		return *err
	}
	return nil
}

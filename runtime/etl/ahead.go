package etl

import "runtime"

// An ahead loads blocks in the order of a plan, in parallel and before they are
// asked for.
//
// Each batch of loads runs in its own goroutine, which ends with it, so that a
// Reader that is dropped leaves nothing behind.
type ahead struct {
	files []*file
	plan  []bufferRef
	// kept are the blocks of the plan that come after those of the queue, unless it is
	// nil: the prepass left them loaded.
	kept  []*block
	next  int      // the first of plan that is not being loaded
	queue []*batch // being loaded or ready, in order
	bytes int64    // of queue

	// Blocks for most of a buffer, and for less.
	freeLarge, freeSmall []*block
	freeBatches          []*batch
}

// A batch is the load of one goroutine.
type batch struct {
	blocks []*block
	taken  int           // blocks that have been handed out
	done   chan struct{} // receives when all are loaded
	ready  bool          // done has been received
	guard  guard
	run    func() // load, as a value that costs nothing to start
}

const (
	// aheadBytes bounds the memory of blocks that are loaded ahead.
	aheadBytes = 4 << 20
	// batchBytes is how much one goroutine loads at least, so that small buffers
	// do not cost one each.
	batchBytes = 64 << 10
)

// refill starts as many loads as the limits allow. Two batches for each
// processor keep it busy while the consumer takes one.
func (a *ahead) refill() {
	limit := 2 * runtime.GOMAXPROCS(0)
	for a.kept == nil && a.next < len(a.plan) && len(a.queue) < limit && (len(a.queue) == 0 || a.bytes < aheadBytes) {
		a.start()
	}
}

// start begins to load the next batch.
func (a *ahead) start() {
	t := a.newBatch()
	for size := int64(0); a.next < len(a.plan) && size < batchBytes; a.next++ {
		b := a.newBlock(&a.plan[a.next])
		t.blocks = append(t.blocks, b)
		size += b.ref.memory()
		a.bytes += b.ref.memory()
	}
	a.queue = append(a.queue, t)
	go t.run()
}

func (t *batch) load() {
	t.guard.run(t.blocks[0].file.memory != nil, t.loadBlocks)
	t.done <- struct{}{}
}

func (t *batch) loadBlocks() {
	for _, b := range t.blocks {
		b.load()
	}
}

// take returns the next block of the plan, loaded.
func (a *ahead) take() *block {
	if a.kept != nil && len(a.queue) == 0 {
		b := a.kept[0]
		a.kept[0], a.kept = nil, a.kept[1:]
		return b
	}
	a.refill()
	t := a.queue[0]
	if !t.ready {
		<-t.done
		t.ready = true
	}
	t.guard.raise()
	b := t.blocks[t.taken]
	t.taken++
	a.bytes -= b.ref.memory()
	if t.taken == len(t.blocks) {
		a.queue = append(a.queue[:0], a.queue[1:]...)
		clear(t.blocks)
		t.blocks, t.taken, t.ready = t.blocks[:0], 0, false
		a.freeBatches = append(a.freeBatches, t)
		a.refill()
	}
	return b
}

// stop waits for the loads that are going on and drops the rest.
func (a *ahead) stop() {
	for _, t := range a.queue {
		if !t.ready {
			<-t.done
		}
	}
	a.queue, a.kept, a.freeLarge, a.freeSmall, a.freeBatches = nil, nil, nil, nil, nil
	a.next = len(a.plan)
}

// release takes back a block that is not needed any more.
func (a *ahead) release(b *block) {
	if a.kept != nil {
		return // there is nothing left to load into it
	}
	free := a.free(&b.ref)
	*free = append(*free, b)
}

// free returns the free blocks for buffers like ref.
func (a *ahead) free(ref *bufferRef) *[]*block {
	if a.files[ref.file].isLarge(ref.extent) {
		return &a.freeLarge
	}
	return &a.freeSmall
}

// newBlock returns a block for the buffer ref.
func (a *ahead) newBlock(ref *bufferRef) *block {
	b := new(block)
	if free := a.free(ref); len(*free) > 0 {
		last := len(*free) - 1
		b, *free = (*free)[last], (*free)[:last]
	}
	b.ref, b.file = *ref, a.files[ref.file]
	return b
}

func (a *ahead) newBatch() *batch {
	if n := len(a.freeBatches); n > 0 {
		t := a.freeBatches[n-1]
		a.freeBatches = a.freeBatches[:n-1]
		return t
	}
	t := &batch{done: make(chan struct{}, 1)}
	t.run = t.load
	return t
}

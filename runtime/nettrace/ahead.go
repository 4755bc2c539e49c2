package nettrace

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// An ahead decodes the events of blocks before they are asked for, on other
// processors.
//
// It looks at a stream in memory beside its Reader, which does everything itself as if there
// was no ahead, except that for a block of events it takes the events decoded already. An
// ahead leaves faults to the Reader, and begins again where that is past it. So the events
// read, and the faults, are the same.
//
// To wake another processor costs as much as to decode many events. So many blocks are
// started at once, in portions, and who comes to a portion first decodes it: the
// goroutine that was started, or the Reader, which never has to wait for a processor
// that another program has. The goroutine ends with its portions, so that a Reader that
// is dropped leaves nothing behind.
type ahead struct {
	src    source // a copy, which stands behind the last block of queue
	blocks container
	stuck  bool       // what comes there is for the Reader
	queue  []*portion // in the order of the stream
	bytes  int        // of their blocks
	late   []*portion // that the Reader did not wait for
	least  int        // bytes of a portion; one with fewer is left to the Reader
	free   []*portion
}

const (
	// aheadBytes bounds the blocks that are decoded ahead, and maxPortions with
	// portionEvents their events.
	aheadBytes    = 4 << 20
	maxPortions   = 32
	portionEvents = 4 * batchEvents
	// A portion has as many bytes as this or as many blocks.
	portionBytes  = 96 << 10
	portionBlocks = 16
	// patience is how often the Reader lets other goroutines go on before it does their
	// work.
	patience = 20
)

// A portion is some blocks of events.
type portion struct {
	blocks  []eventBlock
	bytes   int
	claimed atomic.Bool // somebody decodes it, or did
	done    atomic.Bool // it is decoded
	pages   []*page
	batches []aheadBatch

	// The part that the Reader has taken.
	counted bool // the memory of its pages
	taken   int  // of batches
}

// An aheadBatch is a batch that starts at the index from of a block.
type aheadBatch struct {
	batch
	off      int64 // of the block
	from, to int
	h        layout.EventHeader // of its last event
}

// mayPay reports whether there is enough to decode, and a processor to do it.
func mayPay(s *stream) bool {
	return runtime.GOMAXPROCS(0) > 1 && s.src.end-s.src.pos >= 2*portionBytes
}

// newAhead returns an ahead of s, or nil if s is not in memory or its events stand among
// metadata.
func newAhead(s *stream, least int) *ahead {
	if !s.src.stable() || s.v3 {
		return nil
	}
	return &ahead{least: least}
}

// refill starts as much as the limits allow, behind the block that s has opened.
func (a *ahead) refill(s *stream) {
	if a == nil || s.cur.cut != nil {
		return
	}
	if a.src.off < s.src.off {
		a.src, a.blocks, a.stuck = s.src, s.blocks.clone(), false
	}
	if a.stuck || a.bytes > aheadBytes/2 || len(a.queue) > maxPortions/2 {
		return
	}
	from := len(a.queue)
	for range maxPortions {
		if a.stuck || len(a.queue) == maxPortions || a.bytes >= aheadBytes {
			break
		}
		p := a.collect(s.v6)
		if p.bytes < a.least { // its few events would have a page to themselves
			a.free = append(a.free, p)
			continue
		}
		p.done.Store(false)
		p.claimed.Store(false)
		a.bytes += p.bytes
		a.queue = append(a.queue, p)
	}
	if started := slices.Clone(a.queue[from:]); len(started) > 0 {
		go func() {
			for _, p := range started {
				p.decode()
			}
		}()
	}
}

// collect returns a portion of the next blocks of events, of fewer if something is not
// as it should be, or ends.
func (a *ahead) collect(v6 bool) *portion {
	p := a.newPortion()
	for p.bytes < portionBytes && len(p.blocks) < portionBlocks {
		at := a.src.off
		b, d := a.blocks.next(&a.src)
		if d != nil || b.cut != nil || b.kind == layout.KindEnd {
			a.src.back(int(a.src.off - at))
			a.stuck = true
			break
		}
		if b.kind != layout.KindEvents {
			continue
		}
		in := eventBlock{block: b}
		if in.readHeader(v6) == nil {
			p.blocks = append(p.blocks, in)
			p.bytes += len(b.data)
		}
	}
	return p
}

// newPortion returns one that is empty, and that nobody decodes.
func (a *ahead) newPortion() *portion {
	n := len(a.free)
	if n == 0 {
		p := &portion{blocks: make([]eventBlock, 0, portionBlocks), batches: make([]aheadBatch, 0, portionBlocks)}
		p.claimed.Store(true)
		return p
	}
	p := a.free[n-1]
	a.free = a.free[:n-1]
	clear(p.blocks)
	clear(p.pages)
	clear(p.batches)
	p.blocks, p.pages, p.batches = p.blocks[:0], p.pages[:0], p.batches[:0]
	p.bytes, p.counted, p.taken = 0, false, 0
	return p
}

// take returns the decoded events of the block in, from there on, or nil. Its memory is that
// of m from then on.
func (a *ahead) take(in *eventBlock, m *memory) *aheadBatch {
	if a == nil {
		return nil
	}
	for len(a.queue) > 0 && a.queue[0].blocks[0].off <= in.off {
		p := a.queue[0]
		for a.ready(m) && p.taken < len(p.batches) {
			b := &p.batches[p.taken]
			if b.off > in.off || b.off == in.off && b.from > in.at {
				return nil
			}
			p.taken++
			if b.off == in.off && b.from == in.at && len(b.data) == len(in.data) {
				return b
			}
			m.leave(b.page) // of a block that was mended
		}
		if p.isDone() {
			a.free = append(a.free, p)
		} else {
			a.late = append(slices.DeleteFunc(a.late, (*portion).isDone), p)
		}
		a.bytes -= p.bytes
		a.queue = append(a.queue[:0], a.queue[1:]...)
	}
	return nil
}

// ready reports whether the first portion is decoded. Before it says no, it decodes portions
// that nobody has begun with.
func (a *ahead) ready(m *memory) bool {
	first := a.queue[0]
	for i := 0; i < len(a.queue) && !first.isDone(); i++ {
		a.queue[i].decode()
	}
	for i := 0; !first.isDone(); i++ {
		if i == patience {
			return false
		}
		runtime.Gosched()
	}
	if !first.counted {
		first.counted = true
		for _, page := range first.pages {
			if page.batches == 0 { // what was to be in it is not as it should be
				page.free()
				continue
			}
			m.paged += page.size()
		}
	}
	return true
}

// stop returns when nothing is decoded any more.
func (a *ahead) stop() {
	if a == nil {
		return
	}
	for _, p := range append(a.late, a.queue...) {
		if !p.claimed.CompareAndSwap(false, true) {
			for !p.isDone() {
				runtime.Gosched()
			}
		}
	}
	*a = ahead{}
}

func (p *portion) isDone() bool { return p.done.Load() }

// decode decodes the blocks of p, up to a fault, unless somebody has begun with that.
func (p *portion) decode() {
	if !p.claimed.CompareAndSwap(false, true) {
		return
	}
	before := debug.SetPanicOnFault(true)
	defer func() {
		recover() // from a mapped file that was cut, to which the Reader will come too
		debug.SetPanicOnFault(before)
		p.done.Store(true)
	}()
	events := 0
	for i := range p.blocks {
		in := &p.blocks[i]
		for in.at < len(in.data) && events < portionEvents {
			b := aheadBatch{off: in.off, from: in.at}
			page := p.room()
			b.begin(page, in)
			in.warm()
			if !b.decode(in) || !b.inTime(in) {
				return
			}
			b.end()
			page.batches++
			b.to, b.h, b.bytes = in.at, in.h, int64(in.at-b.from)
			events += len(b.events)
			p.batches = append(p.batches, b)
		}
	}
}

// room returns a page with room for events.
func (p *portion) room() *page {
	n := len(p.pages)
	if n == 0 || p.pages[n-1].isFull() {
		p.pages = append(p.pages, pages.Get().(*page))
		n++
	}
	return p.pages[n-1]
}

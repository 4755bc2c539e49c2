package nettrace

import "github.com/etwgen/etwgen/runtime/etw"

// loss finds lost events by the numbers that each capture thread gives its own:
// a step of more than one means events that did not fit into the session's
// buffers.
type loss struct {
	v6        bool
	begun     bool // there were events
	continued bool // and of threads some before the first ones here
	forgotten bool // some threads that were seen
	threads   map[uint64]*captureThread
	recent    [64]*captureThread // by a hash of the id
	gone      captureThread      // that was removed last, if it was not seen before
	seen      []*captureThread   // of the contexts of the last batch
	lost      int64
	byThread  map[uint64]int64
	events    int64          // that came
	unsure    int64          // of lost, those that only one number of a damaged stream says
	damage    *etw.DamageLog // of the stream
}

// A captureThread is a thread that logged events: its id, or in version 6 its index, its
// numbers, and its events in the sorter.
type captureThread struct {
	id    uint64
	known bool   // some number of it
	last  uint32 // number of its last event
	lost  uint32 // of the events up to there
	doubt uint32 // events before the last one, which are not counted as lost until a number follows
	// missing is lost, with what is in doubt, and not taken back: see [etw.Record].
	missing uint32

	chain *chain
}

// observe notes the threads and the numbers of the events of a batch. Of one that
// is damaged only those numbers count that follow the ones before.
func (l *loss) observe(b *batch, damaged bool) {
	l.begun, l.seen = true, l.seen[:0]
	for i := range b.contexts {
		c := &b.contexts[i]
		t := l.thread(c.capture)
		l.seen = append(l.seen, t)
		first, n := c.sequence, uint32(b.contextEnd(i))-c.first
		l.events += int64(n)
		// Numbers start at 1. Before version 6 a thread that the reader sees first
		// may be an old one.
		expected := t.known || l.v6 && !l.forgotten
		if damaged && expected && first != t.last+1 {
			c.lost = t.missing + 1
			continue
		}
		if expected {
			l.gap(t, first-1)
		}
		c.lost = t.missing
		t.last, t.known = first+n-1, true
	}
}

// thread returns the state of a thread.
func (l *loss) thread(id uint64) *captureThread {
	slot := l.slot(id)
	if t := *slot; t != nil && t.id == id {
		return t
	}
	t := l.threads[id]
	if t == nil {
		t = l.add(id)
	}
	*slot = t
	return t
}

// slot returns where a thread is remembered if it came recently.
func (l *loss) slot(id uint64) **captureThread { return &l.recent[id*0x9e3779b97f4a7c15>>58] }

// maxThreads bounds the threads whose numbers are remembered; in most versions they
// end without notice. Past it they are forgotten, and a thread that is seen for the
// first time has lost nothing.
const maxThreads = 1 << 15

func (l *loss) add(id uint64) *captureThread {
	if len(l.threads) >= maxThreads {
		l.forget()
		l.forgotten = true
	}
	if l.threads == nil {
		l.threads = make(map[uint64]*captureThread)
	}
	t := &captureThread{id: id}
	l.threads[id] = t
	return t
}

// gap counts the events of t after the last one, up to number upTo. Numbers wrap
// around. Before version 6 a number that is not ahead belongs to a new thread
// with a recycled id.
//
// A number from damaged bytes may be far ahead. The next one is then back, but not
// by more than was counted as lost, which shows that it was not. Of a damaged stream no
// number is believed alone that says more than the stream itself has.
func (l *loss) gap(t *captureThread, upTo uint32) {
	if doubt := t.doubt; doubt > 0 {
		t.doubt = 0
		if ahead := upTo - t.last; ahead < near { // the two agree
			t.lost += doubt
			l.count(t, int64(doubt))
		} else {
			t.last -= doubt
		}
	}
	if int32(upTo-t.last) < 0 {
		if wrong := t.lost; wrong > 0 && int32(upTo-(t.last-wrong)) >= 0 {
			l.count(t, -int64(wrong))
			t.last -= wrong
		}
		t.lost = 0
	}
	n := upTo - t.last
	if int32(n) > 0 {
		t.missing += n
	}
	switch {
	case int32(n) <= 0:
	case l.damage.Count > 0 && l.unsure+int64(n) > l.events+near:
		t.doubt = n
	default:
		if l.damage.Count > 0 {
			l.unsure += int64(n)
		}
		t.lost += n
		l.count(t, int64(n))
	}
}

// near is how far apart two numbers of a thread may be that agree with each other.
const near = 1 << 10

func (l *loss) count(t *captureThread, n int64) {
	l.lost += n
	if l.byThread == nil {
		l.byThread = make(map[uint64]int64)
	}
	of, ok := l.byThread[t.id]
	switch of += n; {
	case of == 0:
		delete(l.byThread, t.id)
	case ok || len(l.byThread) < maxThreads:
		l.byThread[t.id] = of
	}
}

// point notes the number that a sequence point, or the removal of a thread, gives for the
// last event of a thread. A point that stands before all events is where a recording was
// parted: the part before is in another file.
func (l *loss) point(id uint64, sequence uint32) { l.ends(l.thread(id), sequence) }

func (l *loss) ends(t *captureThread, sequence uint32) {
	parted := !l.v6 && !l.begun
	l.continued = l.continued || parted && sequence > 0
	if t.known || !l.forgotten && !parted { // one without events lost all it logged
		l.gap(t, sequence)
	}
	t.last, t.known = sequence, true
}

// remove is point for a thread that is no more. Of one that was not seen nothing is kept.
func (l *loss) remove(id uint64, sequence uint32) {
	t := l.threads[id]
	if t == nil {
		l.gone = captureThread{id: id}
		t = &l.gone
	}
	l.ends(t, sequence)
	delete(l.threads, id)
	*l.slot(id) = nil
}

// forget drops all threads.
func (l *loss) forget() {
	clear(l.threads)
	clear(l.recent[:])
}

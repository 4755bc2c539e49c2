package nettrace

// loss finds lost events by the numbers that each capture thread gives its own:
// a step of more than one means events that did not fit into the session's
// buffers.
type loss struct {
	v6        bool
	forgotten bool // some threads that were seen
	cur       *threadLoss
	threads   map[uint64]*threadLoss
	lost      uint64
	byThread  map[uint64]uint64
}

// A threadLoss is the state of one capture thread.
type threadLoss struct {
	thread uint64
	last   uint32
}

// observe notes an event with a sequence number that its thread chose, and makes
// its thread the current one. The events that follow it, up to the next call,
// have the numbers that follow.
func (l *loss) observe(thread uint64, sequence uint32) {
	t := l.cur
	if t == nil || t.thread != thread {
		t = l.threads[thread]
	}
	if t == nil {
		t = l.add(thread)
		if l.v6 {
			// Numbers start at 1. Earlier versions say so too, but there a thread
			// that the reader sees first may be an old one.
			l.gap(t, sequence-1)
		}
	} else {
		l.gap(t, sequence-1)
	}
	t.last = sequence
	l.cur = t
}

// maxThreads bounds the threads whose numbers are remembered before version 6,
// in which threads come and go without notice. Past it they are forgotten, and a
// thread that is seen for the first time has lost nothing.
const maxThreads = 1 << 15

func (l *loss) add(thread uint64) *threadLoss {
	if l.threads == nil {
		l.threads = make(map[uint64]*threadLoss)
	}
	if len(l.threads) >= maxThreads && !l.v6 {
		l.forget()
		l.forgotten = true
	}
	t := &threadLoss{thread: thread}
	l.threads[thread] = t
	return t
}

// gap counts the events of t after the last one, up to number upTo. Numbers wrap
// around. Before version 6 a number that is not ahead belongs to a new thread
// with a recycled id.
func (l *loss) gap(t *threadLoss, upTo uint32) {
	n := upTo - t.last
	if int32(n) <= 0 {
		return
	}
	l.lost += uint64(n)
	if l.byThread == nil {
		l.byThread = make(map[uint64]uint64)
	}
	l.byThread[t.thread] += uint64(n)
}

// point notes the number that a sequence point, or the removal of a thread,
// gives for the last event of a thread.
func (l *loss) point(thread uint64, sequence uint32) {
	t := l.threads[thread]
	if t == nil {
		// A thread that the stream has no event of lost all it logged.
		t = l.add(thread)
		if l.forgotten {
			t.last = sequence
		}
	}
	l.gap(t, sequence)
	t.last = sequence
}

func (l *loss) remove(thread uint64) {
	delete(l.threads, thread)
	l.cur = nil
}

// forget drops all threads.
func (l *loss) forget() {
	clear(l.threads)
	l.cur = nil
}

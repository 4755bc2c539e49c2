package session

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/internal/rawevent"
)

// A consumer has Windows call back with the events of a session, and puts them in a queue.
// Records are made of it on the other side: no handler runs in a callback, and so a handler
// may wait for the end of callbacks.
type consumer struct {
	sys    system
	name   string
	id     uintptr // that callbacks find it by
	handle uint64
	raw    bool // whole buffers come
	header etl.Header

	queue *queue
	done  chan struct{} // closed when nobody will read
	// returned is closed when processTrace has returned. From then on err says why, if
	// not since the session has ended.
	returned chan struct{}
	err      error

	givenUp, closed sync.Once
	ended           atomic.Bool // by closed

	batch sync.Mutex // guards what follows
	data  []byte     // events that were not put yet
	count int        // of them
	timer *time.Timer
	armed bool  // timer is to run
	fault error // of a callback
}

// batchSize is how many bytes the reader is given at once, and batchDelay how long fewer
// wait at most.
const (
	batchSize  = 256 << 10
	batchDelay = 5 * time.Millisecond
)

// consumers are all that are open. Windows can be given one function for callbacks a
// process at will, but never take it back: so there is one for all, and a number says
// which consumer is meant.
var consumers struct {
	sync.Mutex
	last  uintptr
	table atomic.Pointer[[]*consumer]
}

// register gives c its number.
func (c *consumer) register() {
	consumers.Lock()
	defer consumers.Unlock()
	consumers.last++
	c.id = consumers.last
	table := append(otherConsumers(c), c)
	consumers.table.Store(&table)
}

func (c *consumer) unregister() {
	consumers.Lock()
	defer consumers.Unlock()
	table := otherConsumers(c)
	consumers.table.Store(&table)
}

// otherConsumers returns a copy of the table without c.
func otherConsumers(c *consumer) (table []*consumer) {
	if old := consumers.table.Load(); old != nil {
		for _, other := range *old {
			if other != c {
				table = append(table, other)
			}
		}
	}
	return table
}

// consumerOf is called for each event. Few consumers are open at a time.
func consumerOf(id uintptr) *consumer {
	if table := consumers.table.Load(); table != nil {
		for _, c := range *table {
			if c.id == id {
				return c
			}
		}
	}
	return nil
}

// onEvent, onBufferRead and onBuffer are called by Windows.

func onEvent(e *rawevent.Record) uintptr {
	if c := consumerOf(e.Context); c != nil {
		c.event(e)
	}
	return 0
}

func onBufferRead(l *logfile) uintptr {
	c := consumerOf(l.context)
	if c == nil {
		return 0
	}
	return c.goesOn(c.wanted())
}

func onBuffer(buffer *byte, size uintptr, _ unsafe.Pointer, context uintptr) uintptr {
	c := consumerOf(context)
	if c == nil {
		return 0
	}
	return c.goesOn(c.buffer(unsafe.Slice(buffer, uint32(size))))
}

// goesOn returns the value that has Windows go on, or not.
func (c *consumer) goesOn(yes bool) uintptr {
	if yes {
		return 1
	}
	return 0
}

// event takes an event. A fault must not reach Windows, which would end the process.
func (c *consumer) event(e *rawevent.Record) {
	c.batch.Lock()
	defer c.callbackEnds()
	if c.fault != nil {
		return
	}
	if c.data == nil {
		c.data = c.queue.memory(batchSize + batchSize/4)
	}
	c.arm()
	c.data = appendEvent(c.data, e)
	c.count++
	if len(c.data) >= batchSize {
		c.put()
	}
}

// callbackEnds lets others go on, and keeps the fault of a callback.
func (c *consumer) callbackEnds() {
	defer c.batch.Unlock()
	if v := recover(); v != nil {
		c.fault = fmt.Errorf("session: %q: a callback has failed: %v", c.name, v)
		c.closeTrace()
	}
}

// arm has arrived events be read soon, even if nothing more comes. The timer is left running
// when it was: setting it costs more than events do. The caller holds batch.
func (c *consumer) arm() {
	if !c.armed {
		c.armed = true
		c.timer.Reset(batchDelay)
	}
}

// flush has the reader take the events.
func (c *consumer) flush() {
	c.batch.Lock()
	defer c.batch.Unlock()
	c.armed = false
	c.put()
	c.queue.tell()
}

// put puts the events that there are. The caller holds batch.
func (c *consumer) put() {
	if c.count > 0 {
		c.queue.put(chunk{c.data, c.count}, nil)
		c.data, c.count = nil, 0
	}
}

// wanted reports whether events are still wanted.
func (c *consumer) wanted() bool {
	c.batch.Lock()
	defer c.batch.Unlock()
	select {
	case <-c.done:
		return false
	default:
		return c.fault == nil
	}
}

// buffer takes a buffer.
func (c *consumer) buffer(b []byte) bool {
	c.batch.Lock()
	c.arm()
	c.batch.Unlock()
	data := append(c.queue.memory(len(b)), b...)
	return c.queue.put(chunk{data: data}, etl.CountRecords)
}

// openConsumer opens the session of a name. It must be told to run.
func openConsumer(sys system, name string, o *Consumption) (*consumer, error) {
	c := &consumer{sys: sys, name: name, done: make(chan struct{}), returned: make(chan struct{})}
	c.queue = newQueue(o.QueueBytes, o.WhenFull, c.done)
	c.timer = time.AfterFunc(time.Hour, func() { c.flush() })
	c.timer.Stop()
	c.register()
	code := c.openBest(o.Delivery)
	if code != codeSuccess {
		c.unregister()
		return nil, fail(opOpen, name, code)
	}
	return c, nil
}

// openBest opens the session in the best way that there is and that is asked for.
func (c *consumer) openBest(d Delivery) Code {
	var h logfileHeader
	code := codeProcNotFound
	if d != DeliverEvents && c.sys.hasBuffers() {
		c.handle, code = c.sys.openBuffers(utf16Of(c.name), c.id, &h)
		c.raw = code == codeSuccess
	}
	// A system that has the call may still not do it for this session.
	if !c.raw && d != DeliverBuffers && code != codeAccessDenied && code != codeInstanceNotFound {
		l := &logfile{loggerName: utf16Of(c.name), mode: processRealTime | processEventRecord | processRawTimestamp, context: c.id}
		c.handle, code = c.sys.openEvents(l)
		h = l.header
	}
	c.header = h.header(c.name, c.sys)
	return code
}

// run has Windows call back, until the session ends or is closed.
func (c *consumer) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	code := c.sys.processTrace(c.handle)
	if c.ended.Load() {
		code = codeSuccess // whatever Windows says to a handle that we have closed
	}
	c.closeTrace()
	c.timer.Stop()
	c.flush()
	c.unregister()
	switch code {
	case codeSuccess, codeCancelled, codeInstanceNotFound:
		c.err = c.fault
	default:
		c.err = errors.Join(c.fault, fail(opProcess, c.name, code))
	}
	c.queue.end()
	close(c.returned)
}

// closeTrace ends the callbacks, if they have not ended yet.
func (c *consumer) closeTrace() {
	c.closed.Do(func() {
		c.ended.Store(true)
		c.sys.closeTrace(c.handle)
	})
}

// giveUp ends everything: waiting events are not read any more.
func (c *consumer) giveUp() {
	c.givenUp.Do(func() { close(c.done) })
	c.closeTrace()
}

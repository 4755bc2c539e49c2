package asyncs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A buffer is little-endian. Its head is a byte with the version, u32 the size of all, u32 the
// number of the buffer's thread, u64 the thread as the system numbers it, u32 how many events
// follow, and u64 the times of the begin and of the last event, in ticks of the runtime's clock.
// An event is a byte that says which one, the ticks since the one before, the length of its
// fields in no, one or two bytes, and these. Numbers without a size have seven bits a
// byte, the lowest first; those with a sign are zigzag.
const (
	version  = 1
	headSize = 37
)

// An op is an event in a buffer, whoever makes the async method: the runtime or the compiler.
type op uint8

const (
	create       op = iota + 1 // a task that has suspended for the first time
	resume                     // a thread goes on with a task
	suspend                    // and stops, since something is awaited
	complete                   // or since the task is over
	unwind                     // methods ended by an exception
	createStack                // the methods that await each other, when a task is made
	resumeStack                // when it goes on
	suspendStack               // when it suspends
	resumeMethod               // the innermost method goes on
	endMethod                  // it returned
	appendStack                // more methods that await
	reset                      // a thread begins to tell, or tells anew all that is on
	resetIndex                 // the numbers of the runtime's frames begin again
	metadata                   // the clock, and the layouts
	syncClock
	traceID // of the work that a thread does
)

// A form is that of an event with a number: its length has so many bytes.
type form struct {
	op       op
	width    uint8
	compiled bool // the method is a state machine
}

var forms = [...]form{1: {create, 1, false}, 2: {resume, 1, false}, 3: {suspend, 0, false}, 4: {complete, 0, false}, 5: {unwind, 1, false},
	6: {createStack, 2, false}, 7: {resumeStack, 2, false}, 8: {suspendStack, 2, false}, 9: {resumeMethod, 0, false}, 10: {endMethod, 0, false},
	11: {create, 1, true}, 12: {resume, 1, true}, 13: {suspend, 0, true}, 14: {complete, 0, true}, 15: {unwind, 1, true},
	16: {resumeStack, 2, true}, 17: {resumeMethod, 0, true}, 18: {endMethod, 0, true}, 19: {appendStack, 2, true},
	20: {reset, 0, false}, 21: {resetIndex, 0, false}, 22: {metadata, 2, false}, 23: {syncClock, 1, false}, 24: {traceID, 1, false}}

// widths are the bytes of the lengths of events + 1, by their numbers. The runtime tells them,
// for events that are not known here, too.
type widths [256]uint8

func newWidths() (w widths) {
	for id, f := range forms {
		if f.op != 0 {
			w[id] = f.width + 1
		}
	}
	return w
}

// An event is one of a buffer.
type event struct {
	op       op
	compiled bool
	at       int64
	parent   uint64 // of a task
	task     uint64
	unwound  uint64
	frames   []uint64 // the innermost first
	trace    [16]byte
	clock    etw.Clock
}

// errDamaged is of a buffer that contradicts itself, or its format.
var errDamaged = errors.New("the buffer is damaged")

// An unknownError is of a buffer as later runtimes write it: of a version that is not known, or
// with an event of which nothing tells how long it is.
type unknownError struct{ version, event uint8 }

func (e unknownError) Error() string {
	if e.event != 0 {
		return fmt.Sprintf("event %d is not known", e.event)
	}
	return fmt.Sprintf("version %d is not known", e.version)
}

// A head is that of a buffer.
type head struct {
	thread      uint64
	count       uint32
	first, last int64
}

// headOf reads the head of the buffer in an event's payload, behind its length, and returns the
// events of it.
func headOf(payload []byte) (head, []byte, error) {
	if len(payload) < 5 {
		return head{}, nil, errDamaged
	}
	size := binary.LittleEndian.Uint32(payload)
	p := payload[4:]
	switch {
	case uint64(size) > uint64(len(p)):
		return head{}, nil, errDamaged
	case p[0] != version:
		return head{}, nil, unknownError{version: p[0]}
	case size < headSize || binary.LittleEndian.Uint32(p[1:]) != size:
		return head{}, nil, errDamaged
	}
	h := head{thread: binary.LittleEndian.Uint64(p[9:]), count: binary.LittleEndian.Uint32(p[17:]),
		first: int64(binary.LittleEndian.Uint64(p[21:])), last: int64(binary.LittleEndian.Uint64(p[29:]))}
	if h.first < 0 || h.last < h.first {
		return head{}, nil, errDamaged
	}
	return h, p[headSize:size], nil
}

// A decoder reads buffers of a process. Events last until the next one.
type decoder struct {
	widths widths
	frames []uint64
	events []event
}

// read returns the events of a buffer. One whose numbers and times do not add up has none.
func (d *decoder) read(payload []byte) ([]event, head, error) {
	h, p, err := headOf(payload)
	if err != nil {
		return nil, h, err
	}
	before := d.widths
	d.events, d.frames = d.events[:0], d.frames[:0]
	if err := d.walk(h, p); err != nil {
		d.widths = before
		return nil, h, err
	}
	return d.events, h, nil
}

// walk goes through the events of a buffer.
func (d *decoder) walk(h head, p []byte) error {
	at := h.first
	for len(p) > 0 {
		id := p[0]
		delta, rest, ok := number(p[1:])
		if !ok || delta > uint64(h.last-at) {
			return errDamaged
		}
		at += int64(delta)
		if id == 0 {
			return errDamaged
		}
		if d.widths[id] == 0 {
			return unknownError{event: id}
		}
		size, width := 0, int(d.widths[id]-1)
		if len(rest) < width {
			return errDamaged
		}
		for i := range width {
			size |= int(rest[i]) << (8 * i)
		}
		if rest = rest[width:]; len(rest) < size {
			return errDamaged
		}
		e := event{at: at}
		if int(id) < len(forms) && forms[id].op != 0 {
			e.op, e.compiled = forms[id].op, forms[id].compiled
			if !d.fields(&e, rest[:size]) {
				return errDamaged
			}
		}
		d.events = append(d.events, e)
		p = rest[size:]
	}
	if uint64(len(d.events)) != uint64(h.count) || at != h.last {
		return errDamaged
	}
	return nil
}

// fields reads the fields of an event. Later versions have more behind them.
func (d *decoder) fields(e *event, p []byte) (ok bool) {
	switch e.op {
	case create:
		e.parent, e.task, _, ok = two(p)
	case resume:
		e.task, _, ok = number(p)
	case unwind:
		e.unwound, _, ok = number(p)
	case createStack, resumeStack, suspendStack, appendStack:
		ok = d.stack(e, p)
	case metadata:
		ok = d.metadata(e, p)
	case syncClock:
		_, ok = e.sync(p)
	case traceID:
		ok = copy(e.trace[:], p) == len(e.trace)
	default:
		ok = true
	}
	return ok
}

// stack reads the methods that await each other: the place of the first one, and of others how
// far it is from the one before. State machines have their state, too.
func (d *decoder) stack(e *event, p []byte) (ok bool) {
	if len(p) < 3 {
		return false
	}
	count := int(p[2])
	if p = p[3:]; e.op == createStack {
		if e.parent, p, ok = number(p); !ok {
			return false
		}
	}
	if e.task, p, ok = number(p); !ok {
		return false
	}
	from := len(d.frames)
	var address, x uint64
	for i := range count {
		if x, p, ok = number(p); !ok {
			return false
		}
		if i > 0 {
			x = x>>1 ^ -(x & 1)
		}
		address += x
		if e.compiled {
			if _, p, ok = number(p); !ok {
				return false
			}
			d.frames = append(d.frames, address+1) // where the code of the method begins
			continue
		}
		d.frames = append(d.frames, address)
	}
	e.frames = d.frames[from:]
	return true
}

// metadata reads the clock, and how long the lengths of events are. The size of buffers and the
// number of the runtime's frames stand between them.
func (d *decoder) metadata(e *event, p []byte) bool {
	frequency, p, ok := number(p)
	if !ok || frequency == 0 || frequency > math.MaxInt64/longest {
		return false
	}
	if p, ok = e.sync(p); !ok {
		return false
	}
	e.clock.Frequency = int64(frequency)
	if _, p, ok = number(p); !ok || len(p) < 2 || len(p) < 2+3*int(p[1]) {
		return false
	}
	for x := p[2:][:3*int(p[1])]; len(x) > 0; x = x[3:] {
		if x[2] > 2 {
			return false
		}
		d.widths[x[0]] = x[2] + 1
	}
	return true
}

// sync reads at which ticks it was when.
func (e *event) sync(p []byte) (rest []byte, ok bool) {
	ticks, utc, rest, ok := two(p)
	e.clock.Origin, e.clock.Start = int64(ticks), etw.FileTime(utc)
	return rest, ok && e.clock.Origin >= 0 && e.clock.Start >= 0
}

func two(p []byte) (a, b uint64, rest []byte, ok bool) {
	if a, p, ok = number(p); ok {
		b, p, ok = number(p)
	}
	return a, b, p, ok
}

func number(p []byte) (uint64, []byte, bool) {
	x, n := binary.Uvarint(p)
	if n <= 0 {
		return 0, nil, false
	}
	return x, p[n:], true
}

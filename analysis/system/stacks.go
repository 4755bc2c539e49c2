package system

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A StackID is the number of a call stack, or of a half of one, in a [Stacks]. 0 is
// none.
type StackID int32

// A CallStack is the stack of an event. Windows records it in halves: that of the
// kernel at once, that of the program when the thread returns to it, which may be
// seconds later. Either may be missing.
type CallStack struct{ Kernel, User StackID }

// Stacks binds call stacks to the events that they are of. A handler of events calls Await
// for each that it wants the stack of; when the stack is there, deliver is called with the
// event. Flush delivers events that still wait when the records end, with the parts that are
// there.
//
// Where the events came with their stacks, as those of EventPipe do, Await delivers
// at once. Events that have no stack wait, too, since none knows that: the oldest
// are delivered when more than [MaxWaiting] wait.
//
// Frames are kept once for each different half, and are to be asked for when all
// records have been: a compressed stack may be defined as late as the end of the
// recording.
type Stacks[T any] struct {
	stackTable
	deliver func(T, CallStack)
	slots   []slot[T]
	free    int32           // the first free slot, linked by next, or none
	oldest  int32           // the first waiting slot
	newest  int32           // the last one
	byTime  map[int64]int32 // the first slot of each time stamp, linked by twin
	stats   StackStats
}

// MaxWaiting is the number of events that wait for their stacks.
const MaxWaiting = 1 << 18

// A StackStats counts the work of a [Stacks].
type StackStats struct {
	// Awaited are the events, Bound those that had a stack.
	Awaited, Bound uint64
	// Unclaimed are the halves of stacks that no waiting event was found for: events
	// that were not awaited have stacks, too.
	Unclaimed uint64
	// Undefined are the compressed stacks whose addresses the trace does not have,
	// so far.
	Undefined int
	// Misdefined are those whose addresses are not of their half, and so of another
	// stack that had the same key later. A trace with such was filtered by a tool
	// that dropped definitions. More of its compressed stacks are wrong: of samples,
	// those whose first address is not that of the sample.
	Misdefined int
}

// A slot is an event that waits for its stack. Slots are linked by their index.
type slot[T any] struct {
	event      T
	at         int64 // the time stamp, as it is in the record
	thread     int64
	stack      CallStack
	next, prev int32 // by age
	twin       int32 // the next with the same time stamp
}

// none is the end of a list of slots.
const none = -1

// BindStacks returns a Stacks whose handlers are registered at mux. The handlers
// that call Await may be registered before or after.
func BindStacks[T any](mux *etw.Mux, deliver func(event T, s CallStack)) *Stacks[T] {
	s := &Stacks[T]{deliver: deliver, free: none, oldest: none, newest: none, byTime: make(map[int64]int32)}
	s.watch(mux)
	hear.On(mux, func(r *etw.Record, e *kernel.AnyStackWalkStack) {
		stack := etw.Stack{Addresses: e.Stack.Bytes(), PtrSize: r.PointerSize}
		if n := stack.Len(); n > 0 {
			s.bind(e.EventTimeStamp, e.StackThread, s.intern(stack), !isKernel(stack.At(0), stack.PtrSize), !isKernel(stack.At(n-1), stack.PtrSize))
		}
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyStackWalkStackKeyKernel) {
		s.bind(e.EventTimeStamp, e.StackThread, s.refer(halfKey{uint64(e.StackKey), kernelHalf}), false, false)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyStackWalkStackKeyUser) {
		s.bind(e.EventTimeStamp, e.StackThread, s.refer(halfKey{uint64(e.StackKey), userHalf}), true, true)
	})
	return s
}

// Await has event, which r is the record of, delivered when its stack is known.
// thread is the one that the stack is of: of a context switch the new one, of a
// sample the one that was interrupted, or negative if the event does not tell.
func (s *Stacks[T]) Await(r *etw.Record, thread int64, event T) {
	s.stats.Awaited++
	if id := s.own(r); id != 0 {
		s.stats.Bound++
		s.deliver(event, CallStack{User: id})
		return
	}
	if len(s.slots) >= MaxWaiting && s.free == none {
		s.finish(s.oldest)
	}
	i := s.free
	if i == none {
		i = int32(len(s.slots))
		s.slots = append(s.slots, slot[T]{})
	} else {
		s.free = s.slots[i].next
	}
	twin, ok := s.byTime[r.Timestamp]
	if !ok {
		twin = none
	}
	s.slots[i] = slot[T]{event: event, at: r.Timestamp, thread: thread, next: none, prev: s.newest, twin: twin}
	s.byTime[r.Timestamp] = i
	if s.newest == none {
		s.oldest = i
	} else {
		s.slots[s.newest].next = i
	}
	s.newest = i
}

// Intern returns the number of a stack that is known from elsewhere.
func (s *Stacks[T]) Intern(stack etw.Stack) StackID {
	if stack.Len() == 0 {
		return 0
	}
	return s.intern(stack)
}

// bind gives a half of a stack to its event. The event is found by its time stamp,
// and by the thread where several have that. whole says that no other half follows.
func (s *Stacks[T]) bind(at uint64, thread uint32, id StackID, user, whole bool) {
	found := int32(none)
	if i, ok := s.byTime[int64(at)]; ok {
		for ; i != none; i = s.slots[i].twin {
			switch of := s.slots[i].thread; {
			case of == int64(thread):
				found = i
			case of < 0 && found == none:
				found = i
			}
		}
	}
	if found == none {
		s.stats.Unclaimed++
		return
	}
	if user {
		s.slots[found].stack.User = id
	} else {
		s.slots[found].stack.Kernel = id
	}
	if whole {
		s.finish(found)
	}
}

// finish delivers the event of a slot and frees it.
func (s *Stacks[T]) finish(i int32) {
	c := s.slots[i]
	if first := s.byTime[c.at]; first != i {
		for s.slots[first].twin != i {
			first = s.slots[first].twin
		}
		s.slots[first].twin = c.twin
	} else if c.twin == none {
		delete(s.byTime, c.at)
	} else {
		s.byTime[c.at] = c.twin
	}
	if c.prev == none {
		s.oldest = c.next
	} else {
		s.slots[c.prev].next = c.next
	}
	if c.next == none {
		s.newest = c.prev
	} else {
		s.slots[c.next].prev = c.prev
	}
	s.slots[i] = slot[T]{next: s.free}
	s.free = i
	if c.stack != (CallStack{}) {
		s.stats.Bound++
	}
	s.deliver(c.event, c.stack)
}

// Flush delivers the events that still wait, the oldest first.
func (s *Stacks[T]) Flush() {
	for s.oldest != none {
		s.finish(s.oldest)
	}
}

// Stats returns the counts so far.
func (s *Stacks[T]) Stats() StackStats {
	n := s.stats
	n.Undefined, n.Misdefined = len(s.undefined), s.misdefined
	return n
}

// A stackTable holds each different half of a stack once.
type stackTable struct {
	halves     []etw.Stack // by StackID-1; without addresses if it is not defined yet
	byFrames   map[string]StackID
	undefined  map[halfKey]StackID // by the key that they wait for
	misdefined int
}

// A halfKey is the key of a compressed stack, and which half that is of, if the
// reference tells.
type halfKey struct {
	key  uint64
	half uint8
}

const (
	eitherHalf uint8 = iota
	kernelHalf
	userHalf
)

// watch takes the definitions of compressed stacks. Keys are used again, so that a
// definition is of the references that came before it.
func (t *stackTable) watch(mux *etw.Mux) {
	t.byFrames, t.undefined = make(map[string]StackID), make(map[halfKey]StackID)
	define := func(r *etw.Record, key etw.Pointer, frames etw.Pointers) error {
		t.define(uint64(key), etw.Stack{Addresses: frames.Bytes(), PtrSize: r.PointerSize})
		return nil
	}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyStackWalkKeyCreate) error { return define(r, e.Key, e.StackFrame) })
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyStackWalkKeyDelete) error { return define(r, e.Key, e.StackFrame) })
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyStackWalkKeyRundown) error { return define(r, e.Key, e.StackFrame) })
}

// define gives its addresses to the stack that a key was used for last.
func (t *stackTable) define(key uint64, s etw.Stack) {
	if s.Len() == 0 {
		return
	}
	other := userHalf
	if !isKernel(s.At(0), s.PtrSize) {
		other = kernelHalf
	}
	for half := eitherHalf; half <= userHalf; half++ {
		k := halfKey{key, half}
		id, ok := t.undefined[k]
		if !ok {
			continue
		}
		delete(t.undefined, k)
		if half == other {
			t.misdefined++
		} else {
			t.halves[id-1] = t.halves[t.intern(s)-1]
		}
	}
}

// intern returns the number of a stack.
func (t *stackTable) intern(s etw.Stack) StackID {
	if id, ok := t.byFrames[string(s.Addresses)]; ok {
		return id
	}
	text := string(s.Addresses)
	t.halves = append(t.halves, etw.Stack{Addresses: []byte(text), PtrSize: s.PtrSize})
	id := StackID(len(t.halves))
	t.byFrames[text] = id
	return id
}

// refer returns the number of the stack that the next definition of a key is.
func (t *stackTable) refer(key halfKey) StackID {
	id, ok := t.undefined[key]
	if !ok {
		t.halves = append(t.halves, etw.Stack{})
		id = StackID(len(t.halves))
		t.undefined[key] = id
	}
	return id
}

// own returns the stack that a record came with, or 0.
func (t *stackTable) own(r *etw.Record) StackID {
	if len(r.Stack.Addresses) > 0 {
		return t.intern(r.Stack)
	}
	for _, item := range r.Extended {
		// An id that joins halves comes before the key.
		switch {
		case item.Type == etw.ExtStackKey64 && len(item.Data) >= 16:
			return t.refer(halfKey{key: binary.LittleEndian.Uint64(item.Data[8:])})
		case item.Type == etw.ExtStackKey32 && len(item.Data) >= 12:
			return t.refer(halfKey{key: uint64(binary.LittleEndian.Uint32(item.Data[8:]))})
		}
	}
	return 0
}

// Half returns the addresses of a half, the innermost first. It is empty for 0, and
// where the trace does not have them.
func (t *stackTable) Half(id StackID) etw.Stack {
	if id <= 0 || int(id) > len(t.halves) {
		return etw.Stack{}
	}
	return t.halves[id-1]
}

// AppendFrames appends the addresses of a stack, the innermost first: those of the
// kernel, and those of the program that called it.
func (t *stackTable) AppendFrames(dst []uint64, s CallStack) []uint64 {
	for _, id := range [...]StackID{s.Kernel, s.User} {
		for a := range t.Half(id).All() {
			dst = append(dst, a)
		}
	}
	return dst
}

// Len returns the number of addresses of a stack.
func (t *stackTable) Len(s CallStack) int { return t.Half(s.Kernel).Len() + t.Half(s.User).Len() }

// isKernel reports whether an address belongs to the kernel of Windows.
func isKernel(address uint64, size etw.PtrSize) bool {
	if size == etw.Ptr32 {
		return address >= 1<<31
	}
	return address >= 1<<63
}

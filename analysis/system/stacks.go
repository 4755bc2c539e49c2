package system

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"

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
	// Misdefined are those whose addresses are of another stack that had the same key
	// later, so far: they are not of their half, or the innermost is not the address of
	// the sample. They are left out. A trace with such was filtered by a tool that
	// dropped definitions. More of its compressed stacks may be wrong, which nothing
	// tells: the program's half of a sample in the kernel, and all of other events.
	Misdefined int
}

// A slot is an event that waits for its stack. Slots are linked by their index.
type slot[T any] struct {
	event      T
	at         int64 // the time stamp, as it is in the record
	thread     int64
	stack      CallStack
	sampled    sampled
	next, prev int32 // by age
	twin       int32 // the next with the same time stamp
}

// A sampled is the address where a sample was taken, which its stack begins with, or 0.
type sampled struct {
	address uint64
	size    etw.PtrSize
}

// sampledAt returns that of a record.
func sampledAt(r *etw.Record) sampled {
	var e kernel.AnyPerfInfoSample
	if d := etw.Versions(&e)[0]; r.Provider != d.Class || r.Opcode != d.Opcode {
		return sampled{}
	}
	if _, err := e.DecodeVersion(r.Version, r.Payload, r.PointerSize); err != nil {
		return sampled{}
	}
	return sampled{uint64(e.InstructionPointer), r.PointerSize}
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
			if i := s.find(e.EventTimeStamp, e.StackThread); i != none { // many are of no event that is awaited
				s.bind(i, s.intern(stack), !isKernel(stack.At(0), stack.PtrSize), !isKernel(stack.At(n-1), stack.PtrSize))
			}
		}
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyStackWalkStackKeyKernel) {
		s.bind(s.find(e.EventTimeStamp, e.StackThread), s.refer(halfKey{uint64(e.StackKey), kernelHalf}), false, false)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyStackWalkStackKeyUser) {
		s.bind(s.find(e.EventTimeStamp, e.StackThread), s.refer(halfKey{uint64(e.StackKey), userHalf}), true, true)
	})
	return s
}

// Await has event, which r is the record of, delivered when its stack is known.
// thread is the one that the stack is of: of a context switch the new one, of a
// sample the one that was interrupted, or negative if the event does not tell. The stack
// of a sample begins where it was taken: a compressed half that does not is another's, and
// is left out.
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
	s.slots[i] = slot[T]{event: event, at: r.Timestamp, thread: thread, sampled: sampledAt(r), next: none, prev: s.newest, twin: twin}
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

// find returns the slot of the event of a stack: by its time stamp, and by the thread where several
// have that.
func (s *Stacks[T]) find(at uint64, thread uint32) int32 {
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
	}
	return found
}

// bind gives a half of a stack to the event of a slot. whole says that no other half follows.
func (s *Stacks[T]) bind(found int32, id StackID, user, whole bool) {
	if found == none {
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
		c.stack = s.begin(c.stack, c.sampled)
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
	for claim, id := range s.claims {
		if claim.of != 0 && s.halves[claim.of-1].Len() > 0 && !s.Has(id) {
			n.Misdefined++
		}
	}
	return n
}

// A stackTable holds each different half of a stack once.
type stackTable struct {
	halves     []etw.Stack        // by StackID-1; without addresses if it is not defined yet
	byHash     map[uint64]StackID // of addresses
	size       int
	undefined  map[halfKey]StackID // by the key that they wait for
	misdefined int
	claims     map[claim]StackID // the half that begins where a sample was taken
	claimed    map[StackID]StackID
}

// A claim is that of a sample to a half, which may not be defined yet, or be of 0, as the
// trace has none.
type claim struct {
	of StackID
	at sampled
}

// begin returns the stack of a sample with the half that it was taken in bound to begin
// there.
func (t *stackTable) begin(s CallStack, at sampled) CallStack {
	switch {
	case at.address == 0:
	case isKernel(at.address, at.size):
		s.Kernel = t.claim(claim{s.Kernel, at})
	case s.Kernel == 0 || t.isKeyed(s.Kernel):
		s = CallStack{User: t.claim(claim{s.User, at})}
	}
	return s
}

// isKeyed reports whether a half came as a key, and so may be taken for another.
func (t *stackTable) isKeyed(id StackID) bool {
	return t.find(t.halves[id-1].Addresses) != id
}

// claim returns the number of a half if it begins where a sample was taken, and else of that
// address alone. A half that did not come as a key stays as it is.
func (t *stackTable) claim(c claim) StackID {
	if c.of != 0 && !t.isKeyed(c.of) {
		return c.of
	}
	id, ok := t.claims[c]
	if !ok {
		b := binary.LittleEndian.AppendUint64(nil, c.at.address)
		t.halves = append(t.halves, etw.Stack{Addresses: b[:c.at.size.Bytes()], PtrSize: c.at.size})
		id = StackID(len(t.halves))
		t.claims[c], t.claimed[id] = id, c.of
	}
	return id
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
	t.byHash, t.undefined = make(map[uint64]StackID), make(map[halfKey]StackID)
	t.claims, t.claimed = make(map[claim]StackID), make(map[StackID]StackID)
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

// Stacks of a trace of any size take so many bytes, and not many more: of new ones the outermost
// frame alone is kept then, and none once there are too many of these.
const (
	maxStackBytes = 1 << 26
	stackBytes    = 64 // of one beside its addresses
)

// NoRoom stands for the inner frames of a stack, where there was no room for them. No code is at such
// an address.
const NoRoom = math.MaxUint64

var stackSeed = maphash.MakeSeed()

// intern returns the number of a stack.
func (t *stackTable) intern(s etw.Stack) StackID {
	id := t.find(s.Addresses)
	if id == 0 && t.size >= maxStackBytes {
		s = t.cut(s)
		id = t.find(s.Addresses)
	}
	if id == 0 {
		t.halves = append(t.halves, etw.Stack{Addresses: bytes.Clone(s.Addresses), PtrSize: s.PtrSize})
		id = StackID(len(t.halves))
		t.byHash[maphash.Bytes(stackSeed, s.Addresses)] = id
		t.size += stackBytes + len(s.Addresses)
	}
	return id
}

// find returns the number of a stack that is known, or 0.
func (t *stackTable) find(addresses []byte) StackID {
	id := t.byHash[maphash.Bytes(stackSeed, addresses)]
	if id == 0 || !bytes.Equal(t.halves[id-1].Addresses, addresses) {
		return 0
	}
	return id
}

// cut returns the part of a stack that is kept once there are many.
func (t *stackTable) cut(s etw.Stack) etw.Stack {
	b := binary.LittleEndian.AppendUint64(nil, NoRoom)
	if t.size < 2*maxStackBytes {
		b = binary.LittleEndian.AppendUint64(b, s.At(s.Len()-1))
	}
	return etw.Stack{Addresses: b, PtrSize: etw.Ptr64}
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
// where the trace does not have them. Of the half that a sample was taken in there is its
// own address at least.
func (t *stackTable) Half(id StackID) etw.Stack {
	half, _ := t.half(id)
	return half
}

// Has reports whether the trace has the addresses of a half.
func (t *stackTable) Has(id StackID) bool {
	half, ok := t.half(id)
	return ok && half.Len() > 0
}

// half returns a half, and false if it is no more than the address of a sample.
func (t *stackTable) half(id StackID) (half etw.Stack, ok bool) {
	if id <= 0 || int(id) > len(t.halves) {
		return half, false
	}
	half = t.halves[id-1]
	of, claimed := t.claimed[id]
	if !claimed {
		return half, true
	}
	if of == 0 || t.halves[of-1].Len() == 0 || t.halves[of-1].At(0) != half.At(0) && t.halves[of-1].At(0) != NoRoom {
		return half, false
	}
	return t.halves[of-1], true
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

// Len returns the number of addresses of a stack, or 0 if the trace has no half of it.
func (t *stackTable) Len(s CallStack) int {
	if !t.Has(s.Kernel) && !t.Has(s.User) {
		return 0
	}
	return t.Half(s.Kernel).Len() + t.Half(s.User).Len()
}

// isKernel reports whether an address belongs to the kernel of Windows.
func isKernel(address uint64, size etw.PtrSize) bool {
	if size == etw.Ptr32 {
		return address >= 1<<31
	}
	return address >= 1<<63
}

package rewrite

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Keeper says which records must stay so that chosen ones can be understood, in a trace
// or by an analysis. It is told of every record, in the order of the trace: by Chose of
// those that are chosen, by Needs of all others. The zero Keeper keeps the names of
// everything, but no call stacks.
type Keeper struct {
	// Stacks keeps the call stacks of chosen records that come as events of their own, and
	// which methods were compiled and loaded, and when.
	Stacks bool
	// NoRundown keeps no names: of the records that were not chosen only those stay that
	// describe events, or the trace itself, and those that Stacks keeps.
	NoRundown bool
	// Process reports whether a process matters. Names of code and images of others do not
	// stay. Without it all processes matter.
	Process func(pid int64) bool
	// Answer is for an analysis of the chosen records, which learns elsewhere which code
	// there is: no names of code stay, and nothing of processes that do not matter.
	Answer bool
	// Others keeps of all threads the requests to disks, for which the chosen ones waited, and, where the
	// trace tells who made threads ready, the context switches: who did waited for others in turn.
	Others bool
	// Born reports whether a thread that a process starts is chosen, of which some are: so the event
	// stays that it could run first. May be nil.
	Born func(pid, tid int64) bool
	// Edges keep the state at the ends of the part of the time that was chosen, if not nil.
	Edges *Edges

	lookup  lookup
	moments moments         // of chosen records, for stacks that come later
	keys    map[uint64]bool // of stacks that come later
	threads emitters        // the last event of which was chosen
	runners runners
	met     runners // threads of which a record that was not chosen told
	asked   requests
	wakers  wakers
}

// maxStackKeys limits the memory for stacks: their definitions come soon after them.
const maxStackKeys = 1 << 20

// Chose notes that a record was chosen.
func (k *Keeper) Chose(r *etw.Record) {
	if !k.Answer && !k.NoRundown {
		k.runners.chose(r)
		k.asked.chose(r)
	}
	if k.Edges != nil {
		k.Edges.within(r)
	}
	k.keepStack(r)
}

// keepStack sees to it that the call stack of a record stays.
func (k *Keeper) keepStack(r *etw.Record) {
	if !k.Stacks {
		return
	}
	switch why := k.lookup.reasonFor(r); {
	case why == kernelStack: // it was chosen itself, and nothing refers to it
		k.refersTo(r)
		return
	case r.Kind == etw.KindManifest && why != threadStack:
		k.threads.set(emitter{r.Provider, r.ThreadID}, true)
	}
	for _, item := range r.Extended {
		if key, ok := stackKey(item); ok {
			k.wait(key)
		}
	}
	k.moments.add(moment{r.File, r.Timestamp})
}

// Needs reports whether a record must stay that was not chosen.
func (k *Keeper) Needs(r *etw.Record) bool {
	if k.needsOfRunner(r) && (k.Edges == nil || k.Edges.Place(r) == 0 || k.isEdge(r)) || k.asked.needs(r) {
		return true
	}
	if k.Others && k.ofOthers(r) && (k.Edges == nil || k.Edges.Place(r) == 0 || k.isEdge(r)) {
		if k.Edges != nil {
			k.Edges.within(r)
		}
		k.asked.chose(r)
		return true
	}
	return k.helps(r)
}

// ofOthers reports whether the chosen ones may have waited for that of which a record of others tells, use
// the file that it opens, or have allocated the memory that it gives back.
func (k *Keeper) ofOthers(r *etw.Record) bool {
	_, opens, _ := openedFile(r)
	return opens || isDisk(r) || k.wakers.tell(r) || givesBack(r) && k.matters(r)
}

// needsOfRunner reports whether a record tells when a chosen thread stopped, or could run. Of one of which
// nothing is known yet that may be: the trace lacks its start.
func (k *Keeper) needsOfRunner(r *etw.Record) bool {
	needed := k.runners.needs(r)
	if of := roleOf(r); k.Born != nil {
		if of == newOwner && k.Born(int64(binary.LittleEndian.Uint32(r.Payload)), int64(binary.LittleEndian.Uint32(r.Payload[4:]))) {
			k.runners.chose(r)
		}
		needed = needed || of == aReady && !k.met[binary.LittleEndian.Uint32(r.Payload)]
		k.met.chose(r)
	}
	if needed && roleOf(r) == aReady {
		k.keepStack(r) // its thread is the one that did
	}
	return needed
}

// NeedsBeyond is Needs of a record against which nothing was but its time.
func (k *Keeper) NeedsBeyond(r *etw.Record) bool {
	if k.Edges == nil {
		return k.Needs(r)
	}
	k.runners.chose(r)
	isEnd := k.asked.needs(r)
	return k.isEdge(r) || isEnd || k.helps(r)
}

// isEdge reports whether a record beyond the chosen part of the time tells the state at its ends.
func (k *Keeper) isEdge(r *etw.Record) bool {
	if !k.Edges.keeps(r) {
		return false
	}
	if k.Edges.Place(r) < 0 && !k.Answer {
		k.asked.chose(r)
	}
	k.keepStack(r)
	return true
}

// helps reports whether a record helps to understand others.
func (k *Keeper) helps(r *etw.Record) bool {
	why := k.lookup.reasonFor(r)
	if why == threadStack {
		return k.threads.has(emitter{r.Provider, r.ThreadID})
	}
	if k.Stacks && r.Kind == etw.KindManifest { // a stack that follows is not that of an earlier event
		k.threads.set(emitter{r.Provider, r.ThreadID}, false)
	}
	switch why {
	case describes:
		return true
	case ofMachine:
		return !k.NoRundown
	case ofOthers:
		return !k.NoRundown && (!k.Answer || k.matters(r))
	case ofProcess:
		return !k.NoRundown && k.matters(r)
	case ofRundown:
		return !k.NoRundown && !k.Answer && k.matters(r)
	case ofCode:
		return k.Stacks && !k.Answer && k.matters(r)
	case kernelStack:
		return k.Stacks && k.needsStack(r)
	}
	return false
}

// Helpers tell which records help to understand others. The zero value can be used.
type Helpers struct{ lookup lookup }

// Has reports whether a record does nothing else: it has a layout, a name, a call stack, or
// says what there was.
func (h *Helpers) Has(r *etw.Record) bool { return h.lookup.reasonFor(r) != notNeeded }

// OfMachine reports whether a record does nothing but describe a machine: devices and files,
// its programs, and how the session sampled it.
func (h *Helpers) OfMachine(r *etw.Record) bool { return h.lookup.reasonFor(r) == ofMachine }

// matters reports whether the process of a record does. Records of process 0 are of the
// kernel, whose code is in the stacks of all.
func (k *Keeper) matters(r *etw.Record) bool {
	if k.Process == nil {
		return true
	}
	pid := windows.Subject(r)
	return pid < 0 || pid == 0 && !k.Answer || k.Process(pid)
}

// The header of an .etl file is an event, too.
var (
	traceClass   = etw.Versions(new(kernel.AnyEventTraceHeader))[0].Class
	headerOpcode = opcode(new(kernel.AnyEventTraceHeader))
)

// isHeader reports whether r is the header of an .etl file.
func isHeader(r *etw.Record) bool {
	return r.Kind == etw.KindClassic && r.Provider == traceClass && r.Opcode == headerOpcode
}

// The opcodes of call stacks. Windows may log the addresses of a stack once, later than
// the events that name it by its key.
var (
	stackWalk  = opcode(new(kernel.AnyStackWalkStack))
	keyDelete  = opcode(new(kernel.AnyStackWalkKeyDelete))
	keyRundown = opcode(new(kernel.AnyStackWalkKeyRundown))
	keyKernel  = opcode(new(kernel.AnyStackWalkStackKeyKernel))
	keyUser    = opcode(new(kernel.AnyStackWalkStackKeyUser))
)

func opcode(e etw.AnyVersion) etw.Opcode { return etw.Versions(e)[0].Opcode }

// needsStack reports whether a call stack is that of a chosen event. Who filters knows no
// process of a definition: one stands for the same stack of many.
func (k *Keeper) needsStack(r *etw.Record) bool {
	p, size := r.Payload, 8
	switch r.Opcode {
	case keyKernel, keyUser:
		size = 16 + r.PointerSize.Bytes()
		fallthrough
	case stackWalk:
		if len(p) < size || !k.moments.has(moment{r.File, int64(binary.LittleEndian.Uint64(p))}) {
			return false
		}
		k.refersTo(r)
	case keyDelete, keyRundown:
		return len(p) >= r.PointerSize.Bytes() && (len(k.keys) >= maxStackKeys || k.keys[pointerAt(r, 0)])
	}
	return true
}

// refersTo notes the key of a call stack, if the record has it.
func (k *Keeper) refersTo(r *etw.Record) {
	if (r.Opcode == keyKernel || r.Opcode == keyUser) && len(r.Payload) >= 16+r.PointerSize.Bytes() {
		k.wait(pointerAt(r, 16))
	}
}

// wait notes that the definition of a stack is needed.
func (k *Keeper) wait(key uint64) {
	if k.keys == nil {
		k.keys = make(map[uint64]bool)
	}
	if len(k.keys) < maxStackKeys {
		k.keys[key] = true
	}
}

// stackKey returns the key of the call stack that an extended item refers to: it stands
// behind the number that joins the halves.
func stackKey(x etw.ExtendedItem) (key uint64, ok bool) {
	switch {
	case x.Type == etw.ExtStackKey64 && len(x.Data) >= 16:
		return binary.LittleEndian.Uint64(x.Data[8:]), true
	case x.Type == etw.ExtStackKey32 && len(x.Data) >= 12:
		return uint64(binary.LittleEndian.Uint32(x.Data[8:])), true
	}
	return 0, false
}

func pointerAt(r *etw.Record, at int) uint64 {
	if r.PointerSize == etw.Ptr32 {
		return uint64(binary.LittleEndian.Uint32(r.Payload[at:]))
	}
	return binary.LittleEndian.Uint64(r.Payload[at:])
}

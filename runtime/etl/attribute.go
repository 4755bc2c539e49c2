package etl

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// WithAttribution makes the Reader say which process and thread a kernel event is
// about, where its header does not say or says who logged it:
//
//  1. The payloads of events about processes, threads, images, connections, disks
//     and samples name their subject. An event about a process belongs to that
//     process and to no thread.
//  2. The process of a thread is known from the events of its start, or else of
//     its end.
//  3. What is still unknown is taken from the call stack that was recorded for
//     the event, if there is one.
//
// The result is that of Microsoft's TraceEvent library, also in one place where
// that reads a wrong field: the thread of DiskIo/FlushBuffers.
//
// It takes a pass over the file before the first record, and memory for the
// events of threads and the call stacks.
func WithAttribution() Option { return func(o *options) { o.attribution = true } }

// Opcodes of the classes that attribution looks at.
const (
	opStart = 1
	opStop  = 2
	// opDCStart and opDCStop tell what there was when the recording began and
	// ended.
	opDCStart = 3
	opDCStop  = 4

	opDiskRead     = 10
	opDiskWrite    = 11
	opDiskReadInit = 12
	opDiskFlushEnd = 15

	opHardFault    = 32
	opVirtualAlloc = 98
	opVirtualFree  = 99

	opProcessPerfCtr        = 32
	opProcessPerfCtrRundown = 33
	opProcessDefunct        = 39

	opCSwitch  = 36
	opSample   = 46
	opServices = 15

	// The stack itself, or keys to those of the kernel and of the program.
	opStackWalk      = 32
	opStackKeyKernel = 37
	opStackKeyUser   = 38

	opImageUnload = 2
	opImageLoad   = 10
)

var (
	diskClass         = kernelClasses[0x01].guid
	pageFaultClass    = kernelClasses[0x02].guid
	processClass      = kernelClasses[0x03].guid
	threadClass       = kernelClasses[0x05].guid
	tcpClass          = kernelClasses[0x06].guid
	udpClass          = kernelClasses[0x08].guid
	systemConfigClass = kernelClasses[0x0b].guid
	perfInfoClass     = kernelClasses[0x0f].guid
	imageClass        = kernelClasses[imageGroup].guid
	stackWalkClass    = kernelClasses[0x18].guid
)

// A subject is what the payload of an event says of whom it is about.
type subject struct {
	process, thread int64
	// whole is set where it replaces what the header says. Otherwise it serves
	// only where the header says nothing.
	whole bool
}

// subjectOf returns what the payload of the classic event rec says.
func subjectOf(rec *etw.Record) subject {
	p, ptr := rec.Payload, int(rec.PointerSize)
	id := func(at int) int64 {
		if at+4 > len(p) {
			return -1
		}
		return optionalID(p[at:])
	}
	process := func(at int) subject { return subject{process: id(at), thread: -1} }
	thread := func(at int) subject { return subject{process: -1, thread: id(at)} }
	none := subject{process: -1, thread: -1}

	switch rec.Provider {
	case processClass:
		switch rec.Opcode {
		case opStart, opStop, opDCStart, opDCStop, opProcessDefunct:
			s := process(ptr)
			if rec.Version == 0 {
				s = process(0)
			}
			s.whole = s.process >= 0
			return s
		case opProcessPerfCtr, opProcessPerfCtrRundown:
			return process(0)
		}
	case threadClass:
		switch rec.Opcode {
		case opStart, opDCStart, opDCStop:
			if len(p) >= 8 {
				return subject{id(0), id(4), true}
			}
		case opStop:
			return subject{process: id(0), thread: id(4)}
		case opCSwitch:
			return thread(0) // the one that is switched to
		}
	case imageClass:
		if rec.Version == 0 {
			return none
		}
		s := process(2 * ptr)
		switch rec.Opcode {
		case opImageUnload, opDCStart, opDCStop:
			s.whole = s.process >= 0
			return s
		case opImageLoad:
			return s
		}
	case tcpClass, udpClass:
		return process(0)
	case systemConfigClass:
		if rec.Opcode == opServices && rec.Version >= 2 {
			if s := process(0); s.process >= 0 {
				return subject{s.process, rec.ThreadID, true}
			}
		}
	case perfInfoClass:
		if rec.Opcode == opSample {
			return thread(ptr)
		}
	case diskClass:
		switch op := rec.Opcode; {
		case op == opDiskRead || op == opDiskWrite:
			// After 16 bytes of numbers, an offset, two pointers and a time.
			return thread(0x20 + 2*ptr)
		case op >= opDiskReadInit && op <= opDiskFlushEnd && rec.Version >= 3:
			return thread(ptr)
		}
	case pageFaultClass:
		switch rec.Opcode {
		case opHardFault:
			return thread(0x10 + 2*ptr)
		case opVirtualAlloc, opVirtualFree:
			if s := process(2 * ptr); s.process >= 0 {
				return subject{s.process, rec.ThreadID, true}
			}
		}
	}
	return none
}

// apply sets the ids of rec from s.
func (s subject) apply(rec *etw.Record) {
	switch {
	case s.whole:
		rec.ProcessID, rec.ThreadID = s.process, s.thread
	case rec.ProcessID < 0 && rec.ThreadID < 0:
		rec.ProcessID, rec.ThreadID = s.process, s.thread
	}
}

// An owners knows which process threads belong to, and whom events without a
// subject belong to.
type owners struct {
	threads map[int64][]threadEvent // by thread, in the order of time
	stacks  map[moment]stackOwner
}

// A threadEvent says that a thread belongs to a process.
type threadEvent struct {
	key             int64
	thread, process int64
	end             bool
}

// A moment is when an event was logged on which processor.
type moment struct {
	key       int64
	processor int32
}

// A stackOwner is who a call stack belongs to.
type stackOwner struct{ process, thread uint32 }

// An orphan is an event of which neither header nor payload say the process.
type orphan struct {
	moment
	thread int64
}

// An ownerFinding is what one goroutine of the first pass has found.
type ownerFinding struct {
	threads []threadEvent
	stacks  []stackEvent
	orphans []orphan
	rec     etw.Record
	items   []etw.ExtendedItem
}

type stackEvent struct {
	moment
	stackOwner
}

// visit looks at one record.
func (o *ownerFinding) visit(b *block, p []byte, key int64) {
	if p[3] != markerRecord {
		return
	}
	switch p[2] {
	case kindEvent32, kindEvent64, kindFull32, kindFull64, kindInstance32, kindInstance64:
		return
	}
	rec := &o.rec
	o.items = fill(rec, b, p, key, o.items)
	switch rec.Provider {
	case stackWalkClass:
		switch rec.Opcode {
		case opStackWalk, opStackKeyKernel, opStackKeyUser:
			if len(rec.Payload) >= 16 {
				o.stacks = append(o.stacks, stackEvent{
					moment{b.file.key(le64(rec.Payload)), rec.Processor},
					stackOwner{binary.LittleEndian.Uint32(rec.Payload[8:]), binary.LittleEndian.Uint32(rec.Payload[12:])},
				})
			}
		}
		return
	case threadClass:
		switch rec.Opcode {
		case opStart, opStop, opDCStart, opDCStop:
			if len(rec.Payload) >= 8 {
				o.threads = append(o.threads, threadEvent{
					key:     key,
					process: optionalID(rec.Payload),
					thread:  optionalID(rec.Payload[4:]),
					end:     rec.Opcode == opStop || rec.Opcode == opDCStop,
				})
			}
		}
	}
	if subjectOf(rec).apply(rec); rec.ProcessID < 0 {
		o.orphans = append(o.orphans, orphan{moment{key, rec.Processor}, rec.ThreadID})
	}
}

// newOwners puts together what the goroutines have found.
func newOwners(findings []finding) *owners {
	o := &owners{threads: make(map[int64][]threadEvent), stacks: make(map[moment]stackOwner)}
	for i := range findings {
		for _, e := range findings[i].owners.threads {
			o.threads[e.thread] = append(o.threads[e.thread], e)
		}
	}
	for _, events := range o.threads {
		slices.SortStableFunc(events, func(a, b threadEvent) int { return cmp.Compare(a.key, b.key) })
	}
	// Of the stacks only those count that an event needs.
	var needed []moment
	for i := range findings {
		for _, e := range findings[i].owners.orphans {
			if e.thread < 0 || o.process(e.thread, e.key) < 0 {
				needed = append(needed, e.moment)
			}
		}
		findings[i].owners.orphans = nil
	}
	slices.SortFunc(needed, compareMoments)
	for i := range findings {
		for _, s := range findings[i].owners.stacks {
			if _, ok := slices.BinarySearchFunc(needed, s.moment, compareMoments); ok {
				o.stacks[s.moment] = s.stackOwner
			}
		}
	}
	return o
}

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.processor, b.processor))
}

// process returns the process that a thread belonged to at the time key, or -1.
func (o *owners) process(thread, key int64) int64 {
	if thread == 0 {
		return 0 // the idle threads
	}
	events := o.threads[thread]
	after, _ := slices.BinarySearchFunc(events, key, func(e threadEvent, key int64) int {
		if e.key <= key {
			return -1
		}
		return 1
	})
	for i := after - 1; i >= 0; i-- {
		if !events[i].end {
			return events[i].process
		}
	}
	// It began before the recording: its end tells.
	for _, e := range events {
		if e.end {
			return e.process
		}
	}
	return -1
}

// attribute sets the process and thread of rec.
func (o *owners) attribute(rec *etw.Record, key int64) {
	if rec.Kind != etw.Classic {
		return
	}
	subjectOf(rec).apply(rec)
	if rec.ProcessID < 0 && rec.ThreadID >= 0 {
		rec.ProcessID = o.process(rec.ThreadID, key)
	}
	if rec.ProcessID < 0 && len(o.stacks) > 0 {
		s, ok := o.stacks[moment{key, rec.Processor}]
		if thread := processOrThread(s.thread); ok && (rec.ThreadID < 0 || rec.ThreadID == thread) {
			rec.ProcessID, rec.ThreadID = processOrThread(s.process), thread
		}
	}
}

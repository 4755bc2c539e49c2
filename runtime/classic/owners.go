package classic

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Owners knows which processes threads belong to, at which time, and so which
// process and thread an event is about:
//
//  1. The payloads of events about processes, threads, images, connections, files,
//     disks, samples and stacks name their subject. An event about a process belongs to that
//     process and to no thread.
//  2. The process of a thread is known from the events of its start, or else of
//     its end.
//  3. What is still unknown is taken from the call stack that was recorded for
//     the event, if there is one.
//
// The result is that of Microsoft's TraceEvent library, but for the thread of
// DiskIo/FlushBuffers: that takes a half of the response time for it.
//
// All records of one Owners share a clock: their Timestamps compare. Before the first is
// attributed, they may be learned in any order. From then on only facts that help with later
// ones are kept, so that a session may go on for long.
//
// The zero Owners knows nothing and is ready to use. It must not be used by
// several goroutines at once.
type Owners struct {
	threads map[uint32]*life
	// stacks are those of each processor that were learned before the first record was attributed,
	// and recent those since.
	stacks, recent map[int32]*stackOwners
	size           int
	// now is the latest time that was attributed, once begun.
	now   int64
	begun bool
}

// A life holds the threads that have had one id: their starts, and the first end, for the
// thread that began before the recording.
type life struct {
	starts []moment
	sorted bool // starts are, by time
	end    moment
	ended  bool
}

// A moment is when a thread belonged to a process.
type moment struct {
	at      int64 // time stamp
	process uint32
}

// A stackOwner is whom the call stack of an event belongs to, which was logged at some time.
type stackOwner struct {
	at              int64
	process, thread uint32
}

// stackOwners are those of a processor.
type stackOwners struct {
	list     []stackOwner
	unsorted bool // by time
	prune    int  // how many there are before some are dropped
	cursor   int  // where the last search ended
}

// minPrune is how many stacks are added at least before others are dropped.
const minPrune = 1024

// Approximate sizes of the kept data.
const (
	lifeSize        = 100
	momentSize      = 16
	stackOwnerSize  = 16
	stackOwnersSize = 100
)

// Learns reports whether Learn makes something of events of a class and opcode.
func Learns(class etw.GUID, opcode etw.Opcode) bool {
	switch class {
	case threadClass:
		return opcode >= opStart && opcode <= opDCStop
	case stackWalkClass:
		return isStack(opcode)
	}
	return false
}

// LearnsGroup reports whether Learn makes something of events of a group of the kernel, as
// [KernelClass] takes it, by some of their opcodes.
func LearnsGroup(group uint8) bool { return group == threadGroup || group == stackWalkGroup }

// Learn takes facts about threads and other events from r, and reports whether it did. The
// order of records does not matter.
func (o *Owners) Learn(r *etw.Record) bool {
	p := r.Payload
	switch {
	case r.Kind != etw.KindClassic || !Learns(r.Provider, r.Opcode):
		return false
	case r.Provider == threadClass && len(p) >= 8:
		l := o.life(binary.LittleEndian.Uint32(p[4:]))
		m := moment{r.Timestamp, binary.LittleEndian.Uint32(p)}
		if r.Opcode == opStop || r.Opcode == opDCStop {
			l.stop(m)
		} else {
			o.start(l, m)
		}
		return true
	case IsStack(r):
		return o.addStack(r.Processor, stackOwner{
			at:      StackTime(r),
			process: binary.LittleEndian.Uint32(p[8:]),
			thread:  binary.LittleEndian.Uint32(p[12:]),
		})
	}
	return false
}

// life returns the life of a thread.
func (o *Owners) life(thread uint32) *life {
	l := o.threads[thread]
	if l == nil {
		if o.threads == nil {
			o.threads = make(map[uint32]*life)
		}
		l = &life{sorted: true}
		o.threads[thread] = l
		o.size += lifeSize
	}
	return l
}

func (o *Owners) start(l *life, m moment) {
	if o.begun {
		// Of the past only the last start counts.
		past := max(l.before(o.now)-1, 0)
		l.starts = slices.Delete(l.starts, 0, past)
		o.size -= momentSize * past
	}
	n := len(l.starts)
	l.sorted = l.sorted && (n == 0 || compareMoments(l.starts[n-1], m) <= 0)
	l.starts = append(l.starts, m)
	o.size += momentSize
}

func (l *life) stop(m moment) {
	if !l.ended || compareMoments(m, l.end) < 0 {
		l.end, l.ended = m, true
	}
}

// before returns how many starts are not after the time at.
func (l *life) before(at int64) int {
	if !l.sorted {
		sort.Slice(l.starts, func(i, j int) bool { return compareMoments(l.starts[i], l.starts[j]) < 0 })
		l.sorted = true
	}
	n, _ := slices.BinarySearchFunc(l.starts, at, func(m moment, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	return n
}

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.process, b.process))
}

// IsStack reports whether r is the call stack of an event that Learn makes something of.
func IsStack(r *etw.Record) bool {
	return r.Kind == etw.KindClassic && r.Provider == stackWalkClass && isStack(r.Opcode) && len(r.Payload) >= 16
}

// StackTime returns the time of the event that r is the call stack of: see [IsStack]. Nobody needs
// to have learned of r before that.
func StackTime(r *etw.Record) int64 { return int64(binary.LittleEndian.Uint64(r.Payload)) }

func (o *Owners) addStack(processor int32, s stackOwner) bool {
	all := &o.stacks
	if o.begun {
		all = &o.recent
		if s.at < o.now {
			return false // its event has gone by
		}
	}
	l := (*all)[processor]
	if l == nil {
		if *all == nil {
			*all = make(map[int32]*stackOwners)
		}
		l = new(stackOwners)
		(*all)[processor] = l
		o.size += stackOwnersSize
	}
	if o.begun && len(l.list) >= l.prune {
		// Those of events that have gone by are not needed any more.
		before := len(l.list)
		l.list = slices.DeleteFunc(l.list, func(s stackOwner) bool { return s.at < o.now })
		o.size -= stackOwnerSize * (before - len(l.list))
		l.prune, l.cursor = 2*len(l.list)+minPrune, 0
	}
	if n := len(l.list); n > 0 && compareStacks(l.list[n-1], s) > 0 {
		l.unsorted = true
	}
	l.list = append(l.list, s)
	o.size += stackOwnerSize
	return true
}

// Merge adds the facts that others, which are not used any more, have learned of the same
// trace.
func (o *Owners) Merge(others ...*Owners) {
	for _, other := range others {
		for thread, theirs := range other.threads {
			ours := o.life(thread)
			for _, m := range theirs.starts {
				o.start(ours, m)
			}
			if theirs.ended {
				ours.stop(theirs.end)
			}
		}
		for processor, theirs := range other.stacks {
			o.addStacks(processor, theirs.list)
		}
		other.stacks = nil // there may be millions
	}
}

// addStacks adds the stacks of a processor, which the caller has no use for any more.
func (o *Owners) addStacks(processor int32, list []stackOwner) {
	if o.stacks[processor] == nil && !o.begun && len(list) > 0 {
		o.addStack(processor, list[0])
		l := o.stacks[processor]
		l.list, l.unsorted = list, true
		o.size += stackOwnerSize * (len(list) - 1)
		return
	}
	for _, s := range list {
		o.addStack(processor, s)
	}
}

// Size returns about how many bytes o takes.
func (o *Owners) Size() int { return o.size }

// Attribute sets the process and thread of r to those that it is about. They stay
// as they are where nothing is known, and for events that are not classic.
func (o *Owners) Attribute(r *etw.Record) {
	if !o.begun || r.Timestamp > o.now {
		o.now, o.begun = r.Timestamp, true
	}
	if r.Kind != etw.KindClassic {
		return
	}
	subjectOf(r).apply(r)
	if r.ProcessID < 0 && r.ThreadID >= 0 {
		r.ProcessID = o.process(r.ThreadID, r.Timestamp)
	}
	if r.ProcessID < 0 && !o.byStack(r, o.stacks) {
		o.byStack(r, o.recent)
	}
}

// byStack sets whom r is about from its call stack, and reports whether that is one of all.
func (o *Owners) byStack(r *etw.Record, all map[int32]*stackOwners) bool {
	l := all[r.Processor]
	if l == nil {
		return false
	}
	s, ok := l.of(r)
	if ok {
		r.ProcessID, r.ThreadID = processOrThread(s.process), processOrThread(s.thread)
	}
	return ok && r.ProcessID >= 0
}

// process returns the process that a thread belonged to at some time, or -1.
func (o *Owners) process(thread, at int64) int64 {
	if thread == 0 {
		return 0 // the idle threads
	}
	l := o.threads[uint32(thread)]
	if l == nil {
		return -1
	}
	if n := l.before(at); n > 0 {
		return processOrThread(l.starts[n-1].process)
	}
	if l.ended { // it began before the recording
		return processOrThread(l.end.process)
	}
	return -1
}

// of returns whom the call stack of r belongs to, if there is one that does
// not speak of another thread.
func (l *stackOwners) of(r *etw.Record) (stackOwner, bool) {
	if l.unsorted {
		order.Sort(l.list, compareStacks)
		l.unsorted, l.cursor = false, 0
	}
	i := l.seek(r.Timestamp)
	if i == len(l.list) || l.list[i].at != r.Timestamp || r.ThreadID >= 0 && r.ThreadID != processOrThread(l.list[i].thread) {
		return stackOwner{}, false
	}
	return l.list[i], true
}

// seek returns the first of the stacks that is not before a time. Records come by time,
// so it mostly is the one that was found last, or one of the next.
func (l *stackOwners) seek(at int64) int {
	const near = 8
	from, to := l.cursor, len(l.list)
	if from > 0 && l.list[from-1].at >= at {
		from, to = 0, from
	}
	for range near {
		if from == to || l.list[from].at >= at {
			l.cursor = from
			return from
		}
		from++
	}
	i, _ := slices.BinarySearchFunc(l.list[from:to], at, func(s stackOwner, at int64) int { return cmp.Compare(s.at, at) })
	l.cursor = from + i
	return l.cursor
}

func compareStacks(a, b stackOwner) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.process, b.process))
}

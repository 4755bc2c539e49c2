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
	stacks  []stackOwner
	sorted  bool // stacks are, by time and processor
	prune   int  // how many stacks there are before some are dropped
	cursor  int  // in stacks: where the last search ended
	size    int
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

// A stackOwner is whom the call stack of an event belongs to, which was logged at
// some time on some processor.
type stackOwner struct {
	at              int64
	processor       int32
	process, thread uint32
}

// minPrune is how many stacks are added at least before others are dropped.
const minPrune = 1024

// Approximate sizes of the kept data.
const (
	lifeSize       = 100
	momentSize     = 16
	stackOwnerSize = 24
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
	case r.Provider == stackWalkClass && len(p) >= 16:
		return o.addStack(stackOwner{
			at:        int64(binary.LittleEndian.Uint64(p)),
			processor: r.Processor,
			process:   binary.LittleEndian.Uint32(p[8:]),
			thread:    binary.LittleEndian.Uint32(p[12:]),
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

func (o *Owners) addStack(s stackOwner) bool {
	if o.begun && s.at <= o.now {
		return false // its event has gone by
	}
	if o.begun && len(o.stacks) >= o.prune {
		// Those of events that have gone by are not needed any more.
		before := len(o.stacks)
		o.stacks = slices.DeleteFunc(o.stacks, func(s stackOwner) bool { return s.at < o.now })
		o.size -= stackOwnerSize * (before - len(o.stacks))
		o.prune = 2*len(o.stacks) + minPrune
	}
	o.stacks = append(o.stacks, s)
	o.sorted = false
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
		o.addStacks(other)
	}
}

// addStacks adds the stacks of another, which loses them: there may be millions.
func (o *Owners) addStacks(other *Owners) {
	list := other.stacks
	other.stacks = nil
	if len(o.stacks) == 0 && !o.begun {
		o.stacks, o.sorted = list, false
		o.size += stackOwnerSize * len(list)
		return
	}
	o.stacks = slices.Grow(o.stacks, len(list))
	for _, s := range list {
		o.addStack(s)
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
	if r.ProcessID < 0 && len(o.stacks) > 0 {
		if s, ok := o.stack(r); ok {
			r.ProcessID, r.ThreadID = processOrThread(s.process), processOrThread(s.thread)
		}
	}
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

// stack returns whom the call stack of r belongs to, if there is one that does
// not speak of another thread.
func (o *Owners) stack(r *etw.Record) (stackOwner, bool) {
	if !o.sorted {
		order.Sort(o.stacks, func(a, b stackOwner) int {
			return cmp.Or(compareStacks(a, b), cmp.Compare(a.thread, b.thread), cmp.Compare(a.process, b.process))
		})
		o.sorted, o.cursor = true, 0
	}
	of := stackOwner{at: r.Timestamp, processor: r.Processor}
	i := o.seek(of)
	if i == len(o.stacks) || compareStacks(o.stacks[i], of) != 0 ||
		r.ThreadID >= 0 && r.ThreadID != processOrThread(o.stacks[i].thread) {
		return of, false
	}
	return o.stacks[i], true
}

// seek returns the first of the stacks that is not before s. Records come by time,
// so it mostly is the one that was found last, or one of the next.
func (o *Owners) seek(s stackOwner) int {
	const near = 8
	from, to := o.cursor, len(o.stacks)
	if from > 0 && compareStacks(o.stacks[from-1], s) >= 0 {
		from, to = 0, from
	}
	for range near {
		if from == to || compareStacks(o.stacks[from], s) >= 0 {
			o.cursor = from
			return from
		}
		from++
	}
	i, _ := slices.BinarySearchFunc(o.stacks[from:to], s, compareStacks)
	o.cursor = from + i
	return o.cursor
}

func compareStacks(a, b stackOwner) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.processor, b.processor)
}

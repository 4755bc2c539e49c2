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

package main

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A keeper knows what is kept of a trace though the filters do not choose it, since
// the rest needs it.
type keeper struct {
	header  *filter.Header
	stacks  bool // and what call stacks need
	rundown bool

	// What was chosen last, for the events that carry call stacks.
	times   map[stackOf]bool
	order   []stackOf // of times, a ring
	oldest  int
	keys    map[uint64]bool // of stacks that come later
	threads map[clrThread]bool
}

// A stackOf is what a call stack that comes as an event of its own belongs to.
type stackOf struct {
	file string
	time int64
}

// A clrThread is a thread that logs events of a provider.
type clrThread struct {
	provider etw.GUID
	thread   int64
}

func newKeeper(h *filter.Header, stacks, noRundown bool) *keeper {
	return &keeper{header: h, stacks: stacks, rundown: !noRundown, times: make(map[stackOf]bool), keys: make(map[uint64]bool), threads: make(map[clrThread]bool)}
}

// The classes of kernel events that are kept, by their groups.
const (
	groupSession      = 0x00
	groupProcess      = 0x03
	groupFileIO       = 0x04
	groupThread       = 0x05
	groupSystemConfig = 0x0b
	groupImage        = 0x14
	groupStackWalk    = 0x18
)

const (
	manifestEvent   = 0xfffe // of EventSources
	clrStackWalk    = 82
	runtimeStart    = 187
	universalSystem = "Universal.System"
	eventPipeItself = "Microsoft-DotNETCore-EventPipe"
)

// describesEvents reports whether a record says what is in others, or what the trace
// itself is.
func describesEvents(r *etw.Record) bool {
	if r.Kind == etw.KindClassic {
		return r.Provider == metadataClass || kernelGroupOf(r) == groupSession
	}
	return r.Kind == etw.KindManifest && r.ID == manifestEvent
}

// hasNoFields reports whether a record has nothing to redact: it is about the schemas of
// others, or the header of an .etl file, of which the writer makes its own.
func hasNoFields(r *etw.Record) bool {
	if r.Kind == etw.KindClassic && kernelGroupOf(r) == groupSession {
		return r.Opcode == 0
	}
	return describesEvents(r)
}

// kernelGroupOf returns the group of a kernel event, or -1.
func kernelGroupOf(r *etw.Record) int {
	if group, ok := classic.KernelGroup(r.Provider, 0); ok && r.Kind == etw.KindClassic {
		return int(group)
	}
	return -1
}

// keeps reports whether a record is kept that was not chosen.
func (k *keeper) keeps(r *etw.Record) bool {
	if describesEvents(r) {
		k.forget(r)
		return true
	}
	keep := r.Kind == etw.KindClassic && k.keepsClassic(r) || r.Kind == etw.KindManifest && k.keepsManifest(r)
	k.forget(r)
	return keep
}

// ofProcess reports whether a record is of a process that is asked for.
func (k *keeper) ofProcess(r *etw.Record) bool {
	return len(k.header.Processes) == 0 || r.ProcessID < 0 || k.header.Processes.Has(r.ProcessID)
}

func (k *keeper) keepsClassic(r *etw.Record) bool {
	group := kernelGroupOf(r)
	if group == groupStackWalk {
		return k.stacks && k.keepsStack(r)
	}
	if !k.rundown {
		return false
	}
	switch group {
	case groupProcess:
		return r.Opcode <= 4 || r.Opcode == 39
	case groupThread:
		return r.Opcode <= 4 || r.Opcode == 72
	case groupImage:
		return k.ofProcess(r)
	case groupSystemConfig:
		return true
	case groupFileIO: // names of files
		return r.Opcode == 0 || r.Opcode >= 32 && r.Opcode <= 36
	}
	switch r.Provider {
	case imageIDClass:
		return k.ofProcess(r)
	case sysConfClass:
		return true
	}
	return false
}

// keepsStack reports whether a call stack is that of an event that was chosen.
func (k *keeper) keepsStack(r *etw.Record) bool {
	const stack, keyDelete, keyRundown, keyKernel, keyUser = 32, 35, 36, 37, 38
	p := r.Payload
	switch r.Opcode {
	case stack:
		return len(p) >= 8 && k.times[stackOf{r.File, int64(binary.LittleEndian.Uint64(p))}]
	case keyKernel, keyUser:
		if len(p) < 16+r.PointerSize.Bytes() || !k.times[stackOf{r.File, int64(binary.LittleEndian.Uint64(p))}] {
			return false
		}
		if len(k.keys) < maxStackKeys {
			k.keys[pointerAt(r, 16)] = true
		}
		return true
	case keyDelete, keyRundown:
		return len(p) >= r.PointerSize.Bytes() && (len(k.keys) >= maxStackKeys || k.keys[pointerAt(r, 0)])
	}
	return true
}

// Limits of what is remembered of chosen events: their stacks come soon after them.
const (
	maxStackTimes = 1 << 18
	maxStackKeys  = 1 << 20
)

func pointerAt(r *etw.Record, at int) uint64 {
	if r.PointerSize == etw.Ptr32 {
		return uint64(binary.LittleEndian.Uint32(r.Payload[at:]))
	}
	return binary.LittleEndian.Uint64(r.Payload[at:])
}

func (k *keeper) keepsManifest(r *etw.Record) bool {
	switch {
	case r.Provider == rundownProvider:
		return k.rundown && k.ofProcess(r)
	case r.ProviderName == universalSystem, r.ProviderName == eventPipeItself:
		return k.rundown && k.ofProcess(r)
	case r.Provider != clrProvider:
		return false
	case r.ID == runtimeStart:
		return k.rundown && k.ofProcess(r)
	case r.ID == clrStackWalk:
		return k.stacks && k.threads[clrThread{r.Provider, r.ThreadID}]
	case r.ID >= 141 && r.ID <= 144, r.ID >= 151 && r.ID <= 158, r.ID == 190: // methods, modules, lines
		return k.stacks && k.ofProcess(r)
	}
	return false
}

// chose notes that a record was chosen.
func (k *keeper) chose(r *etw.Record) {
	if !k.stacks {
		return
	}
	if r.Kind == etw.KindManifest && r.ID != clrStackWalk {
		k.threads[clrThread{r.Provider, r.ThreadID}] = true
	}
	key := stackOf{r.File, r.Timestamp}
	if k.times[key] {
		return
	}
	k.times[key] = true
	if len(k.order) < maxStackTimes {
		k.order = append(k.order, key)
		return
	}
	delete(k.times, k.order[k.oldest])
	k.order[k.oldest] = key
	k.oldest = (k.oldest + 1) % maxStackTimes
}

// forget notes that a record was not chosen: a stack that follows it on its thread is
// not that of an earlier one.
func (k *keeper) forget(r *etw.Record) {
	if k.stacks && r.Kind == etw.KindManifest && r.ID != clrStackWalk {
		delete(k.threads, clrThread{r.Provider, r.ThreadID})
	}
}

// duplicates finds the records that several traces have, among those of one time. Of
// records that are alike in one trace each counts.
type duplicates struct {
	seed  maphash.Seed
	hash  maphash.Hash
	time  etw.FileTime
	held  int
	files []*sameTime // those that have records of that time, in the order of the traces
}

// A sameTime is the records of one time in one file.
type sameTime struct {
	file string
	heldRecords
}

// heldRecords are records that are yet to be written.
type heldRecords []heldRecord

type heldRecord struct {
	hash  uint64
	write func() error
}

func newDuplicates() *duplicates { return &duplicates{seed: maphash.MakeSeed()} }

// maxSameTime bounds the records that are held. Those of one time are some tens.
const maxSameTime = 4096

// isLater reports whether a record is of a later time than those that are held.
func (d *duplicates) isLater(r *etw.Record) bool {
	return d.held > 0 && r.Clock.FileTime(r.Timestamp) != d.time || d.held >= maxSameTime
}

// hold holds a record.
func (d *duplicates) hold(r *etw.Record, write func() error) {
	d.time = r.Clock.FileTime(r.Timestamp)
	d.held++
	var of *sameTime
	for _, f := range d.files {
		if f.file == r.File {
			of = f
		}
	}
	if of == nil {
		of = &sameTime{file: r.File}
		d.files = append(d.files, of)
	}
	of.heldRecords = append(of.heldRecords, heldRecord{d.sum(r), write})
}

// release writes what is held, what several files have once, and returns how often it
// was there more than once. The order is that of the file that has most; the others
// fill it up.
func (d *duplicates) release() (repeated int64, err error) {
	if len(d.files) == 0 {
		return 0, nil
	}
	longest, all := 0, 0
	for i, f := range d.files {
		all += len(f.heldRecords)
		if len(f.heldRecords) > len(d.files[longest].heldRecords) {
			longest = i
		}
	}
	list := d.files[longest].heldRecords
	for i, f := range d.files {
		if i != longest {
			list = list.with(f.heldRecords, i < longest)
		}
	}
	d.files, d.held = d.files[:0], 0
	for _, r := range list {
		if err := r.write(); err != nil {
			return 0, err
		}
	}
	return int64(all - len(list)), nil
}

// with returns a list that has all records of two: what follows something in one of
// them does so in it. Before says where more goes that has nothing in common with l.
func (l heldRecords) with(more heldRecords, before bool) heldRecords {
	at := 0
	if !before && !slices.ContainsFunc(more, func(r heldRecord) bool { return l.index(r, 0) >= 0 }) {
		at = len(l)
	}
	for _, r := range more {
		if i := l.index(r, at); i >= 0 {
			at = i + 1
			continue
		}
		l = slices.Insert(l, at, r)
		at++
	}
	return l
}

// index returns where a record is from some index on, or -1.
func (l heldRecords) index(r heldRecord, from int) int {
	for i := from; i < len(l); i++ {
		if l[i].hash == r.hash {
			return i
		}
	}
	return -1
}

// sum returns a hash of all that is in a record.
func (d *duplicates) sum(r *etw.Record) uint64 {
	h := &d.hash
	h.SetSeed(d.seed)
	var b [64]byte
	le := binary.LittleEndian
	le.PutUint16(b[0:], r.ID)
	b[2], b[3], b[4], b[5], b[6] = r.Version, r.Channel, byte(r.Level), byte(r.Opcode), byte(r.Kind)
	le.PutUint16(b[8:], r.Task)
	le.PutUint64(b[16:], r.Keywords)
	le.PutUint64(b[24:], uint64(r.ProcessID))
	le.PutUint64(b[32:], uint64(r.ThreadID))
	le.PutUint64(b[40:], uint64(r.Processor))
	le.PutUint64(b[48:], uint64(r.Timestamp))
	h.Write(b[:])
	h.Write(r.Provider[:])
	h.Write(r.ActivityID[:])
	h.Write(r.RelatedActivityID[:])
	h.Write(r.Payload)
	h.Write(r.Stack.Addresses)
	return h.Sum64()
}

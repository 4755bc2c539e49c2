package rewrite

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A course is of collections, or of activities. As long as one of them is on that meets the part, all
// records that tell of them stay, whoever has them: how it went on is told by all together.
type course struct {
	on    map[subject]int64 // since when
	last  map[subject]int64 // of each process, when the last collection began
	since int64             // the first of all these as the part began
	any   bool              // there was one
	next  bool              // one began after the part
}

// take takes a record in which one begins, or ends.
func (c *course) take(r *etw.Record, of subject, begins bool) {
	if !begins {
		delete(c.on, of)
		return
	}
	if c.on == nil {
		c.on, c.last = make(map[subject]int64), make(map[subject]int64)
	}
	process, at := hash(uint64(r.ProcessID)), timeOf(r)
	if began, ok := c.on[process]; ok { // threads are stopped for it since then
		at = began
	}
	if r.Provider == clrProvider && r.ID == gcStart { // the one before tells how large the heap was
		before, ok := c.last[process]
		if c.last[process] = at; ok {
			at = before
		}
	}
	if len(c.on) < maxRunners {
		c.on[of] = at
	}
}

// goesOn takes a record after the part, and reports whether it stays. Those that sum up a collection
// come when it is over.
func (c *course) goesOn(r *etw.Record, of subject, turns, begins bool) bool {
	isOn := len(c.on) > 0
	c.next = c.next || !isOn && (turns && begins || !OfCollections(r))
	if turns && !begins {
		delete(c.on, of)
	}
	return isOn || !c.next
}

// settle notes the first of those that are on.
func (c *course) settle() {
	for _, list := range [...]map[subject]int64{c.on, c.last} {
		for _, at := range list {
			if !c.any || at < c.since {
				c.since, c.any = at, true
			}
		}
	}
}

// timeOf returns when a record was logged, in nanoseconds.
func timeOf(r *etw.Record) int64 {
	if r.Clock == nil {
		return r.Timestamp
	}
	return int64(r.Elapsed()) + 100*int64(r.Clock.Start-unixEpoch)
}

const unixEpoch = 116444736000000000

// Rounds are the times in which EventPipe took a sample of each thread of a process. A sample stands
// for the time between rounds: those of two rounds before the part and after it stay.
type rounds struct {
	threads map[int64]bool // met in this one
	last    int64
	began   [2]int64 // the one before this, and this one
	after   int      // that began after the part
}

// maxRound is how long there is no sample within one, at most.
const maxRound = 500_000

// take takes a sample.
func (x *rounds) take(r *etw.Record, after bool) {
	at := timeOf(r)
	if x.threads[r.ThreadID] || at-x.last > maxRound || x.threads == nil {
		x.threads, x.began[0], x.began[1] = make(map[int64]bool), x.began[1], at
		if after {
			x.after++
		}
	}
	x.threads[r.ThreadID], x.last = true, at
}

// sampled takes a sample, and reports whether it stays, if it is not in the part. In the first pass it
// is seen before the part.
func (e *Edges) sampled(r *etw.Record, place int, first bool) bool {
	if r.ProviderName != sampler {
		return false
	}
	x := of(&e.rounds, uint64(r.ProcessID))
	if place < 0 && !first {
		return timeOf(r) >= x.began[0]
	}
	x.take(r, place > 0)
	return x.after <= 2
}

// A rest is a time in which a thread has no processor. Recorders tell a long one in parts that adjoin: of
// one that goes over an end of the part all stay.
type rest struct {
	began, till int64
	over        bool // another one began after the part
}

// rested takes that a thread rests, as sampled does.
func (e *Edges) rested(r *etw.Record, place int, first bool) bool {
	if !isRest(r) {
		return false
	}
	x, at := of(&e.rests, hash(uint64(r.ProcessID), uint64(r.ThreadID))), timeOf(r)
	if place < 0 && !first {
		return at >= x.began
	}
	stays := !x.over
	if at != x.till {
		x.began, x.over = at, place > 0
	}
	ns, _ := binary.Uvarint(r.Payload)
	x.till = at + int64(ns)
	return stays
}

func isRest(r *etw.Record) bool {
	return r.ProviderName == recorder && r.Schema != nil && r.Schema.Name == "cswitch"
}

// of returns the state of a subject.
func of[T any](all *map[uint64]*T, x uint64) *T {
	if *all == nil {
		*all = make(map[uint64]*T)
	}
	if (*all)[x] == nil {
		if len(*all) >= maxRunners {
			return new(T)
		}
		(*all)[x] = new(T)
	}
	return (*all)[x]
}

// Keywords of the runtime's events of collections: GC, and GCHeapDump.
const collectionKeywords = 0x1 | 0x100000

// OfCollections reports whether a record of the .NET runtime tells of collections, for which it stops
// all threads.
func OfCollections(r *etw.Record) bool {
	return r.Provider == clrProvider && r.Keywords&collectionKeywords != 0 && r.Level <= etw.LevelInformational
}

var clrProvider = clr.Provider.Desc.GUID

// Events of the runtime.
const (
	gcStart      = 1
	gcEnd        = 2
	restartEnd   = 3
	suspendBegin = 9
)

// courseOf returns the course that a record belongs to, or nil, and of which begins or ends in it.
func (e *Edges) courseOf(r *etw.Record) (c *course, of subject, turns, begins bool) {
	if r.Kind != etw.KindManifest {
		return nil, 0, false, false
	}
	if OfCollections(r) {
		c, of = &e.collections, hash(uint64(r.ProcessID))
		if r.ID == gcStart || r.ID == gcEnd {
			of = hash(of, 1, offset{}.number(r, 4))
		}
		return c, of, r.ID == gcStart || r.ID == gcEnd || r.ID == suspendBegin || r.ID == restartEnd, r.ID == gcStart || r.ID == suspendBegin
	}
	turns = r.Schema != nil && !r.ActivityID.IsZero() && (r.Opcode == etw.OpcodeStart || r.Opcode == etw.OpcodeStop)
	if !turns && (e.Flows == nil || !e.Flows(r)) {
		return nil, 0, false, false
	}
	return &e.activities, hash(uint64(r.ProcessID), idHash(r.ActivityID)), turns, r.Opcode == etw.OpcodeStart
}

func idHash(id etw.GUID) uint64 {
	return hash(binary.LittleEndian.Uint64(id[:]), binary.LittleEndian.Uint64(id[8:]))
}

// onThread returns the subject of a record of .NET, or of a recorder of Linux, of which the last one
// before the part, and the first one after it, on each thread tell its state at the ends.
func onThread(r *etw.Record) (subject, bool) {
	is := r.Provider == clrProvider && !OfCollections(r) || r.Provider == tasks && r.ID == setActivity || isTracepoint(r) || r.ProviderName == recorder && !isRest(r)
	return aThread.of(hash(uint64(r.ProcessID), uint64(r.ThreadID), uint64(r.Provider[0]), uint64(r.ID))), is && r.Kind == etw.KindManifest
}

const (
	sampler  = "Microsoft-DotNETCore-SampleProfiler"
	recorder = "Universal.Events" // of Linux
)

// System.Threading.Tasks.TplEventSource, and its event that says for which activity a thread works.
var tasks = etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")

const setActivity = 25

// isTracepoint reports whether a record is of the kernel of Linux.
func isTracepoint(r *etw.Record) bool {
	return r.Schema != nil && len(r.Schema.Fields) > 0 && r.Schema.Fields[0].Name == "common_type"
}

// hash mixes numbers.
func hash(numbers ...uint64) (h uint64) {
	const mix = 0x9e3779b97f4a7c15
	for _, n := range numbers {
		h = (h ^ n ^ h>>32) * mix
	}
	return h
}

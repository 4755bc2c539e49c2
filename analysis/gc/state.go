package gc

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
)

// A collection is a garbage collection while its events come. Times are ticks.
type collection struct {
	number     uint32
	generation Generation
	reason     clr.GCReason
	kind       Kind
	trigger    int64 // thread, 0 if unknown

	began, ended bool // the records of both were seen
	drained      bool
	begin, end   int64
	statsSeen    bool
	released     bool  // the suspension that it began in is over
	goneOn       int64 // when the program went on after its last pause

	suspended         bool // a suspension was there when it began
	pauseStart        int64
	ran               int64 // how long the program could run until it began
	pause, first, fin int64 // pause, and of it the first and the last one
	hasFinal          bool
	suspend           int64 // -1 is unknown
	lastEnd           int64 // end of the last pause for a collection before this one
	lastEndKnown      bool
	doneBlocking      bool

	stats     heapStats
	hasGlobal bool
	global    global
	heaps     []Heap
	marks     []mark
	ticks     [3]uint64
	committed [2]*Committed
	dynamic   []Dynamic
	pins      []pin
	plugs     []plug
	pinned    *Pinned
	// cpu is the processor time of the collection, and processCPU that of the process
	// since the collection before ended, in units of 100 ns.
	cpu, processCPU int64
}

// A heapStats is the contents of GCHeapStats, in bytes by generation.
type heapStats struct {
	size, promoted       [generations]uint64
	finalBytes, finalN   uint64
	pinned, sync, handle uint32
}

// A global is the contents of GCGlobalHeapHistory.
type global struct {
	heaps      int
	condemned  uint32
	reason     clr.GCReason
	mechanisms clr.GCGlobalMechanisms
	hasMode    bool // version 2 and later: mode and load
	mode       clr.GCPauseMode
	load       uint32
	hasReasons bool // version 3 and later
	reasons0   uint32
	reasons1   uint32
	times      [8]uint32 // µs
	timesN     int
}

type mark struct {
	heap     uint32
	root     clr.GCRootKind
	at       int64
	bytes    uint64
	hasBytes bool
}

type pin struct{ object, size uint64 }

// rooms are for parts of collections that are still to come.
type rooms struct {
	gcs   []collection
	heaps []Heap
	marks []mark
}

type plug struct{ start, end uint64 }

// complete reports whether all that the collection must have was seen.
func (c *collection) complete() bool {
	return c.began && c.ended && c.statsSeen && (c.released || !c.suspended)
}

// A suspension is a time for which a thread stops all others. Times are ticks.
type suspension struct {
	thread  int64
	lost    uint32 // events of the thread before: see [etw.Record]
	reason  clr.GCSuspendEEReason
	begin   int64
	ready   int64 // when all threads stood still
	isReady bool
	release int64         // when they were let go, 0 if that is not known
	gcs     []*collection // that began in it
}

// reasons counts those that a suspension can have, and one for all others.
const reasons = 9

type reasonTotal struct {
	count               int
	ticks, max, suspend int64
	restart             int64 // after threads were let go
}

// A state is the state of one runtime.
type state struct {
	window  window.Window // in ticks
	room    rooms
	open    []suspension // by begin
	gcs     []*collection
	running []*collection // without end
	current *collection   // the blocking one that is under way
	bgc     *collection   // the background one that is under way
	ended   map[int64]*collection
	history map[int64]history

	byReason    [reasons]reasonTotal
	withoutGC   reasonTotal
	lostEnds    int
	lostBegins  int
	pauseEnd    int64 // of the last suspension for collections
	hasPause    bool
	lastEnd     int64 // of the last pause of a collection
	hasLast     bool
	firstPause  int64
	firstHeaps  int
	cpu         cpu
	settings    *Settings
	server      *bool
	before      allocated // the first of gcs
	over        int64     // how long the session was when its rundown began, 0 without one
	stood       int64     // how long all threads stood still for collections
	trigger     int64
	ticks       [3]uint64
	ticksSince  [3]uint64
	seen        bool // anything of collections
	waits       []wait
	finalizers  finalizers
	finalized   map[uint64]uint64
	finalizedBy map[string]uint64 // by the name in UTF-16, of private events
}

// history is where the records of heaps on a thread go.
type history struct {
	gc   *collection
	left int
}

type runtime = lives.Runtime[state]

// maxOpen bounds the collections that a damaged trace can leave open. Real ones have one
// suspension and two collections at a time.
const maxOpen = 256

// inProgress returns the collection that the events within a collection are of,
// or nil.
func (s *state) inProgress() *collection {
	return cmp.Or(s.current, s.bgc)
}

// within returns how much of a time is in the window.
func (s *state) within(from, to int64) int64 {
	from, to = s.window.Clip(from, to)
	return to - from
}

// add lists a new collection.
func (s *state) add(c *collection) {
	s.seen = true
	s.gcs = append(s.gcs, c)
}

// run notes that c has begun.
func (s *state) run(c *collection) {
	if len(s.running) == maxOpen {
		copy(s.running, s.running[1:])
		s.running = s.running[:maxOpen-1]
	}
	s.running = append(s.running, c)
}

// finish takes the collection with a number from those that have begun.
func (s *state) finish(number uint32) *collection {
	for i := len(s.running) - 1; i >= 0; i-- {
		if c := s.running[i]; c.number == number {
			copy(s.running[i:], s.running[i+1:])
			s.running = s.running[:len(s.running)-1]
			return c
		}
	}
	return nil
}

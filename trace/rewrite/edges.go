package rewrite

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Edges find the records on both sides of a part of the time that tell the state at its ends: of each
// thread and processor the last context switches before and the first one after, who made the
// thread ready, the begins and ends of requests to files and disks, and events that say how long
// something took which began before the end.
//
// They see a trace twice: by Look up to the part, then as the Edges of a [Keeper] all of it.
type Edges struct {
	// Place says where a record lies: below 0 before the part, 0 in it, above 0 after it.
	Place func(*etw.Record) int
	// Others are those of a Keeper.
	Others bool
	// Flows reports which records tell of activities, and for whom threads work. Without it there are none.
	Flows func(*etw.Record) bool
	// Turn reports whether a record begins or ends an activity that has an id of its own, and which.
	Turn func(*etw.Record) (id etw.GUID, begins, ok bool)

	runners runners // in the first pass
	wakers  wakers  // in it
	open    map[subject]uint64
	spots   map[uint64]bool // of the records before the part that stay; nil in the first pass
	met     map[subject]bool

	collections, activities course
	rounds                  map[uint64]*rounds // by process
	rests                   map[uint64]*rest   // by thread
}

// A subject is a thread, a processor, or a request: its number, with the kind above.
type subject = uint64

type subjectKind uint8

const (
	aThread subjectKind = iota
	wentOff             // a thread again, as what a processor left
	readied             // and as what another one made ready since then
	aProcessor
	fileRequest
	diskRequest
	poolMemory
	heapMemory
	openFile
	aMethod // of .NET, that is compiled
	workItem
	activity
)

func (k subjectKind) of(number uint64) subject { return number ^ uint64(k)<<56 }

// spotOf tells a record from others of its trace, but for such as are of one kind, time, thread and processor.
func spotOf(r *etw.Record) uint64 {
	return hash(uint64(r.Timestamp), uint64(r.Processor), uint64(r.ThreadID), uint64(r.Key().ID), uint64(r.Provider[0]))
}

// A step says how an event changes the state.
type step struct {
	does     stepKind
	of       etw.GUID    // class or provider
	numbers  []uint16    // of events
	kind     subjectKind // of a request
	request  offset      // where the request stands, or the thread that comes or is ready
	goes     offset      // where the thread stands that goes
	began    offset      // where it says when it began, or how long ago
	hasBegan bool
	moves    bool // memory: the request is where it is from then on, and where it was is free
}

type stepKind uint8

const (
	noStep stepKind = iota
	switches
	readies
	begins
	ends
	lasted // it began before: the time of that is in it
	allocates
	frees
	releases // any of those that were allocated before, or takes their place
)

// An offset is so many bytes and pointers into a payload.
type offset struct{ bytes, pointers int }

func (o offset) in(r *etw.Record) int { return o.bytes + o.pointers*r.PointerSize.Bytes() }

// number returns the number that stands there: 0 if the payload ends before.
func (o offset) number(r *etw.Record, size int) uint64 {
	at := o.in(r)
	if len(r.Payload) < at+size {
		return 0
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(r.Payload[at:]))
	}
	return binary.LittleEndian.Uint64(r.Payload[at:])
}

// Classes whose generated types would be 70 kB of a program; steps have the numbers of events for
// the same reason.
var (
	diskClass   = etw.MustParseGUID("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c")
	kernelDisk  = etw.MustParseGUID("c7bde69a-e1e0-4177-b6ef-283ad1525271") // Microsoft-Windows-Kernel-Disk
	memoryClass = etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c")
	fileClass   = etw.Versions(new(kernel.AnyFileIoName))[0].Class
	poolClass   = etw.MustParseGUID("0268a8b6-74fd-4302-9dd0-6e8f1795c0cf")
	heapClass   = etw.MustParseGUID("222962ab-6180-4b88-a825-346b75f2a24a")
	objectClass = etw.MustParseGUID("89497f50-effe-4440-8cf2-ce6b1cdcaca7")
	netPool     = etw.MustParseGUID("8e9f5090-2d75-4d03-8a81-e5afbf85daf1") // System.Diagnostics.Eventing.FrameworkEventSource
)

// isDisk reports whether a record is of a request to a disk.
func isDisk(r *etw.Record) bool { return r.Provider == diskClass || r.Provider == kernelDisk }

// givesBack reports whether a record may be about memory, or a handle, that was allocated before.
func givesBack(r *etw.Record) bool {
	if r.Provider != memoryClass && r.Provider != heapClass && r.Provider != objectClass {
		return false
	}
	s, _ := stepOf(r)
	return s.does == releases || s.moves
}

// openedFile returns the file that a request opens, or closes, as which later ones know it.
func openedFile(r *etw.Record) (of subject, opens, ok bool) {
	at, closes := offset{pointers: 1}, false
	switch number := r.Key().ID; {
	case r.Provider == fileClass && (number == 64 || number == 66):
		opens, closes = number == 64, number == 66
		if r.Version < 3 { // the thread stands before it
			at.pointers = 2
		}
	case r.Provider == file.Provider.Desc.GUID && (number == 12 || number == 14):
		opens, closes = number == 12, number == 14
		if r.Version < 1 {
			at.pointers = 2
		}
	}
	return openFile.of(at.number(r, r.PointerSize.Bytes())), opens, opens || closes
}

// answeredDisk returns the number of the disk of which a record is an answer.
func answeredDisk(r *etw.Record) (disk uint32, ok bool) {
	if !isDisk(r) || len(r.Payload) < 4 {
		return 0, false
	}
	s, _ := stepOf(r)
	return binary.LittleEndian.Uint32(r.Payload), s.does == ends
}

// steps is the table of the events that change the state.
var steps = []step{
	{does: switches, of: threadClass, numbers: []uint16{uint16(threadSwitch)}, goes: offset{bytes: 4}},
	{does: readies, of: threadClass, numbers: []uint16{uint16(threadReady)}},
	{does: begins, of: fileClass, numbers: []uint16{64, 65, 66, 69, 70, 71, 72, 73, 74, 75}, kind: fileRequest},
	{does: begins, of: fileClass, numbers: []uint16{67, 68}, kind: fileRequest, request: offset{8, 0}},
	{does: ends, of: fileClass, numbers: []uint16{76}, kind: fileRequest},
	{does: begins, of: file.Provider.Desc.GUID, numbers: []uint16{12, 13, 14, 17, 18, 19, 20, 21, 22, 23}, kind: fileRequest},
	{does: begins, of: file.Provider.Desc.GUID, numbers: []uint16{15, 16}, kind: fileRequest, request: offset{8, 0}},
	{does: ends, of: file.Provider.Desc.GUID, numbers: []uint16{24}, kind: fileRequest},
	{does: begins, of: diskClass, numbers: []uint16{12, 13, 15}, kind: diskRequest},
	{does: ends, of: diskClass, numbers: []uint16{10, 11}, kind: diskRequest, request: offset{24, 1}, began: offset{24, 2}, hasBegan: true},
	{does: ends, of: kernelDisk, numbers: []uint16{10, 11}, kind: diskRequest, request: offset{24, 1}, began: offset{24, 2}, hasBegan: true},
	{does: ends, of: diskClass, numbers: []uint16{14}, kind: diskRequest, request: offset{16, 0}, began: offset{8, 0}, hasBegan: true},
	{does: ends, of: kernelDisk, numbers: []uint16{14}, kind: diskRequest, request: offset{16, 0}, began: offset{8, 0}, hasBegan: true},
	{does: allocates, of: poolClass, numbers: []uint16{32, 33}, kind: poolMemory, request: offset{8, 1}},
	{does: frees, of: poolClass, numbers: []uint16{34, 35}, kind: poolMemory, request: offset{8, 1}},
	{does: allocates, of: heapClass, numbers: []uint16{33}, kind: heapMemory, request: offset{0, 2}},
	{does: allocates, of: heapClass, numbers: []uint16{34}, kind: heapMemory, request: offset{0, 1}, moves: true},
	{does: frees, of: heapClass, numbers: []uint16{36}, kind: heapMemory, request: offset{0, 1}},
	{does: releases, of: heapClass, numbers: []uint16{35}},
	{does: releases, of: memoryClass, numbers: []uint16{98, 99}},
	{does: releases, of: objectClass, numbers: []uint16{33}},
	{does: begins, of: clrProvider, numbers: []uint16{145}, kind: aMethod},
	{does: ends, of: clrProvider, numbers: []uint16{143}, kind: aMethod},
	{does: begins, of: clrProvider, numbers: []uint16{61, 63}, kind: workItem},
	{does: ends, of: clrProvider, numbers: []uint16{62, 64}, kind: workItem},
	{does: begins, of: netPool, numbers: []uint16{30}, kind: workItem},
	{does: ends, of: netPool, numbers: []uint16{31}, kind: workItem},
	{does: lasted, of: memoryClass, numbers: []uint16{32}},
	{does: lasted, of: perfClass, numbers: []uint16{50, 66, 67, 68, 69}},
	{does: lasted, of: registryClass, numbers: []uint16{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 26, 27}},
}

// Steps of the scheduler of Linux, whose events have no fixed numbers.
var (
	linuxSwitch = step{does: switches, request: offset{bytes: 56}, goes: offset{bytes: 24}}
	linuxWake   = step{does: readies, request: offset{bytes: 24}}
)

// stepOf returns how a record changes the state, and the request that it is about.
func stepOf(r *etw.Record) (*step, subject) {
	if r.ProviderName == "sched" && isTracepoint(r) {
		switch {
		case r.Schema.Name == "sched_switch" && len(r.Payload) >= 60:
			return &linuxSwitch, 0
		case (r.Schema.Name == "sched_waking" || strings.HasPrefix(r.Schema.Name, "sched_wakeup")) && len(r.Payload) >= 28:
			return &linuxWake, 0
		}
	}
	number := r.Key().ID
	for i := range steps {
		s := &steps[i]
		if s.of == r.Provider && slices.Contains(s.numbers, number) {
			if (s.does == switches || s.does == readies) && len(r.Payload) < 8 {
				break
			}
			number := s.request.number(r, r.PointerSize.Bytes())
			if s.kind == aMethod || s.kind == workItem || s.kind == heapMemory { // of a process
				number = hash(uint64(r.ProcessID), number)
			}
			return s, s.kind.of(number)
		}
	}
	return new(step), 0
}

// stepOf returns how a record changes the state, and the request that it is about.
func (e *Edges) stepOf(r *etw.Record) (*step, subject) {
	s, request := stepOf(r)
	if s.does == noStep && e.Turn != nil {
		if id, starts, ok := e.Turn(r); ok && starts {
			return &step{does: begins}, activity.of(hash(uint64(r.ProcessID), idHash(id)))
		} else if ok {
			return &step{does: ends}, activity.of(hash(uint64(r.ProcessID), idHash(id)))
		}
	}
	return s, request
}

// Requests are those of chosen records to files and disks that are not over, and their memory of
// pools: the end is the event of whoever was on then, or of nobody.
type requests map[subject]bool

// chose takes a chosen record.
func (q *requests) chose(r *etw.Record) {
	switch s, request := stepOf(r); s.does {
	case begins, allocates:
		if *q == nil {
			*q = make(requests)
		}
		if len(*q) < maxRunners {
			(*q)[request] = true
		}
	case ends, frees:
		delete(*q, request)
	}
}

// needs reports whether a record is the end of one of the requests.
func (q requests) needs(r *etw.Record) bool {
	if len(q) == 0 {
		return false
	}
	s, request := stepOf(r)
	over := s.does == ends || s.does == frees
	if !over && s.does != begins && s.does != allocates || !q[request] {
		return false
	}
	delete(q, request) // also where another one has its place: the end is missing
	return over
}

// Look takes a record, in the order of the trace, and reports whether there is more to look at:
// the part has not begun yet. passes says whether nothing but the time is against choosing it.
func (e *Edges) Look(r *etw.Record, passes bool) (more bool) {
	if e.Place(r) >= 0 {
		return false
	}
	e.opened(r)
	if passes {
		e.runners.chose(r)
	} else if !e.runners.needs(r) && !(e.Others && (isDisk(r) || e.wakers.tell(r))) {
		if s, request := stepOf(r); s.does == begins || s.does == ends { // whoever logs it
			delete(e.open, request)
		}
		return true
	}
	e.begin(r)
	return true
}

// opened takes a record before the part. The name of a file stays until the request is over that closes it.
func (e *Edges) opened(r *etw.Record) {
	if r.Provider != fileClass && r.Provider != file.Provider.Desc.GUID {
		return
	}
	s, request := stepOf(r)
	closing := hash(request, 1)
	switch file, opens, ok := openedFile(r); {
	case opens:
		e.set(file, r)
	case ok && e.open[file] != 0:
		e.open[closing] = e.open[file]
		delete(e.open, file)
	case s.does == ends:
		delete(e.open, closing)
	}
}

// begin takes a record before the part: it changes the state.
func (e *Edges) begin(r *etw.Record) {
	s, request := e.stepOf(r)
	switch s.does {
	case switches:
		comes, goes := s.request.number(r, 4), s.goes.number(r, 4)
		for _, x := range []subject{aProcessor.of(uint64(r.Processor)), aThread.of(comes), wentOff.of(goes)} {
			e.set(x, r)
		}
		delete(e.open, readied.of(goes))
	case readies:
		if x := readied.of(s.request.number(r, 4)); e.open[x] == 0 { // who comes later has no part in it
			e.set(x, r)
		}
	case begins:
		e.set(request, r)
	case ends:
		delete(e.open, request)
	}
	e.state(r, -1, true)
	if x, ok := onThread(r); ok && s.does == noStep {
		e.set(x, r)
	}
	e.follow(r)
}

// follow takes a record of a course up to the end of the part.
func (e *Edges) follow(r *etw.Record) {
	if c, of, turns, begins := e.courseOf(r); turns {
		c.take(r, of, begins)
	}
}

// state takes a record that samples a thread, or says that it rests, and reports whether it stays.
func (e *Edges) state(r *etw.Record, place int, first bool) bool {
	return e.sampled(r, place, first) || e.rested(r, place, first)
}

func (e *Edges) set(x subject, r *etw.Record) {
	if e.open == nil {
		e.open = make(map[subject]uint64)
	}
	if len(e.open) < maxRunners {
		e.open[x] = spotOf(r)
	}
}

// within takes a chosen record, and so knows the requests that are not over at the end.
func (e *Edges) within(r *etw.Record) {
	switch s, request := e.stepOf(r); s.does {
	case begins:
		e.set(request, r)
	case ends:
		delete(e.open, request)
	}
	e.follow(r)
	e.state(r, 0, true)
}

// keeps reports whether a record that is not in the part stays.
func (e *Edges) keeps(r *etw.Record) bool {
	if e.spots == nil {
		e.spots = make(map[uint64]bool)
		for _, at := range e.open {
			e.spots[at] = true
		}
		e.collections.settle()
		e.activities.settle()
	}
	c, of, turns, starts := e.courseOf(r)
	place := e.Place(r)
	if e.state(r, place, false) {
		return true
	}
	if place < 0 {
		return e.spots[spotOf(r)] || c != nil && c.any && timeOf(r) >= c.since
	}
	goesOn := c != nil && c.goesOn(r, of, turns, starts)
	return e.follows(r) || goesOn
}

// follows reports whether a record after the part is the first one of its kind, or of an end.
func (e *Edges) follows(r *etw.Record) bool {
	s, request := e.stepOf(r)
	if x, ok := onThread(r); ok && s.does == noStep {
		return e.first(x)
	}
	switch s.does {
	case switches:
		return e.first(aProcessor.of(uint64(r.Processor)), aThread.of(s.request.number(r, 4)), aThread.of(s.goes.number(r, 4)))
	case readies:
		thread := s.request.number(r, 4)
		return !e.met[aThread.of(thread)] && e.first(readied.of(thread))
	case begins:
		delete(e.open, request)
	case ends:
		_, is := e.open[request]
		delete(e.open, request)
		return is || s.hasBegan && e.began(r, r.Timestamp-int64(s.began.number(r, 8)))
	case lasted:
		return e.began(r, int64(s.began.number(r, 8)))
	}
	return givesBack(r)
}

// first reports whether there was none yet of one of the subjects.
func (e *Edges) first(of ...subject) bool {
	is := false
	for _, x := range of {
		if !e.met[x] && len(e.met) < maxRunners {
			if e.met == nil {
				e.met = make(map[subject]bool)
			}
			e.met[x], is = true, true
		}
	}
	return is
}

// began reports whether a record is of something that began before the end of the part.
func (e *Edges) began(r *etw.Record, at int64) bool {
	then := *r
	then.Timestamp = at
	return at > 0 && e.Place(&then) <= 0
}

package rewrite

import (
	"encoding/binary"
	"slices"

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
	// Disks are those of a Keeper.
	Disks bool

	runners runners // in the first pass
	open    map[subject]uint64
	spots   map[uint64]bool // of the records before the part that stay; nil in the first pass
	met     map[subject]bool
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
)

func (k subjectKind) of(number uint64) subject { return number ^ uint64(k)<<56 }

// spotOf tells a record from others of its trace, but for such as are of one kind, time and processor.
func spotOf(r *etw.Record) uint64 {
	const mix = 0x9e3779b97f4a7c15
	return (uint64(r.Timestamp)*mix+uint64(r.Processor))*mix + uint64(r.Opcode)<<32 + uint64(r.Provider[0])
}

// A step says how an event changes the state.
type step struct {
	does     stepKind
	of       etw.GUID    // class or provider
	numbers  []uint16    // of events
	kind     subjectKind // of a request
	request  offset      // where the request stands
	began    offset      // where it says when it began, or how long ago
	hasBegan bool
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
	memoryClass = etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c")
	fileClass   = etw.Versions(new(kernel.AnyFileIoName))[0].Class
	poolClass   = etw.MustParseGUID("0268a8b6-74fd-4302-9dd0-6e8f1795c0cf")
	perfClass   = etw.Versions(new(kernel.AnyPerfInfoSetInterval))[0].Class
)

// isDisk reports whether a record is of a request to a disk.
func isDisk(r *etw.Record) bool { return r.Kind == etw.KindClassic && r.Provider == diskClass }

// steps is the table of the events that change the state.
var steps = []step{
	{does: switches, of: threadClass, numbers: []uint16{uint16(threadSwitch)}},
	{does: readies, of: threadClass, numbers: []uint16{uint16(threadReady)}},
	{does: begins, of: fileClass, numbers: []uint16{64, 65, 66, 69, 70, 71, 72, 73, 74, 75}, kind: fileRequest},
	{does: begins, of: fileClass, numbers: []uint16{67, 68}, kind: fileRequest, request: offset{8, 0}},
	{does: ends, of: fileClass, numbers: []uint16{76}, kind: fileRequest},
	{does: begins, of: file.Provider.Desc.GUID, numbers: []uint16{12, 13, 14, 17, 18, 19, 20, 21, 22, 23}, kind: fileRequest},
	{does: begins, of: file.Provider.Desc.GUID, numbers: []uint16{15, 16}, kind: fileRequest, request: offset{8, 0}},
	{does: ends, of: file.Provider.Desc.GUID, numbers: []uint16{24}, kind: fileRequest},
	{does: begins, of: diskClass, numbers: []uint16{12, 13, 15}, kind: diskRequest},
	{does: ends, of: diskClass, numbers: []uint16{10, 11}, kind: diskRequest, request: offset{24, 1}, began: offset{24, 2}, hasBegan: true},
	{does: ends, of: diskClass, numbers: []uint16{14}, kind: diskRequest, request: offset{16, 0}, began: offset{8, 0}, hasBegan: true},
	{does: allocates, of: poolClass, numbers: []uint16{32, 33}, kind: poolMemory, request: offset{8, 1}},
	{does: frees, of: poolClass, numbers: []uint16{34, 35}, kind: poolMemory, request: offset{8, 1}},
	{does: lasted, of: memoryClass, numbers: []uint16{32}},
	{does: lasted, of: perfClass, numbers: []uint16{50, 66, 67, 68, 69}},
	{does: lasted, of: registryClass, numbers: []uint16{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 26, 27}},
}

// stepOf returns how a record changes the state, and the request that it is about.
func stepOf(r *etw.Record) (*step, subject) {
	number := r.Key().ID
	for i := range steps {
		s := &steps[i]
		if s.of == r.Provider && slices.Contains(s.numbers, number) {
			if (s.does == switches || s.does == readies) && len(r.Payload) < 8 {
				break
			}
			return s, s.kind.of(s.request.number(r, r.PointerSize.Bytes()))
		}
	}
	return new(step), 0
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
	if passes {
		e.runners.chose(r)
	} else if !e.runners.needs(r) && !(e.Disks && isDisk(r)) {
		return true
	}
	e.begin(r)
	return true
}

// begin takes a record before the part: it changes the state.
func (e *Edges) begin(r *etw.Record) {
	switch s, request := stepOf(r); s.does {
	case switches:
		comes, goes := offset{}.number(r, 4), offset{bytes: 4}.number(r, 4)
		for _, x := range []subject{aProcessor.of(uint64(r.Processor)), aThread.of(comes), wentOff.of(goes)} {
			e.set(x, r)
		}
		delete(e.open, readied.of(goes))
	case readies:
		if x := readied.of(offset{}.number(r, 4)); e.open[x] == 0 { // who comes later has no part in it
			e.set(x, r)
		}
	case begins:
		e.set(request, r)
	case ends:
		delete(e.open, request)
	}
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
	switch s, request := stepOf(r); s.does {
	case begins:
		e.set(request, r)
	case ends:
		delete(e.open, request)
	}
}

// keeps reports whether a record that is not in the part stays.
func (e *Edges) keeps(r *etw.Record) bool {
	if e.spots == nil {
		e.spots = make(map[uint64]bool)
		for _, at := range e.open {
			e.spots[at] = true
		}
	}
	if e.Place(r) < 0 {
		return len(e.spots) > 0 && e.spots[spotOf(r)]
	}
	switch s, request := stepOf(r); s.does {
	case switches:
		return e.first(aProcessor.of(uint64(r.Processor)), aThread.of(offset{}.number(r, 4)), aThread.of(offset{bytes: 4}.number(r, 4)))
	case readies:
		thread := offset{}.number(r, 4)
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
	return false
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

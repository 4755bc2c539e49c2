package rewrite

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Stays are the times of threads on processors, by switches of which most are not written. Of those
// between two that are, some stay: the shortest way from the thread that came to the one that goes.
// So two switches of a processor contradict each other only where those of the whole trace do, as events
// are missing, and the last one before an event tells which thread was on.
type stays struct {
	w    *etl.Writer
	raw  func() etl.Origin              // of the record that was delivered last
	hold func(*etw.Record) func() error // writes one later
	of   map[int32]*stay                // by processor
	turn map[uint32]uint64              // how often a number became that of another thread
	last *waiting                       // the latest that tells how long threads were seen, if it waits
	ends map[etw.GUID]*waiting          // the latest of any, and those of classes that name things, if they wait
	late map[uint32]*waiting            // the latest answer of each disk, and the latest sample, if they wait
	kept int64

	lookup lookup
}

// A stay has the records of a processor that wait, in the order of time.
type stay struct {
	queue []*waiting
	path  []*waiting // the switches among them, each from the thread to which the one before went
	base  uint64     // the thread to which the last switch went that is written
	on    uint64     // the thread that is on
	begun bool       // there was a switch: the first and the last one say when there were any
	spare []*waiting
}

// A waiting record is to be written, or may be: it was passed.
type waiting struct {
	write  func() error // of one that is to be; nil of one that was passed
	record etw.Record
	raw    etl.Origin
	to     uint64
	gone   bool
}

// maxWaiting is how many records of a processor wait.
const maxWaiting = 1 << 9

// at returns the stay in which a record was, or nil.
func (s *stays) at(r *etw.Record) *stay {
	x := s.of[r.Processor]
	if x == nil && r.Processor >= 0 {
		x = new(stay)
		s.of[r.Processor] = x
	}
	return x
}

// thread names a thread whose number stands in a switch.
func (s *stays) thread(r *etw.Record, at int) uint64 {
	tid := binary.LittleEndian.Uint32(r.Payload[at:])
	return s.turn[tid]<<32 | uint64(tid)
}

// starts takes that a number is that of another thread.
func (s *stays) starts(tid uint32) {
	if s.turn == nil {
		s.turn = make(map[uint32]uint64)
	}
	if len(s.turn) < maxRunners {
		s.turn[tid]++
	}
}

// pass takes a record that is not to be written, and reports whether it is all the same.
func (s *stays) pass(r *etw.Record) (needed bool, err error) {
	late, isLate := lateOf(r)
	of := roleOf(r)
	if !isLate && (of == noRole || of == newOwner) {
		return false, nil
	}
	x := s.at(r)
	switch {
	case x == nil:
		return false, nil
	case of == noRole:
		s.follow(late, s.wait(x, r))
	case of != aSwitch && s.last != nil && len(x.queue) > 0 && s.last == x.queue[len(x.queue)-1] && of == roleOf(&s.last.record):
		s.fill(s.last, r)
		return false, nil
	case of != aSwitch:
		s.dropLast()
		if s.last = s.wait(x, r); isLate {
			s.follow(late, s.last)
		}
	case !x.begun || x.on != s.thread(r, 4):
		return true, nil
	default:
		s.dropLast()
		s.shorten(x)
		w := s.wait(x, r)
		w.to = s.thread(r, 0)
		x.on, x.path = w.to, append(x.path, w)
	}
	return false, s.tidy(x)
}

// wait has a record wait that may be written.
func (s *stays) wait(x *stay, r *etw.Record) *waiting {
	w := new(waiting)
	if n := len(x.spare); n > 0 {
		w, x.spare = x.spare[n-1], x.spare[:n-1]
	}
	s.fill(w, r)
	x.queue = append(x.queue, w)
	return w
}

func (s *stays) fill(w *waiting, r *etw.Record) {
	payload := append(w.record.Payload[:0], r.Payload...)
	w.raw = append(w.raw[:0], s.raw()...)
	w.record, w.gone = *r, false
	w.record.Payload = payload
}

// shorten leaves out the switches since the thread to which the last one went was on before.
func (s *stays) shorten(x *stay) {
	n := len(x.path)
	if n == 0 {
		return
	}
	keep, to := n, x.path[n-1].to
	if to == x.base {
		keep = 0
	} else if i := slices.IndexFunc(x.path[:n-1], func(w *waiting) bool { return w.to == to }); i >= 0 {
		keep = i + 1
	}
	for _, w := range x.path[keep:] {
		w.gone = true
	}
	x.path = x.path[:keep]
}

// dropLast has the latest record that tells of threads not be that any more.
func (s *stays) dropLast() {
	if s.last != nil {
		s.last.gone, s.last = s.last != s.late[ofSamples], nil
	}
}

// dropEnds has the latest record, and that of a class, not be that any more.
func (s *stays) dropEnds(of etw.GUID) {
	for _, of := range []etw.GUID{{}, of} {
		if w := s.ends[of]; w != nil {
			w.gone = true
			delete(s.ends, of)
		}
	}
}

// mayEnd takes a record that is not to be written, unless it is the last one, or the last of those of its
// class that name things: of these, too, an analysis learns how long the session was.
func (s *stays) mayEnd(r *etw.Record) {
	x := s.at(r)
	if _, ok := lateOf(r); x == nil || ok || roleOf(r) != noRole { // these wait as it is
		return
	}
	of := etw.GUID{}
	if s.lookup.reasonFor(r) != notNeeded {
		of = r.Provider
	}
	if s.ends == nil {
		s.ends = make(map[etw.GUID]*waiting)
	}
	s.dropEnds(of)
	s.ends[of] = s.wait(x, r)
}

// ofSamples is the number of no disk.
const ofSamples = math.MaxUint32

// lateOf returns the series whose latest record one may be: the answers of a disk, or the samples.
func lateOf(r *etw.Record) (of uint32, ok bool) {
	if roleOf(r) == aSample {
		return ofSamples, true
	}
	return answeredDisk(r)
}

// follow takes that a record is the latest now: one that waits, or one that is written, nil. Before an
// answer that is written stays the one before.
func (s *stays) follow(of uint32, w *waiting) {
	if before := s.late[of]; before != nil && (w != nil || of == ofSamples) {
		before.gone = true
	} else if before != nil {
		before.write = func() error { s.kept++; return s.w.WriteFrom(&before.record, before.raw) }
	}
	if s.late == nil {
		s.late = make(map[uint32]*waiting)
	}
	if s.late[of] = w; w == nil {
		delete(s.late, of)
	}
}

// tidy writes records before which none wait that may be written, and all if they are too many.
func (s *stays) tidy(x *stay) error {
	n := 0
	for ; n < len(x.queue) && (x.queue[n].gone || x.queue[n].write != nil); n++ {
		if err := s.leave(x, x.queue[n]); err != nil {
			return err
		}
	}
	x.queue = slices.Delete(x.queue, 0, n)
	if len(x.queue) < maxWaiting {
		return nil
	}
	x.queue = order.Delete(x.queue, func(w *waiting) bool {
		if w.gone {
			x.spare = append(x.spare, w)
		}
		return w.gone
	})
	if len(x.queue) < maxWaiting/2 {
		return nil
	}
	return s.flush(x)
}

// leave writes a record that waited, unless it is not needed.
func (s *stays) leave(x *stay, w *waiting) error {
	if w == s.last {
		s.last = nil
	}
	for _, of := range []etw.GUID{{}, w.record.Provider} {
		if s.ends[of] == w {
			delete(s.ends, of)
		}
	}
	if of, ok := lateOf(&w.record); ok && s.late[of] == w {
		delete(s.late, of)
	}
	switch {
	case w.write != nil:
		return w.write()
	case !w.gone:
		s.kept++
		if err := s.w.WriteFrom(&w.record, w.raw); err != nil {
			return err
		}
	}
	x.spare = append(x.spare, w)
	return nil
}

// write takes a record that is to be written, and reports whether that has to wait.
func (s *stays) write(r *etw.Record) (waits bool, err error) {
	of := roleOf(r)
	if of == newOwner {
		s.starts(binary.LittleEndian.Uint32(r.Payload[4:]))
	}
	x := s.at(r)
	if late, ok := lateOf(r); ok {
		s.follow(late, nil)
	}
	if s.dropEnds(r.Provider); of != noRole {
		s.dropLast()
	}
	if x == nil {
		return false, nil
	}
	switch of {
	case aSwitch:
		if x.on == s.thread(r, 4) {
			s.shorten(x)
		}
		err = s.flush(x)
		x.begun, x.on = true, s.thread(r, 0)
		x.base = x.on
		return false, err
	case aReady:
		return false, s.flush(x)
	}
	if err = s.tidy(x); err == nil && len(x.queue) > 0 {
		x.queue = append(x.queue, &waiting{write: s.hold(r)})
		return true, nil
	}
	return false, err
}

// flush writes the records of a processor that wait.
func (s *stays) flush(x *stay) error {
	for _, w := range x.queue {
		if err := s.leave(x, w); err != nil {
			return err
		}
	}
	x.queue, x.path, x.base = x.queue[:0], x.path[:0], x.on
	return nil
}

func (s *stays) close() error {
	for _, cpu := range slices.Sorted(maps.Keys(s.of)) {
		if err := s.flush(s.of[cpu]); err != nil {
			return err
		}
	}
	return nil
}

package rewrite

import (
	"maps"
	"slices"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Stays are the times of threads on processors, by switches that are not written: an event that a thread could
// run does not tell who saw to that, but for the switches before and after it. Those that it needs are
// written once it is.
type stays struct {
	sink *etlSink
	of   map[int32]*stay // by processor
	kept int64
}

// A stay begins with a switch.
type stay struct {
	first   etw.Record
	raw     etl.Origin
	payload []byte
	held    bool           // first is not written, and neither is
	later   []func() error // what was to be since
	next    bool           // the switch that ends it is needed, too
	begun   bool           // there was a switch: the first and the last one say when there were any
}

// maxLater is how many records wait for one that needs the switch before them.
const maxLater = 1 << 12

// at returns the stay in which a record was, or nil.
func (s *stays) at(r *etw.Record) *stay {
	x := s.of[r.Processor]
	if x == nil && r.Processor >= 0 {
		x = new(stay)
		s.of[r.Processor] = x
	}
	return x
}

// pass takes a record that is not to be written, and reports whether it is all the same.
func (s *stays) pass(r *etw.Record) (needed bool, err error) {
	if r.Provider != threadClass || r.Kind != etw.KindClassic || r.Opcode != threadSwitch {
		return false, nil
	}
	x := s.at(r)
	if x == nil || x.next || !x.begun {
		return x != nil, nil
	}
	err = x.flush()
	x.raw, x.payload = append(x.raw[:0], s.sink.reader().Origin()...), append(x.payload[:0], r.Payload...)
	x.first, x.held = *r, true
	x.first.Payload = x.payload
	return false, err
}

// write takes a record that is to be written, and reports whether that has to wait.
func (s *stays) write(r *etw.Record) (waits bool, err error) {
	x := s.at(r)
	if x == nil {
		return false, nil
	}
	of := etw.Opcode(0)
	if r.Provider == threadClass && r.Kind == etw.KindClassic {
		of = r.Opcode
	}
	switch {
	case of == threadSwitch:
		x.begun = true
		err, x.next = x.flush(), false
	case of == threadReady:
		if x.next = true; x.held {
			s.kept++
			if err = s.sink.w.WriteFrom(&x.first, x.raw); err == nil {
				err = x.flush()
			}
		}
	case x.held && len(x.later) < maxLater:
		x.later = append(x.later, s.sink.hold(r))
		return true, nil
	case x.held:
		err = x.flush()
	}
	return false, err
}

// flush writes what waits, without the switch.
func (x *stay) flush() error {
	x.held = false
	for _, write := range x.later {
		if err := write(); err != nil {
			return err
		}
	}
	x.later = x.later[:0]
	return nil
}

func (s *stays) flush() error {
	for _, cpu := range slices.Sorted(maps.Keys(s.of)) {
		x := s.of[cpu]
		if x.held {
			s.kept++
			if err := s.sink.w.WriteFrom(&x.first, x.raw); err != nil {
				return err
			}
		}
		if err := x.flush(); err != nil {
			return err
		}
	}
	return nil
}

package rewrite

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/trace"
)

// A netSink writes records of any source to a .nettrace file.
type netSink struct {
	t     *trace.Trace
	w     *nettrace.Writer
	x     *Redactor
	stats *Stats
	lost  func() // tells the Writer of losses, at the end
	of    []*nettrace.Reader
}

// newNetSink begins a file of records of .nettrace and .netperf files.
func newNetSink(w io.Writer, t *trace.Trace, readers []*nettrace.Reader, x *Redactor, stats *Stats) (*netSink, error) {
	h := readers[0].Header()
	version := 4
	for _, r := range readers {
		other := r.Header()
		if other.Version == 6 || other.ProcessID != h.ProcessID || other.ProcessID < 0 || other.ProcessID > math.MaxUint32 {
			version = 6
		}
	}
	for _, r := range readers {
		if other := r.Header(); other.Clock.Start < h.Clock.Start {
			h = other
		}
	}
	if h.Version = version; version == 6 {
		if slices.ContainsFunc(readers, func(r *nettrace.Reader) bool { return r.Header().ProcessID != h.ProcessID }) {
			h.ProcessID = -1
			h.Keys = order.Delete(slices.Clone(h.Keys), func(kv nettrace.KeyValue) bool { return kv.Key == "ProcessId" })
		}
	}
	h.Keys = x.keys(h.Keys)
	s := &netSink{t: t, x: x, stats: stats, of: readers}
	s.lost = s.lostOfThreads
	var err error
	s.w, err = nettrace.NewWriter(w, h)
	return s, err
}

// newMixedSink begins a file of records of .etl files, of live sources, or of several
// formats.
func newMixedSink(w io.Writer, t *trace.Trace, readers []*etl.Reader, x *Redactor, stats *Stats) (*netSink, error) {
	h := nettrace.Header{Version: 6, Clock: t.Files()[0].Clock(), PointerSize: etw.Ptr64, ProcessID: -1}
	for _, f := range t.Files() {
		if c := f.Clock(); c.Start < h.Clock.Start {
			h.Clock = c
		}
		h.SamplingInterval = cmp.Or(h.SamplingInterval, f.Head().SamplingInterval)
	}
	if len(readers) > 0 {
		of := readers[0].Header()
		h.PointerSize, h.Processors = of.PointerSize, int(of.Processors)
	}
	x.header(new(etl.Header)) // a .nettrace file has no room for it
	s := &netSink{t: t, x: x, stats: stats}
	s.lost = func() { s.lostOfFiles(readers) }
	var err error
	s.w, err = nettrace.NewWriter(w, h)
	return s, err
}

func (s *netSink) write(rec *etw.Record) error { return s.from(rec, s.origin(rec)) }

func (s *netSink) hold(rec *etw.Record) func() error {
	o, held := s.origin(rec), rec.Clone()
	return func() error { return s.from(held, o) }
}

// origin returns the stream's facts about a record.
func (s *netSink) origin(rec *etw.Record) nettrace.Origin {
	if r, ok := s.t.File().Reader().(*nettrace.Reader); ok {
		return r.Origin()
	}
	if rec.ProviderName == "" {
		rec.ProviderName = rec.Provider.String()
	}
	return nettrace.Origin{CaptureThread: uint64(rec.ThreadID)}
}

// from writes a record.
func (s *netSink) from(rec *etw.Record, o nettrace.Origin) error {
	if rec.Kind != etw.KindManifest {
		s.stats.Classic++
		return nil
	}
	o.Thread, o.Capture = s.x.thread(o.Thread), s.x.thread(o.Capture)
	err := s.w.WriteFrom(rec, o)
	switch {
	case errors.Is(err, nettrace.ErrNoProvider):
		s.stats.Unnamed++
	case errors.Is(err, nettrace.ErrPointerSize):
		s.stats.OtherPointers++
	default:
		return err
	}
	return nil
}

func (s *netSink) close() error {
	s.lost()
	if slices.ContainsFunc(s.of, isBrokenOff) {
		return s.w.BreakOff()
	}
	return s.w.Close()
}

// lostOfThreads tells each stream's losses of its threads.
func (s *netSink) lostOfThreads() {
	var lost lossTables
	for _, r := range s.of {
		h, n := r.Header(), r.Stats()
		table := lossTable{clock: h.Clock, process: h.ProcessID, threads: make(map[int64]int64)}
		if h.Version == 6 { // threads are indexes, which only that stream knows
			table.process, table.threads[-1] = -1, n.Lost
		} else {
			for thread, n := range n.LostByThread {
				table.threads[int64(thread)] = n
			}
			table.threads[-1] += max(n.Undecodable-n.Lost, 0) // a .netperf has no numbers
		}
		lost.note(table)
	}
	for _, table := range lost {
		for thread, n := range table.threads {
			s.w.Lost(table.process, thread, n)
		}
	}
}

// lostOfFiles tells how much was lost in all: of a buffer one event at least.
func (s *netSink) lostOfFiles(readers []*etl.Reader) {
	lost := make(losses)
	for _, f := range s.t.Files() {
		if _, ok := f.Reader().(*etl.Reader); !ok {
			lost.note(lossOf{clock: f.Clock()}, f.Stats().Lost)
		}
	}
	events, buffers := lostOfSessions(readers)
	s.w.Lost(-1, -1, lost.sum()+events+buffers)
}

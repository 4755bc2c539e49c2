package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/perfdata"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// An outcome is the result of reading a trace to its end.
type outcome struct {
	opened bool
	err    error // of opening, or the one before io.EOF
	lost   int64 // events that the statistics say are missing or could not be read
}

// reports reports whether o says that something is missing which the intact trace
// has.
func (o outcome) reports(intact outcome) bool { return o.err != nil || o.lost > intact.lost }

// A source is a reader of any format.
type source interface {
	etw.Source
	io.Closer
}

// open opens a trace. .etl files are always sorted.
func open(f mutate.Format, in *meter, sorted bool) (source, func() int64, error) {
	if f.IsETL() {
		r, err := etl.NewReader(in, in.Size())
		if err != nil {
			return nil, nil, err
		}
		return r, func() int64 { n := r.Stats(); return n.Lost + n.Undecodable + n.Unknown }, nil
	}
	switch f {
	case mutate.EVTX:
		r, err := evtx.NewReader(in, in.Size())
		if err != nil {
			return nil, nil, err
		}
		return r, func() int64 { n := r.Stats(); return n.Undecodable + n.Missing + n.Remnants }, nil
	case mutate.Perf, mutate.PerfPacked:
		r, err := perfdata.NewReader(in, in.Size())
		if err != nil {
			return nil, nil, err
		}
		return r, func() int64 { n := r.Stats(); return n.Lost + n.Undecodable }, nil
	}
	var opts []nettrace.Option
	if !sorted {
		opts = append(opts, nettrace.WithFileOrder())
	}
	r, err := nettrace.NewReader(in, opts...)
	if err != nil {
		return nil, nil, err
	}
	return r, func() int64 { n := r.Stats(); return n.Lost + n.Undecodable }, nil
}

// read reads a trace to its end and hands on every record. It returns an error
// if the reader breaks its promises: it must end, with io.EOF for ever, after
// work in proportion to the input.
func read(f mutate.Format, data []byte, sorted bool, each func(*etw.Record)) (o outcome, broken error) {
	in := &meter{Reader: bytes.NewReader(data), left: 100*int64(len(data)) + 1<<20}
	r, lost, err := open(f, in, sorted)
	if err != nil {
		return outcome{err: err}, in.exceeded()
	}
	o.opened = true
	// A compressed buffer can hold many more records than it has bytes.
	most := 1000*len(data) + 1<<20
	var rec etw.Record
	for n := 0; ; n++ {
		if o.err = r.Next(&rec); o.err != nil {
			break
		}
		if n > most {
			return o, fmt.Errorf("more than %d records of %d bytes", most, len(data))
		}
		each(&rec)
	}
	if o.err == io.EOF {
		o.err = nil
	} else if !errors.Is(o.err, etw.ErrIncomplete) && !errors.Is(o.err, errTooMuch) {
		broken = fmt.Errorf("the error of Next is not ErrIncomplete: %w", o.err)
	}
	for range 3 {
		if err := r.Next(&rec); err != io.EOF {
			broken = fmt.Errorf("after the end Next returns %v", err)
		}
	}
	o.lost = lost()
	if err := r.Close(); err != nil {
		broken = fmt.Errorf("closing: %w", err)
	}
	return o, errors.Join(broken, in.exceeded())
}

// digest is of what a record says of itself. Its provider and its stack may be
// defined elsewhere in the trace; and mappings of a perf.data get numbers as they come.
func digest(rec *etw.Record) uint64 {
	if rec.ProviderName == "Universal.System" {
		return uint64(rec.Timestamp)*0x9e3779b97f4a7c15 ^ uint64(rec.ID)<<40 ^ uint64(rec.ProcessID)
	}
	return maphash.Bytes(hashSeed, rec.Payload) ^ uint64(rec.Timestamp)*0x9e3779b97f4a7c15
}

var hashSeed = maphash.MakeSeed()

// errTooMuch ends a reader that goes over its input again and again.
var errTooMuch = errors.New("too much of the input was read, again and again")

// A meter is an input that fails once too much was read of it: a hang is told by
// the work, not by the clock.
type meter struct {
	*bytes.Reader
	left int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	return m.count(n, err)
}

func (m *meter) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.Reader.ReadAt(p, at)
	return m.count(n, err)
}

func (m *meter) count(n int, err error) (int, error) {
	m.left -= int64(n) + 16 // so that reads of nothing count
	if m.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

func (m *meter) exceeded() error {
	if m.left < 0 {
		return errTooMuch
	}
	return nil
}

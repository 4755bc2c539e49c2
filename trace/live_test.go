package trace

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A few is a live source of records, and then an error.
type few struct {
	times  []int64
	err    error
	clock  etw.Clock
	read   Stats
	closed int
}

func (f *few) Next(r *etw.Record) error {
	if len(f.times) == 0 {
		return f.err
	}
	*r = etw.Record{Clock: &f.clock, Timestamp: f.times[0]}
	f.times = f.times[1:]
	f.read.Records++
	return nil
}

func (f *few) Format() string { return "live" }

func (f *few) Clock() etw.Clock { return f.clock }

func (f *few) Stats() Stats { return f.read }

func (f *few) Close() error {
	f.closed++
	return nil
}

// TestOf reads a live source as a trace.
func TestOf(t *testing.T) {
	broken := errors.New("the wire is cut")
	for _, end := range []error{io.EOF, broken} {
		src := &few{times: []int64{1e6, 3e6}, err: end, clock: etw.Clock{Start: etw.FileTimeOf(sessionStart), Frequency: 1e9}, read: Stats{Lost: 4}}
		tr := Of("the machine", src)
		if !tr.Start().Equal(sessionStart) || tr.Progress() != -1 {
			t.Errorf("start %v, progress %v", tr.Start(), tr.Progress())
		}
		var times []time.Duration
		var err error
		var rec etw.Record
		for err = tr.Next(&rec); err == nil; err = tr.Next(&rec) {
			times = append(times, tr.Elapsed(&rec))
			if rec.File != "the machine" {
				t.Errorf("a record is from %q", rec.File)
			}
		}
		if len(times) != 2 || times[0] != time.Millisecond || times[1] != 3*time.Millisecond {
			t.Errorf("times %v", times)
		}
		if !errors.Is(err, end) || end == broken && !strings.Contains(err.Error(), "the machine") {
			t.Errorf("it ended with %v, want %v", err, end)
		}
		f := tr.Files()[0]
		if want := (Stats{Records: 2, Lost: 4}); tr.Stats() != want || f.Format() != "live" || f.Reader() != etw.Source(src) {
			t.Errorf("got %+v of %s, want %+v", tr.Stats(), f.Format(), want)
		}
		facts := make(map[string]any)
		for _, fact := range f.Facts() {
			facts[fact.Key] = fact.Value
		}
		if facts["durationMs"] != 3.0 || facts["lost"] != int64(4) || facts["endedCleanly"] != (end == io.EOF) {
			t.Errorf("facts %v", facts)
		}
		if err := tr.Close(); err != nil || src.closed != 1 {
			t.Errorf("closing: %v, %d times", err, src.closed)
		}
		if err := tr.Next(&rec); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("reading on: %v", err)
		}
	}
}

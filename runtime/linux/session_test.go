package linux

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An interrupted session is at its end at once, whatever it has.
func TestInterrupt(t *testing.T) {
	s := recorded(t)
	if err := s.Next(new(etw.Record)); err != nil {
		t.Fatal(err)
	}
	s.Interrupt()
	if err := s.Next(new(etw.Record)); !errors.Is(err, fs.ErrClosed) || errors.Is(err, etw.ErrIncomplete) {
		t.Errorf("after an interruption: %v", err)
	}
}

// A session of this process has its samples and its name, and ends when it is stopped.
func TestLive(t *testing.T) {
	named := false
	s, err := Start(Config{Processes: []int{os.Getpid()}, Symbols: func(s *Session) { named = s.Has(os.Getpid()) }})
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error %v", err)
		}
		return
	}
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	defer s.Close()
	go func() {
		for begun := time.Now(); time.Since(begun) < 200*time.Millisecond; {
		}
		s.Stop()
	}()
	last := int64(0)
	for r := range testio.Records(t, s.Records()) {
		if r.ProcessID != int64(os.Getpid()) || r.Timestamp < last {
			t.Fatalf("process %d at %d, after %d", r.ProcessID, r.Timestamp, last)
		}
		last = r.Timestamp
	}
	if n := s.Stats(); n.Samples == 0 || !named {
		t.Errorf("%+v, named %v", n, named)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := s.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("after Close: %v", err)
	}
	s.Stop()
}

// A process that is not there is an error.
func TestNobody(t *testing.T) {
	if s, err := Start(Config{Processes: []int{1 << 30}}); err == nil {
		s.Close()
		t.Error("it was started")
	}
}

// A session of samples alone has these, and nothing else.
func TestSamplesAlone(t *testing.T) {
	if _, err := Start(Config{SamplesAlone: true, StackBytes: 1 << 10}); err == nil {
		t.Error("copies of stacks are taken for nothing")
	}
	s, err := Start(Config{SamplesAlone: true, Interval: 5 * time.Millisecond})
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	defer s.Close()
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		for !done.Load() {
		}
	}()
	n := 0
	for r, err := range s.Records() {
		if err != nil || r.Schema.Name != "cpu" {
			t.Fatalf("%s: %v", r.Schema.Name, err)
		}
		if r.ProcessID == int64(os.Getpid()) {
			if n++; n == 5 {
				s.Stop()
			}
		}
	}
	if n < 5 || s.Stats().Switches != 0 || s.Has(os.Getpid()) || s.Unnamed() != nil {
		t.Errorf("%d samples, %+v", n, s.Stats())
	}
}

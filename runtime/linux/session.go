package linux

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/universal"
	"github.com/etwgen/etwgen/runtime/linux/internal/perf"
)

// A Config chooses the events of a Session.
type Config struct {
	// Processes are those to follow, with the threads and processes that they start, until
	// all of them have ended. None are all of the machine.
	Processes []int
	// Interval is the time between two samples of a processor. 0 is DefaultInterval.
	Interval time.Duration
	// RingBytes is the memory for the records of one processor while nobody reads. It is
	// rounded down to a power of two. 0 is DefaultRingBytes.
	RingBytes int
	// StackBytes asks for a copy of so many bytes of a program's stack with each sample and
	// switch, by which callers are found in code that keeps no frame pointers, up to
	// MaxStackBytes. 0 copies nothing.
	StackBytes int
	// Tracepoints are events of the kernel to record besides, each by its group and name, in
	// which * stands for any text: sched:sched_wakeup, or user_events:* for those of programs
	// that are registered when the session starts. EventHeader is decoded, as package
	// eventheader does it.
	Tracepoints []string
	// SamplesAlone leaves all out but the samples of processors, and Tracepoints, so that few
	// of them cost little: switches of threads, processes, and the files and names of code. Without these
	// there is no use in StackBytes.
	SamplesAlone bool
	// Symbols, if it is set, is called by Next when all else was delivered, after Stop. It
	// may give names, by [Session.Name], to code that is in no file, such as methods that a
	// runtime has compiled: eventpipe.PerfMaps finds those of .NET.
	Symbols func(*Session)
}

// The defaults of a Config.
const (
	DefaultInterval  = time.Millisecond
	DefaultRingBytes = 4 << 20
)

// MaxStackBytes is how much of a stack the kernel copies at most.
const MaxStackBytes = 63 << 10

// A Header has the facts that are the same for all records of a Session.
type Header struct {
	Clock            etw.Clock
	PointerSize      etw.PtrSize
	Processors       int
	SamplingInterval time.Duration
}

// Stats count the records.
type Stats struct {
	Samples  int64 // of processors
	Switches int64 // of threads that had stopped, and ran again
	Lost     int64 // records of the kernel that a ring had no room for
	Unwound  int64 // of both, those whose callers a copy of the stack has told
	Traced   int64 // events of Tracepoints
	Garbled  int64 // of these, those of EventHeader that make no sense: they are delivered as the kernel has them
}

// A Session is a recording that goes on. One goroutine reads it, by Next or Records; Stop
// may be called by any.
type Session struct {
	cfg        Config
	perf       *perf.Session
	translator universal.Translator
	points     map[uint16]*universal.Tracepoint
	header     Header
	existing   []int // processes that are yet to be described
	phase      phase
	stopping   atomic.Bool
	cut        atomic.Bool // by Interrupt
	unnamed    error
	err        error // yet to be returned
}

// A phase is how far a Session is.
type phase int

const (
	describing phase = iota // processes that were there before
	following               // the kernel
	naming                  // code
	over
)

// Start starts a session.
func Start(cfg Config) (*Session, error) { return start(cfg, tracefs) }

// start starts a session of a kernel that describes its events in a folder.
func start(cfg Config, folder string) (*Session, error) {
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	ask := perf.Config{Processes: cfg.Processes, Interval: cfg.Interval, StackBytes: cfg.StackBytes, SamplesAlone: cfg.SamplesAlone}
	if cfg.StackBytes != 0 {
		const copies = 512 // of stacks that a ring has room for
		if cfg.SamplesAlone {
			return nil, errors.New("linux: without files of code copies of stacks tell no callers")
		}
		machine := unwind.Machines[machines[runtime.GOARCH]]
		if machine == nil {
			return nil, fmt.Errorf("linux: stacks of %s cannot be unwound: %w", runtime.GOARCH, errors.ErrUnsupported)
		}
		if cfg.StackBytes < 8 || cfg.StackBytes > MaxStackBytes {
			return nil, fmt.Errorf("linux: copies of %d bytes of stacks; the kernel takes 8 to %d", cfg.StackBytes, MaxStackBytes)
		}
		cfg.RingBytes = cmp.Or(cfg.RingBytes, max(DefaultRingBytes, copies*cfg.StackBytes))
		ask.Registers = machine.Mask()
	}
	cfg.RingBytes = cmp.Or(cfg.RingBytes, DefaultRingBytes)
	ask.RingBytes = cfg.RingBytes
	points, err := tracepoints(folder, cfg.Tracepoints)
	if err != nil {
		return nil, err
	}
	ask.Tracepoints = slices.Collect(maps.Keys(points))
	order.Sort(ask.Tracepoints, cmp.Compare)
	begun, now := perf.Now(), time.Now() // before the first record
	p, err := perf.Open(ask)
	if err != nil {
		return nil, err
	}
	s := newSession(cfg, begun, now)
	s.perf, s.points = p, points
	if s.existing = slices.Clone(cfg.Processes); cfg.SamplesAlone {
		s.existing = nil
	} else if len(s.existing) == 0 {
		if s.existing, err = processes(); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return s, nil
}

// machines are the names that the kernel gives machines, by Go's.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// newSession returns a session that began at a time of the kernel.
func newSession(cfg Config, begun int64, now time.Time) *Session {
	s := &Session{cfg: cfg, header: Header{
		Clock:       etw.Clock{Start: etw.FileTimeOf(now), Origin: begun, Frequency: 1e9},
		PointerSize: etw.Ptr64, Processors: runtime.NumCPU(), SamplingInterval: cfg.Interval,
	}}
	s.translator = universal.NewTranslator(host{s}, begun)
	if cfg.SamplesAlone {
		s.translator.Only()
	}
	if cfg.StackBytes > 0 {
		s.translator.Unwind(machines[runtime.GOARCH])
	}
	return s
}

// Header returns the facts known from the start.
func (s *Session) Header() Header { return s.header }

// Stats returns counts of Next's reading so far. It must not be called while Next runs.
func (s *Session) Stats() Stats { return Stats(s.translator.Stats) }

// Has reports whether a process was recorded so far. It must not be called while Next runs,
// but Config.Symbols may call it.
func (s *Session) Has(pid int) bool { return s.translator.Has(int32(pid)) }

// Name adds a record that says how code of a process is called. It is for Config.Symbols.
func (s *Session) Name(pid int, start, size uint64, name string) {
	s.translator.Function(int32(pid), start, size, name)
}

// Unnamed says why functions of the kernel that are in call stacks have no names, once Next
// has returned io.EOF.
func (s *Session) Unnamed() error { return s.unnamed }

// Stop ends the recording. Next delivers the records from before, and names of code, and
// then returns io.EOF. Any goroutine may call it, and more than once.
func (s *Session) Stop() {
	s.stopping.Store(true)
	if s.perf != nil {
		s.perf.Wake()
	}
}

// Interrupt ends the session without its unread rest, as [etw.Interrupter] describes: Next
// returns an error that is fs.ErrClosed. The session has to be closed all the same.
func (s *Session) Interrupt() {
	s.cut.Store(true)
	s.Stop()
}

// Close ends the session, if it has not ended yet. Unread records are lost. It must not be
// called while Next runs.
func (s *Session) Close() error {
	s.phase, s.err = over, nil
	s.translator.Clear()
	if s.perf == nil {
		return nil
	}
	return s.perf.Close()
}

// Records iterates over the records that are left, as [etw.Records] does.
func (s *Session) Records() iter.Seq2[*etw.Record, error] { return etw.Records(s) }

// Next sets r to the next record, in the order of time, as [etw.Source] describes. It waits
// for it.
func (s *Session) Next(r *etw.Record) error {
	for s.cut.Load() || !s.translator.Next(r, &s.header.Clock) {
		if s.cut.Load() {
			return fmt.Errorf("linux: the session was interrupted: %w", fs.ErrClosed)
		}
		switch s.phase {
		case describing:
			s.describe()
		case following:
			s.follow()
		case naming:
			s.phase = over
			s.translator.Ended = true
			s.nameCode()
		case over:
			err := s.err
			s.err = nil
			return cmp.Or(err, io.EOF)
		}
	}
	return nil
}

// describe records one of the processes that are there.
func (s *Session) describe() {
	if len(s.existing) == 0 || s.stopping.Load() {
		s.phase = following
		return
	}
	pid := s.existing[0]
	s.existing = s.existing[1:]
	s.snapshot(pid, s.translator.About(int32(pid)))
}

// maxWait bounds how long records wait for others, and an end for us to notice it.
const maxWait = 100 * time.Millisecond

// follow takes records of the kernel, for a while.
func (s *Session) follow() {
	ended := len(s.cfg.Processes) > 0 && !slices.ContainsFunc(s.cfg.Processes, isThere)
	if !s.stopping.Load() && !ended {
		s.err = cmp.Or(s.perf.Wait(maxWait), s.perf.Read(s.take))
		if s.err == nil {
			return
		}
	}
	s.phase = naming
	s.err = cmp.Or(s.err, s.perf.Stop(s.take))
}

// nameCode records names of code.
func (s *Session) nameCode() {
	if s.cfg.Symbols != nil {
		s.cfg.Symbols(s)
	}
	s.unnamed = s.nameKernel("/proc/kallsyms")
}

// nameKernel records the names of functions of the kernel that are in stacks.
func (s *Session) nameKernel(path string) error {
	if !s.translator.InKernel() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("functions of the kernel have no names: %w", err)
	}
	defer f.Close()
	if err := s.translator.NameKernel(f); err != nil {
		return fmt.Errorf("functions of the kernel have no names: %s: %w", path, err)
	}
	return nil
}

// isThere reports whether a process has not ended.
func isThere(pid int) bool {
	_, err := os.Stat(procFile(pid, "status"))
	return !errors.Is(err, os.ErrNotExist) && !strings.HasPrefix(statusLine(pid, "State"), "Z") // only the number of a zombie is left
}

package perf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// A Session takes records of the kernel. But for Wake, it must not be used by several
// goroutines at once.
type Session struct {
	parser parser
	order  order
	rings  []*ring
	events []int      // files of all events
	waits  []pollFile // the rings, and then the pipe
	buf    []byte

	waking sync.Mutex
	wake   [2]int // a pipe: what is written to it ends a Wait
	closed bool
}

// attributes returns the common settings of every event.
func attributes(cfg *Config) attr {
	a := attr{
		kind:       kindSoftware,
		sampleType: sampleParts,
		bits:       bitSampleIDAll | bitUseClock | bitWatermark,
		clock:      clockMonotonic,
		wakeup:     uint32(ringBytes(cfg) / 2),
	}
	if cfg.StackBytes > 0 {
		a.sampleType |= perfevent.PartRegisters | perfevent.PartUserStack
		a.userRegisters, a.userStack = cfg.Registers, uint32(cfg.StackBytes)&^7
	}
	a.size = uint32(unsafe.Sizeof(a))
	if len(cfg.Processes) > 0 {
		a.bits |= bitInherit
	}
	return a
}

// clock returns the event that takes samples, and tells of processes.
func clock(cfg *Config) attr {
	a := attributes(cfg)
	a.config = cpuClock
	a.period = uint64(cfg.Interval.Nanoseconds())
	a.bits |= bitExcludeIdle
	if !cfg.SamplesAlone {
		a.bits |= bitMmap | bitMmap2 | bitComm | bitCommExec | bitTask | bitContextSwitch | bitBuildID
	}
	return a
}

// blocking returns the event that tells where threads stop.
func blocking(cfg *Config) attr {
	a := attributes(cfg)
	a.config = contextSwitches
	a.period = 1
	return a
}

// traced returns the event of a tracepoint.
func traced(cfg *Config, number uint16) attr {
	a := attributes(cfg)
	a.kind, a.config, a.period = kindTracepoint, uint64(number), 1
	a.sampleType |= perfevent.PartRaw
	return a
}

// Open begins to take records.
func Open(cfg Config) (*Session, error) {
	if cfg.Interval <= 0 {
		return nil, fmt.Errorf("perf: an interval of %v between samples", cfg.Interval)
	}
	processors, err := online()
	if err != nil {
		return nil, err
	}
	s := &Session{parser: newParser(&cfg)}
	if err := syscall.Pipe2(s.wake[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	for _, n := range processors {
		s.rings = append(s.rings, &ring{processor: n, file: -1})
	}
	if len(cfg.Processes) == 0 {
		err = s.follow(&cfg, -1)
	}
	for _, pid := range cfg.Processes {
		if err == nil {
			err = s.process(&cfg, pid)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	for _, r := range s.rings {
		if r.file >= 0 {
			s.waits = append(s.waits, pollFile{file: int32(r.file), events: pollIn})
		}
	}
	s.waits = append(s.waits, pollFile{file: int32(s.wake[0]), events: pollIn})
	return s, nil
}

// process follows the threads of a process, also those that are started meanwhile.
func (s *Session) process(cfg *Config, pid int) error {
	seen := make(map[int]bool)
	for more := true; more; {
		more = false
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/[0-9]*")
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(filepath.Base(task))
			if err != nil || seen[tid] {
				continue
			}
			seen[tid], more = true, true
			if err := s.follow(cfg, tid); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
	}
	if len(seen) == 0 || len(s.events) == 0 {
		return fmt.Errorf("process %d: no process has this number", pid)
	}
	return nil
}

// follow opens the events of a thread, or of all, on each processor.
func (s *Session) follow(cfg *Config, tid int) error {
	for _, r := range s.rings {
		if _, err := s.event(cfg, r, clock(cfg), tid); err != nil {
			return err
		}
		if !cfg.SamplesAlone {
			if err := s.kind(cfg, r, blocking(cfg), tid, perfevent.Blocked); err != nil {
				return err
			}
		}
		for _, number := range cfg.Tracepoints {
			if err := s.kind(cfg, r, traced(cfg, number), tid, perfevent.Traced); err != nil {
				return fmt.Errorf("tracepoint %d: %w", number, err)
			}
		}
	}
	return nil
}

// kind opens an event whose samples are records of a kind.
func (s *Session) kind(cfg *Config, r *ring, a attr, tid int, kind perfevent.Kind) error {
	id, err := s.event(cfg, r, a, tid)
	if err == nil {
		s.parser.kinds[id] = kind
	}
	return err
}

// event opens an event that writes into a ring, and returns its number.
func (s *Session) event(cfg *Config, r *ring, a attr, tid int) (id uint64, err error) {
	file, err := openEvent(&a, tid, r.processor)
	if err == syscall.EINVAL && a.bits&bitBuildID != 0 {
		a.bits &^= bitBuildID
		file, err = openEvent(&a, tid, r.processor)
	}
	if err != nil {
		return 0, explain(err, tid)
	}
	s.events = append(s.events, file)
	if r.file < 0 {
		if err := r.open(file, ringBytes(cfg)); err != nil {
			return 0, err
		}
	} else if err := ioctl("PERF_EVENT_IOC_SET_OUTPUT", file, ioctlNone|ioctlSetOutput, uintptr(r.file)); err != nil {
		return 0, err
	}
	return eventID(file)
}

// Wait waits until a ring is half full, or Wake is called, at most for a time.
func (s *Session) Wait(most time.Duration) error {
	err := poll(s.waits, most)
	for i := range s.waits {
		if s.waits[i].revents&(pollHup|pollErr) != 0 {
			s.waits[i].file = -1 // its thread has ended, and others may still write
		}
	}
	return err
}

// Wake ends a Wait, and all that follow. Any goroutine may call it, before Close or after.
func (s *Session) Wake() {
	s.waking.Lock()
	defer s.waking.Unlock()
	if !s.closed {
		_, _ = syscall.Write(s.wake[1], []byte{0}) // a pipe that is full wakes, too
	}
}

// Read reads the rings and delivers records in the order of time: those that cannot have
// others before them any more. A record is valid until deliver returns.
func (s *Session) Read(deliver func(*Record)) error {
	now := Now()
	err := s.drain()
	s.order.round(now, deliver)
	return err
}

// drain reads the contents of the rings.
func (s *Session) drain() error {
	var first error
	for _, r := range s.rings {
		s.buf = r.take(s.buf[:0])
		for b := s.buf; len(b) > 0; {
			rec, n, err := s.parser.next(b)
			if err != nil && first == nil {
				first = fmt.Errorf("the ring of processor %d: %w", r.processor, err)
			}
			if n == 0 {
				break
			}
			if err == nil && rec.Kind != perfevent.Other {
				s.order.held = append(s.order.held, rec)
			}
			b = b[n:]
		}
	}
	return first
}

// Stop ends the session and delivers the records that are left.
func (s *Session) Stop(deliver func(*Record)) error {
	for _, file := range s.events {
		if err := ioctl("PERF_EVENT_IOC_DISABLE", file, ioctlNone|ioctlDisable, 0); err != nil {
			return err
		}
	}
	err := s.drain()
	s.order.rest(deliver)
	return errors.Join(err, s.Close())
}

// Close ends the session.
func (s *Session) Close() error {
	s.waking.Lock()
	defer s.waking.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{syscall.Close(s.wake[0]), syscall.Close(s.wake[1])}
	for _, r := range s.rings {
		errs = append(errs, r.close())
	}
	for _, file := range s.events {
		errs = append(errs, syscall.Close(file))
	}
	return errors.Join(errs...)
}

package perf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Session takes records of the kernel. It must not be used by several goroutines at once.
type Session struct {
	parser parser
	order  order
	rings  []*ring
	events []int // files of all events
	waits  []unix.PollFd
	buf    []byte
	closed bool
}

// bitBuildID asks for build ids, from Linux 5.12 on.
const bitBuildID = 1 << 34

// attributes returns what every event has.
func attributes(cfg *Config) unix.PerfEventAttr {
	a := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU | unix.PERF_SAMPLE_CALLCHAIN,
		Bits:        unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Clockid:     unix.CLOCK_MONOTONIC,
		Wakeup:      uint32(ringBytes(cfg) / 2),
	}
	a.Size = uint32(unsafe.Sizeof(a))
	if len(cfg.Processes) > 0 {
		a.Bits |= unix.PerfBitInherit
	}
	return a
}

// clock returns the event that takes samples, and tells of processes.
func clock(cfg *Config) unix.PerfEventAttr {
	a := attributes(cfg)
	a.Config = unix.PERF_COUNT_SW_CPU_CLOCK
	a.Sample = uint64(cfg.Interval.Nanoseconds())
	a.Bits |= unix.PerfBitExcludeIdle | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
		unix.PerfBitContextSwitch | bitBuildID
	return a
}

// blocking returns the event that tells where threads stop.
func blocking(cfg *Config) unix.PerfEventAttr {
	a := attributes(cfg)
	a.Config = unix.PERF_COUNT_SW_CONTEXT_SWITCHES
	a.Sample = 1
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
	s := &Session{parser: parser{switches: make(map[uint64]bool)}}
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
			s.waits = append(s.waits, unix.PollFd{Fd: int32(r.file), Events: unix.POLLIN})
		}
	}
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
			if err := s.follow(cfg, tid); err != nil && !errors.Is(err, unix.ESRCH) {
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
		id, err := s.event(cfg, r, blocking(cfg), tid)
		if err != nil {
			return err
		}
		s.parser.switches[id] = true
	}
	return nil
}

// event opens an event that writes into a ring, and returns its number.
func (s *Session) event(cfg *Config, r *ring, a unix.PerfEventAttr, tid int) (id uint64, err error) {
	file, err := unix.PerfEventOpen(&a, tid, r.processor, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == unix.EINVAL && a.Bits&bitBuildID != 0 {
		a.Bits &^= bitBuildID
		file, err = unix.PerfEventOpen(&a, tid, r.processor, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return 0, explain(err, tid)
	}
	s.events = append(s.events, file)
	if r.file < 0 {
		if err := r.open(file, ringBytes(cfg)); err != nil {
			return 0, err
		}
	} else if err := unix.IoctlSetInt(file, unix.PERF_EVENT_IOC_SET_OUTPUT, r.file); err != nil {
		return 0, os.NewSyscallError("ioctl PERF_EVENT_IOC_SET_OUTPUT", err)
	}
	_, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(file), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id)))
	if no != 0 {
		return 0, os.NewSyscallError("ioctl PERF_EVENT_IOC_ID", no)
	}
	return id, nil
}

// Now returns the time that records have.
func Now() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// Wait waits until a ring is half full, at most for a time.
func (s *Session) Wait(most time.Duration) error {
	_, err := unix.Poll(s.waits, int(most.Milliseconds()))
	for i := range s.waits {
		if s.waits[i].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			s.waits[i].Fd = -1 // its thread has ended, and others may still write
		}
	}
	if err == unix.EINTR {
		return nil
	}
	return os.NewSyscallError("poll", err)
}

// Read reads the rings and delivers records in the order of time: those that cannot have
// others before them any more. A record is valid until deliver returns.
func (s *Session) Read(deliver func(*Record)) error {
	now := Now()
	err := s.drain()
	s.order.round(now, deliver)
	return err
}

// drain reads what is in the rings.
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
			if err == nil && rec.Kind != Other {
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
		if err := unix.IoctlSetInt(file, unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
			return os.NewSyscallError("ioctl PERF_EVENT_IOC_DISABLE", err)
		}
	}
	err := s.drain()
	s.order.rest(deliver)
	return errors.Join(err, s.Close())
}

// Close ends the session.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, r := range s.rings {
		errs = append(errs, r.close())
	}
	for _, file := range s.events {
		errs = append(errs, unix.Close(file))
	}
	return errors.Join(errs...)
}

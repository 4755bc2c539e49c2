package live

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/perf"
)

// A systemRecord records a machine with Linux, or some of its processes.
type systemRecord struct {
	cmd       *cobra.Command
	processes []int // none are all
	path      string
	duration  time.Duration
	ringBytes int

	trace *systemTrace
	maps  *jitMaps
}

const (
	systemInterval = time.Millisecond // between samples
	systemRing     = 4 << 20          // bytes of memory for each processor
	systemWait     = 100 * time.Millisecond
)

// systemExcludes are the flags that mean a runtime of .NET, or one file of several.
var systemExcludes = []string{"name", "port", "profile", "providers", "no-stacks", "block", "rundown", "stop-when", "before", "after", "max-size", "max-files"}

// system records with --system.
func (c *collect) system(cmd *cobra.Command, args []string) error {
	for _, name := range systemExcludes {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is of the events of a runtime, and goes not with --system", name)
		}
	}
	switch {
	case len(args) > 0:
		return cli.Usagef("--system takes processes that run, by -p, or all of the machine; it starts no command")
	case c.duration < 0 || cmd.Flags().Changed("duration") && c.duration == 0:
		return cli.Usagef("--duration %v: it must be longer than nothing", c.duration)
	case c.enabling.BufferMB <= 0:
		return cli.Usagef("--buffer-mb: %d is not a size, from 1 on", c.enabling.BufferMB)
	}
	for _, pid := range c.target.pids {
		if pid <= 0 {
			return cli.Usagef("-p %d: no process has this number", pid)
		}
	}
	s := &systemRecord{cmd: cmd, processes: slices.Compact(slices.Sorted(slices.Values(c.target.pids))), duration: c.duration, ringBytes: systemRing}
	if cmd.Flags().Changed("buffer-mb") {
		s.ringBytes = c.enabling.BufferMB << 20 / runtime.NumCPU()
	}
	s.path = cmp.Or(c.path, s.defaultFile(time.Now()))
	return s.run()
}

// defaultFile returns the name of a file for a recording.
func (s *systemRecord) defaultFile(now time.Time) string {
	name := "machine"
	if len(s.processes) == 1 {
		name = "process_" + strconv.Itoa(s.processes[0])
	}
	return name + "_" + now.Format("20060102_150405") + ".nettrace"
}

// describe says what is recorded.
func (s *systemRecord) describe() string {
	switch len(s.processes) {
	case 0:
		return "the machine"
	case 1:
		return fmt.Sprintf("process %d", s.processes[0])
	}
	return fmt.Sprintf("%d processes", len(s.processes))
}

// run opens the session and the file, and records.
func (s *systemRecord) run() error {
	session, err := perf.Open(perf.Config{Processes: s.processes, Interval: systemInterval, RingBytes: s.ringBytes})
	if err != nil {
		return err
	}
	defer session.Close()
	out, err := openOutput(s.path)
	if err != nil {
		return err
	}
	file := &recordingFile{path: s.path, file: out}
	buffered := bufio.NewWriterSize(out, 1<<18)
	if s.trace, err = NewSystemTrace(buffered, perf.Now(), time.Now()); err != nil {
		file.Close()
		return err
	}
	begun := time.Now()
	fmt.Fprintf(s.cmd.ErrOrStderr(), "etw: recording %s to %s; an interrupt (^C) ends it\n", s.describe(), cli.Clean(file.describe()))
	s.maps = NewJITMaps()
	err = s.record(session)
	err = cmp.Or(err, s.trace.Close(), buffered.Flush(), file.Close())
	t := s.trace
	fmt.Fprintf(s.cmd.ErrOrStderr(), "etw: recorded %d samples and %d switches of threads, in %s: %s\n", t.samples, t.switches,
		time.Since(begun).Round(100*time.Millisecond), cli.Clean(file.describe()))
	if t.lost > 0 {
		cli.Report(s.cmd, fmt.Errorf("%d records were lost; raise --buffer-mb, or record fewer processes", t.lost))
		err = cmp.Or(err, cli.ErrReported)
	}
	return err
}

// record takes what the kernel tells until it is enough, and then what code is called.
func (s *systemRecord) record(session *perf.Session) error {
	ctx := s.cmd.Context()
	s.trace.existing(s.processes)
	// Runtimes have their own time, so that none is asked and then not listened to.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), jitMapTime)
	defer cancel()
	asked := make(chan error, 1)
	go func() { asked <- s.maps.ask(asking, oneOf(s.processes)) }()
	err := s.follow(ctx, session)
	err = cmp.Or(err, session.Stop(s.trace.Take))
	s.warn(<-asked)
	naming, cancel := context.WithTimeout(context.WithoutCancel(ctx), jitMapTime)
	defer cancel()
	s.nameCode(naming)
	return err
}

// oneOf returns whether a process is one of a list; none are all.
func oneOf(pids []int) func(int) bool {
	return func(pid int) bool { return len(pids) == 0 || slices.Contains(pids, pid) }
}

// follow takes records until an interrupt, the end of the time or of the processes.
func (s *systemRecord) follow(ctx context.Context, session *perf.Session) error {
	if s.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.duration)
		defer cancel()
	}
	for ctx.Err() == nil && s.trace.err == nil {
		wait := systemWait
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, max(time.Until(deadline), time.Millisecond))
		}
		if err := cmp.Or(session.Wait(wait), session.Read(s.trace.Take)); err != nil {
			return err
		}
		if len(s.processes) > 0 && !slices.ContainsFunc(s.processes, isThere) {
			return nil
		}
	}
	return nil
}

// isThere reports whether a process has not ended.
func isThere(pid int) bool {
	_, err := os.Stat(procFile(pid, "status"))
	return !errors.Is(err, os.ErrNotExist) && !isZombie(pid)
}

// nameCode writes the names of what was compiled, and of the kernel's functions.
func (s *systemRecord) nameCode(ctx context.Context) {
	s.warn(s.maps.ask(ctx, s.trace.has)) // those that have started meanwhile
	s.warn(s.maps.Read(ctx, s.trace.Function))
	s.warn(s.trace.NameKernel("/proc/kallsyms"))
}

// warn says what will have no names.
func (s *systemRecord) warn(err error) {
	if err != nil {
		cli.Report(s.cmd, err)
	}
}

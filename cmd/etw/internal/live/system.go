package live

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/linux"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A systemRecord records a machine with Linux, or some of its processes.
type systemRecord struct {
	cmd       *cobra.Command
	processes []int // none are all
	path      string
	duration  time.Duration
	ringBytes int
	copied    int // bytes of stacks
	points    []string

	maps  eventpipe.PerfMaps
	asked chan error // which processes have no names of compiled code
}

// mapTime is how long runtimes of .NET may take to write which code they compiled.
const mapTime = 30 * time.Second

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
	s := &systemRecord{cmd: cmd, processes: slices.Compact(slices.Sorted(slices.Values(c.target.pids))), duration: c.duration, points: c.tracepoints}
	if cmd.Flags().Changed("stack-kb") {
		if most := linux.MaxStackBytes >> 10; c.stackKB < 1 || c.stackKB > most {
			return cli.Usagef("--stack-kb %d: the kernel copies 1 to %d KB of a stack", c.stackKB, most)
		}
		s.copied = c.stackKB << 10
	}
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

// describe names the recorded events.
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
	session, err := linux.Start(linux.Config{Processes: s.processes, RingBytes: s.ringBytes, StackBytes: s.copied, Tracepoints: s.points, Symbols: s.nameCode})
	if err != nil {
		return err
	}
	defer session.Close()
	out, err := openOutput(s.path)
	if err != nil {
		return err
	}
	file := &recordingFile{path: s.path, file: out}
	begun := time.Now()
	fmt.Fprintf(s.cmd.ErrOrStderr(), "etw: recording %s to %s; an interrupt (^C) ends it\n", s.describe(), cli.Clean(file.describe()))
	err = cmp.Or(s.record(session, out), file.Close())
	n := session.Stats()
	traced := ""
	if len(s.points) > 0 {
		traced = fmt.Sprintf(" and %d events of tracepoints", n.Traced)
	}
	fmt.Fprintf(s.cmd.ErrOrStderr(), "etw: recorded %d samples and %d switches of threads%s, in %s: %s\n", n.Samples, n.Switches, traced,
		time.Since(begun).Round(100*time.Millisecond), cli.Clean(file.describe()))
	if n.Garbled > 0 {
		cli.Report(s.cmd, fmt.Errorf("%d of these events make no sense as EventHeader, and are in the file as the kernel has them", n.Garbled))
	}
	if n.Lost > 0 {
		cli.Report(s.cmd, fmt.Errorf("%d records were lost; raise --buffer-mb, or record fewer processes", n.Lost))
		err = cmp.Or(err, cli.ErrReported)
	}
	return err
}

// record writes the session until an interrupt, the end of the time or of the processes.
func (s *systemRecord) record(session *linux.Session, out io.Writer) error {
	ctx := s.cmd.Context()
	// Runtimes have their own time, so that none is asked and then not listened to.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), mapTime)
	defer cancel()
	s.asked = make(chan error, 1)
	go func() { s.asked <- s.maps.Ask(asking, oneOf(s.processes)) }()
	if s.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.duration)
		defer cancel()
	}
	defer context.AfterFunc(ctx, session.Stop)()
	err := writeSystem(session, out)
	s.warn(session.Unnamed())
	return err
}

// writeSystem writes a session as a .nettrace file.
func writeSystem(session *linux.Session, out io.Writer) error {
	buffered := bufio.NewWriterSize(out, 1<<18)
	h := session.Header()
	w, err := nettrace.NewWriter(buffered, nettrace.Header{
		Version: 6, Clock: h.Clock, PointerSize: h.PointerSize, ProcessID: -1, Processors: h.Processors, SamplingInterval: h.SamplingInterval,
	})
	if err != nil {
		return err
	}
	for rec, failed := range session.Records() {
		if err = failed; err == nil {
			err = w.Write(rec)
		}
		if err != nil {
			break
		}
	}
	w.Lost(-1, -1, session.Stats().Lost)
	return cmp.Or(err, w.Close(), buffered.Flush())
}

// oneOf returns whether a process is one of a list; none are all.
func oneOf(pids []int) func(int) bool {
	return func(pid int) bool { return len(pids) == 0 || slices.Contains(pids, pid) }
}

// nameCode names the compiled methods of .NET.
func (s *systemRecord) nameCode(session *linux.Session) {
	s.warn(<-s.asked)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.cmd.Context()), mapTime)
	defer cancel()
	s.warn(s.maps.Ask(ctx, session.Has)) // those that have started meanwhile
	s.warn(s.maps.Read(ctx, session.Name))
}

// warn names the code that will have no names.
func (s *systemRecord) warn(err error) {
	if err != nil {
		cli.Report(s.cmd, err)
	}
}

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// NewCollect returns the command that records a live process.
func NewCollect() *cobra.Command {
	c := new(collect)
	cmd := &cobra.Command{
		Use:   "collect [flags] (-p PID | --name NAME | --port PATH | --system [-p PID]... | -- COMMAND...)",
		Short: "Record a live .NET process, or a machine with Linux, to a .nettrace file",
		Long: `Collect records the events of a .NET process, from .NET Core 3.1 on, until the process
ends, --duration is over, --stop-when happens, or an interrupt (^C). Then the runtime
writes its remaining events, and the names of methods; a second interrupt does without
them. A command after -- is started suspended (.NET 5 and later): nothing is missed.

--profile or --providers choose the events; without, the profiles common and cpu: etw
help recording explains these. With --profile heap, FILE can be a .gcdump.

Lost events are counted, and exit code 1 tells of them, or that the process was killed:
then raise --buffer-mb, or record less. --max-size and --stop-when are in docs/live.md.
With --system it records a machine with Linux, or processes that -p names, .NET or not:
samples of processors and switches of threads, with call stacks. It takes root, or two
rights: docs/linux.md. With --otlp it only sends profiles.`,
		Example: `  etw collect -p 1234 --profile gc-collect --duration 30s
  etw collect --profile cpu,exceptions -o slow.nettrace -- dotnet app.dll
  etw collect -p 1234 --profile gc-verbose --stop-when 'pause > 200ms' --before 30s --after 5s
  etw collect --system --duration 10s -o machine.nettrace
  etw collect --all --otlp http://localhost:4040`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              c.main,
	}
	c.target.flags(cmd)
	c.enabling.Flags(cmd)
	c.sending.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&c.stackKB, "stack-kb", 0, "with --system, copy `N` KB of each stack, to find callers without frame pointers")
	f.BoolVar(&c.isSystem, "system", false, "record a machine with Linux, or the processes of -p, which is repeatable then")
	f.StringSliceVar(&c.tracepoints, "tracepoints", nil, "with --system, record these `EVENTS` of the kernel, too, such as user_events:*")
	f.StringVarP(&c.path, "output", "o", "", "record to this `FILE`, - for the standard output; else to one called by name and time")
	f.DurationVar(&c.duration, "duration", 0, "stop after this `TIME`, such as 30s or 5m")
	f.StringVar(&c.ring.size, "max-size", "", "begin another file at this `SIZE`, such as 100M")
	f.IntVar(&c.ring.files, "max-files", 3, "with --max-size, keep the last `N` files")
	f.StringVar(&c.when, "stop-when", "", "stop when this `HAPPENS`: an event, a pause, a limit")
	f.DurationVar(&c.before, "before", 0, "with --stop-when, keep about this `TIME` from before")
	f.DurationVar(&c.after, "after", 0, "with --stop-when, go on for this `TIME`")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"duration": cobra.NoFileCompletions, "max-size": cobra.NoFileCompletions, "max-files": cobra.NoFileCompletions,
		"stop-when": cobra.NoFileCompletions, "before": cobra.NoFileCompletions, "after": cobra.NoFileCompletions,
	})
	return cmd
}

// A collect records a process.
type collect struct {
	isSystem    bool
	stackKB     int
	tracepoints []string
	sending     sendFlags
	target      target
	enabling    windows.Enabling
	path        string
	duration    time.Duration
	ring        ringFlags
	when        string
	before      time.Duration
	after       time.Duration
}

// check reads the flags that need no process.
func (c *collect) check(cmd *cobra.Command, args []string) (cfg eventpipe.Config, err error) {
	if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		return cfg, cli.Usagef("%q is no flag; a command to start comes after --", args[0])
	}
	if err := c.target.check(args); err != nil {
		return cfg, err
	}
	for name, d := range map[string]time.Duration{"duration": c.duration, "before": c.before, "after": c.after} {
		if d < 0 || cmd.Flags().Changed(name) && d == 0 {
			return cfg, cli.Usagef("--%s %v: it must be longer than nothing", name, d)
		}
	}
	if c.when == "" && c.before+c.after > 0 {
		return cfg, cli.Usagef("--before and --after go with --stop-when")
	}
	if c.path == cli.StdoutPath && (c.ring.size != "" || c.before > 0) {
		return cfg, cli.Usagef("the standard output is one file: --max-size and --before need -o FILE")
	}
	if err := c.ring.check(c.before); err != nil {
		return cfg, err
	}
	return c.enabling.Config("common", "cpu")
}

// main runs the command.
func (c *collect) main(cmd *cobra.Command, args []string) error {
	if c.isSystem {
		return c.system(cmd, args)
	}
	for _, name := range []string{"stack-kb", "tracepoints"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s goes with --system", name)
		}
	}
	if c.sending.url != "" {
		return c.send(cmd, args)
	}
	for _, name := range []string{"every", "all", "budget", "spans", "cpu-hz"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s goes with --otlp", name)
		}
	}
	cfg, err := c.check(cmd, args)
	if err != nil {
		return err
	}
	if strings.HasSuffix(strings.ToLower(c.path), dumpSuffix) {
		return c.dump(cmd, args, cfg)
	}
	stop, err := parseTrigger(cmd, c.when)
	if err != nil {
		return err
	}
	if err := stop.check(cfg.Providers); err != nil {
		return err
	}
	cfg.Providers = eventpipe.Merge(append(cfg.Providers, stop.needs()...))
	a, err := c.target.attach(cmd, args)
	if err != nil {
		return err
	}
	defer a.Close()
	if a.waiting && wantsHeap(cfg.Providers) {
		cli.Report(cmd, errors.New("the heap is walked when a recording begins, and a program that is just starting has none yet: there will be no snapshot; record the program with -p once it runs"))
	}
	path := cmp.Or(c.path, a.defaultFile(time.Now()))
	out, err := c.ring.open(path)
	if err != nil {
		return err
	}
	s, err := a.Start(cmd.Context(), cfg)
	if err != nil {
		out.Close()
		out.discard()
		return err
	}
	defer s.Close()
	if err := a.resume(cmd.Context()); err != nil {
		out.Close()
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: recording %v (%s) to %s; an interrupt (^C) ends it\n", a, cli.Clean(a.name), cli.Clean(out.describe()))
	r := &recording{cmd: cmd, session: s, out: out, begun: time.Now(), over: make(chan struct{})}
	err = r.run(out, c.duration, stop, c.after)
	if err = r.conclude(out, err); err == nil && r.unmet {
		err = cli.ErrUnmet
	}
	return err
}

// wantsHeap reports whether a session asks for a snapshot of the heap.
func wantsHeap(providers []eventpipe.Provider) bool {
	return slices.ContainsFunc(providers, func(p eventpipe.Provider) bool {
		return strings.EqualFold(p.Name, need.CLR) && clr.Keyword(p.Keywords)&clr.KeywordManagedHeapCollect != 0
	})
}

// A recording is a session that is written to a file, and its state. The values of the line
// of progress are read by another goroutine.
type recording struct {
	cmd      *cobra.Command
	session  *eventpipe.Session
	out      *recordingFile
	begun    time.Time
	events   atomic.Int64
	lost     atomic.Int64
	newest   atomic.Int64 // time of an event, in nanoseconds since 1970
	stopping atomic.Int64 // bytes that were received when it was stopped, and 1
	stopped  atomic.Int64 // and when that was, in nanoseconds since 1970
	failed   atomic.Pointer[error]
	over     chan struct{} // closed when all is read
	unmet    bool          // what the recording was to stop for did not happen
}

// statsEvery is how many events pass between two looks at losses.
const statsEvery = 4096

// run records until the session ends, and returns the faults of the stream.
func (r *recording) run(out *recordingFile, duration time.Duration, stop *trigger, after time.Duration) error {
	ctx := r.cmd.Context()
	defer close(r.over)
	defer context.AfterFunc(ctx, func() {
		r.stop()
		r.leave()
	})()
	if duration > 0 {
		defer time.AfterFunc(duration, r.stop).Stop()
	}
	defer r.show()()
	written := io.TeeReader(r.session, out)
	var opts []nettrace.Option
	if stop == nil { // which must see events in their order
		opts = append(opts, nettrace.WithFileOrder())
	}
	reader, err := nettrace.NewReader(written, opts...)
	if err != nil {
		return err
	}
	var rec etw.Record
	for {
		if err = reader.Next(&rec); err != nil {
			break
		}
		if n := r.events.Add(1); n%statsEvery == 0 {
			r.lost.Store(reader.Stats().Lost)
		}
		r.newest.Store(rec.Time().UnixNano())
		if stop == nil || r.unmet {
			continue
		}
		if stop.hit(&rec) {
			fmt.Fprintf(r.cmd.ErrOrStderr(), "etw: %s\n", cli.Clean(stop.what))
			out.keep()
			stop = nil
			defer time.AfterFunc(after, r.stop).Stop()
		} else if why := stop.never(); why != "" {
			cli.Report(r.cmd, errors.New(why))
			r.unmet = true
			r.stop()
		}
	}
	r.lost.Store(reader.Stats().Lost)
	if stop != nil && !r.unmet {
		cli.Report(r.cmd, cli.ErrUnmet)
		r.unmet = true
	}
	if err == io.EOF {
		return nil
	}
	// Unreadable events are to be recorded nevertheless.
	_, copyErr := io.Copy(io.Discard, written)
	return cmp.Or(err, copyErr)
}

// leave ends the recording at the next interrupt, without the names of methods.
func (r *recording) leave() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, cli.Endings()...)
	defer signal.Stop(again)
	select {
	case <-again:
		r.session.Close()
	case <-r.over:
	}
}

// stop asks for the end of the session. Its own deadline bounds it.
func (r *recording) stop() {
	if r.stopping.CompareAndSwap(0, r.session.Received()+1) {
		r.stopped.Store(time.Now().UnixNano())
	}
	r.out.stay()
	if err := r.session.Stop(context.WithoutCancel(r.cmd.Context())); err != nil {
		r.failed.Store(&err)
		r.session.Close()
	}
}

// showEvery is how often the line of progress changes.
const showEvery = 500 * time.Millisecond

// show shows on a terminal how the recording goes, until the function that it returns
// is called.
func (r *recording) show() func() {
	p := show.NewProgress(r.cmd.ErrOrStderr(), nil)
	if p.W == nil {
		return func() {}
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		defer p.End()
		tick := time.NewTicker(showEvery)
		defer tick.Stop()
		var last int64
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			events := r.events.Load()
			line := r.line(float64(events-last) / showEvery.Seconds())
			last = events
			fmt.Fprintf(p.W, "\r%-*s", p.Width, line)
			p.Width = len(line)
		}
	}()
	return func() {
		close(done)
		<-over
	}
}

// line says how the recording goes.
func (r *recording) line(rate float64) string {
	received := r.session.Received()
	if from := r.stopping.Load(); from > 0 {
		return fmt.Sprintf("stopping: the runtime has written %sB more; ^C ends it without the names of methods", show.Short(float64(received-from+1)))
	}
	line := fmt.Sprintf("%s  %sB, %s events, %s/s, %d lost", time.Since(r.begun).Round(time.Second), show.Short(float64(received)), show.Short(float64(r.events.Load())), show.Short(rate), r.lost.Load())
	if newest := r.newest.Load(); newest > 0 && rate > 0 {
		line += fmt.Sprintf(", %d ms behind", max(time.Since(time.Unix(0, newest)).Milliseconds(), 0))
	}
	return line
}

// muchRundown is from how many bytes on a list of methods that is most of a file is worth a word.
const muchRundown = 4 << 20

// conclude closes the file and sums up its contents.
func (r *recording) conclude(out *recordingFile, err error) error {
	if failed := r.failed.Load(); failed != nil {
		err = *failed
	}
	closeErr := out.Close()
	stderr := r.cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "etw: recorded %d events, %sB, in %s: %s\n", r.events.Load(), show.Short(float64(r.session.Received())),
		time.Since(r.begun).Round(100*time.Millisecond), cli.Clean(out.describe()))
	if from, all := r.stopping.Load(), r.session.Received(); from > 0 && all-from > all/2 && all-from > muchRundown {
		fmt.Fprintf(stderr, "etw: %sB of that and %s are the list of methods at the end: --rundown none leaves it out where no call stacks are wanted\n",
			show.Short(float64(all-from)), time.Since(time.Unix(0, r.stopped.Load())).Round(100*time.Millisecond))
	}
	if lost := r.lost.Load(); lost > 0 {
		cli.Report(r.cmd, fmt.Errorf("%d events were lost; raise --buffer-mb, or record less", lost))
		err = cmp.Or(err, cli.ErrReported)
	}
	switch {
	case err == nil || err == cli.ErrReported:
	case errors.Is(err, eventpipe.ErrClosed):
		cli.Report(r.cmd, errors.New("the recording was left before its end: it is read as far as it goes, and has no names of methods"))
		err = cli.ErrReported
	case errors.Is(err, nettrace.ErrNotStopped) && nettrace.IsBrokenOff(err):
		cli.Report(r.cmd, errors.New("the process ended before it could end the recording, which is read as far as it goes"))
		err = cli.ErrReported
	case errors.Is(err, etw.ErrIncomplete):
		cli.Report(r.cmd, fmt.Errorf("the recording is not complete: %w", err))
		err = cli.ErrReported
	}
	return cmp.Or(err, closeErr)
}

// A recordingFile is where a recording is written: one file, or a ring of them.
type recordingFile struct {
	path  string
	file  *os.File
	split *splitter // nil if there is one file
}

func (f *recordingFile) Write(p []byte) (int, error) {
	if f.split != nil {
		return f.split.Write(p)
	}
	return f.file.Write(p)
}

// Close closes the file.
func (f *recordingFile) Close() error {
	if f.split != nil {
		return f.split.Close()
	}
	if f.file == os.Stdout {
		return nil
	}
	return f.file.Close()
}

// discard removes a file in which nothing is.
func (f *recordingFile) discard() {
	if f.file != nil && f.file != os.Stdout {
		os.Remove(f.path)
	}
}

// keep keeps all files from now on.
func (f *recordingFile) keep() {
	if f.split != nil {
		f.split.keeps = true // the files that there are, and all that follow
	}
}

// stay begins no other file any more: the runtime's events at the end, such as the names of
// methods, are not to push out the recording.
func (f *recordingFile) stay() {
	if f.split != nil {
		f.split.stay()
	}
}

// describe names the file, or the files.
func (f *recordingFile) describe() string {
	switch {
	case f.file == os.Stdout:
		return "the standard output"
	case f.split != nil:
		return strings.Join(f.split.names(), ", ")
	}
	return f.path
}

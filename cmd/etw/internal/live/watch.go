package live

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/trace"
)

// NewWatch returns the command that prints events as they come.
func NewWatch() *cobra.Command {
	w := &watch{dump: look.Dump{Follow: true}}
	cmd := &cobra.Command{
		Use:   "watch [flags] (-p PID | --name NAME | --port PATH | -- COMMAND... | --providers LIST | --kernel FLAGS)",
		Short: "Print the events of a live .NET process, or of a machine with Windows, as they come",
		Long: `Watch prints the events of a .NET process, from .NET Core 3.1 on, as dump does those of
a trace, until the process ends, --duration is over, --limit is reached, or an
interrupt (^C). It takes the same filters and prints the same formats. Events come a
fifth of a second late, since the runtime writes ten times a second and the threads'
events are put in order.

Watch has the process log the events of the filters --event and --provider, and nothing
else. --profile and --providers add to that; without any of these it is the profile
common. etw help recording explains these.

A command after -- is started suspended (.NET 5 and later), so that its first events
are there, too.

On Windows, --providers or --kernel without a process starts a session of Event Tracing
for Windows, and prints the events of all processes, a second or two after it happened.
There the flags have the meaning of etw record: *NAME is an EventSource, --stacks has
call stacks logged, too, and --buffer-mb is ` + fmt.Sprint(windows.SessionBufferMB) + ` unless it is given. Filters choose what
is printed. It takes an elevated prompt. Exit code 1 says that events were lost.`,
		Example: `  etw watch -p 1234 --event GCEnd --event 'Exception*'
  etw watch --name MyService --provider My-EventSource --where 'Size > 1000'
  etw watch -p 1234 --profile exceptions --stacks --format jsonl | jq -c .fields
  etw watch --providers clr:gc:verbose --limit 100 -- dotnet app.dll
  etw watch --providers 'clr:exception:warning,*My-EventSource' --process 1234
  etw watch --kernel process+image_load --duration 30s --format jsonl`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              w.main,
	}
	w.target.flags(cmd)
	w.enabling.Flags(cmd)
	windows.KernelFlag(cmd, &w.kernel)
	w.dump.Style.Flags(cmd)
	w.dump.Sel.Flags(cmd)
	cmd.Flags().Int64VarP(&w.dump.Limit, "limit", "n", 0, "print no more than the first `N` events")
	cmd.Flags().DurationVar(&w.duration, "duration", 0, "stop after this `TIME`, such as 30s or 5m")
	w.dump.Out.Flags(cmd)
	w.dump.In.ManifestFlag(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"limit": cobra.NoFileCompletions, "duration": cobra.NoFileCompletions})
	return cmd
}

// A watch is a dump of a live process, or of all of a machine.
type watch struct {
	target   target
	enabling windows.Enabling
	kernel   string
	dump     look.Dump
	duration time.Duration
}

// main runs the command.
func (w *watch) main(cmd *cobra.Command, args []string) error {
	if w.isMachine(args) {
		return w.machine(cmd)
	}
	cfg, err := w.check(cmd, args)
	if err != nil {
		return err
	}
	live, err := openLive(cmd, &w.target, args, cfg, w.duration)
	if err != nil {
		return err
	}
	defer live.Close()
	t, err := trace.Read(live.String(), live.Session)
	if err != nil {
		return live.explain(err)
	}
	return w.print(t)
}

// print prints the events of a trace as they come.
func (w *watch) print(t *trace.Trace) error {
	defer t.Close()
	src, err := w.dump.Prepare(t, nil)
	if err != nil {
		return err
	}
	w.dump.P = w.dump.Out.Open(w.dump.Cmd, true)
	return w.dump.P.Close(w.dump.Run(t, src))
}

// check reads the flags and returns the events to record.
func (w *watch) check(cmd *cobra.Command, args []string) (cfg eventpipe.Config, err error) {
	d := &w.dump
	if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		return cfg, cli.Usagef("%q is no flag; a command to start comes after --", args[0])
	}
	if !w.target.given() && len(args) == 0 {
		return cfg, cli.Usagef("no source: give -p PID (etw ps lists them), --name NAME, --port PATH, or -- COMMAND to start one; or, for all of a machine with Windows, --providers or --kernel")
	}
	if err := w.target.check(args); err != nil {
		return cfg, err
	}
	if w.kernel != "" {
		return cfg, cli.Usagef("--kernel is for all of a machine, not for one process")
	}
	if err := w.checkDump(cmd); err != nil {
		return cfg, err
	}
	asked := append(windows.ForEvents(d.Selector), windows.UnknownProviders(d.Selector, d.Sel.Providers)...)
	fallback := "common"
	if len(asked) > 0 {
		cfg, err = w.enabling.Config()
	} else {
		cfg, err = w.enabling.Config(fallback)
	}
	cfg.Providers = eventpipe.Merge(append(cfg.Providers, asked...))
	if w.enabling.Rundown == windows.RundownAuto {
		cfg.Rundown = 0
	}
	return cfg, err
}

// checkDump reads the flags that choose the output, and its form.
func (w *watch) checkDump(cmd *cobra.Command) error {
	d := &w.dump
	d.Cmd = cmd
	if cmd.Flags().Changed("limit") && d.Limit <= 0 {
		return cli.Usagef("--limit: %d is not a number of events to print, from 1 on", d.Limit)
	}
	if cmd.Flags().Changed("duration") && w.duration <= 0 {
		return cli.Usagef("--duration %v: it must be longer than nothing", w.duration)
	}
	if err := cmp.Or(d.Style.Check(), d.Out.Check(cmd)); err != nil {
		return err
	}
	known, err := pick.ReadManifests(cmd, d.In.Manifests)
	if err != nil {
		return err
	}
	if d.Selector, err = d.Sel.Selector(known); err != nil {
		return err
	}
	return d.Selector.CheckLive()
}

// A live is a session of a process that a command reads.
type live struct {
	*eventpipe.Session
	process *attached
	undo    []func() bool
}

// openLive attaches to a process and starts a session, which ends with an interrupt or
// after a time.
func openLive(cmd *cobra.Command, t *target, command []string, cfg eventpipe.Config, duration time.Duration) (*live, error) {
	ctx := cmd.Context()
	a, err := t.attach(cmd, command)
	if err != nil {
		return nil, err
	}
	s, err := a.Start(ctx, cfg)
	if err == nil {
		if err = a.resume(ctx); err != nil {
			s.Close()
		}
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	l := &live{Session: s, process: a}
	stop := func() {
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			s.Close()
		}
	}
	l.undo = append(l.undo, context.AfterFunc(ctx, stop))
	if duration > 0 {
		l.undo = append(l.undo, time.AfterFunc(duration, stop).Stop)
	}
	return l, nil
}

// String names the process.
func (l *live) String() string { return fmt.Sprintf("%v (%s)", l.process, l.process.name) }

// explain says of a session without a begin that its process has ended.
func (l *live) explain(err error) error {
	if l.Received() == 0 {
		return fmt.Errorf("%v ended before any event came", l)
	}
	return err
}

// Close ends the session, if it still goes on, and gives the process up.
func (l *live) Close() error {
	for _, undo := range l.undo {
		undo()
	}
	return cmp.Or(l.Session.Close(), l.process.Close())
}

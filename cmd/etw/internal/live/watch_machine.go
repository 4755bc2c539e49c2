package live

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/session"
	"github.com/etwgen/etwgen/trace"
)

// isMachine reports whether the events of all processes are asked for: the flags choose
// events, and no process.
func (w *watch) isMachine(args []string) bool {
	return !w.target.given() && len(args) == 0 && (len(w.enabling.Providers) > 0 || w.kernel != "")
}

// sessionConfig reads the flags for a session of Windows.
func (w *watch) sessionConfig(cmd *cobra.Command) (session.Config, error) {
	for _, name := range []string{"profile", "no-stacks", "block"} {
		if cmd.Flags().Changed(name) {
			return session.Config{}, cli.Usagef("--%s is for a .NET process: -p PID", name)
		}
	}
	if w.enabling.Rundown != windows.RundownAuto && w.enabling.Rundown != windows.RundownNone {
		return session.Config{}, cli.Usagef("--rundown %s is for a .NET process: -p PID", w.enabling.Rundown)
	}
	m := windows.MachineEnabling{
		Providers: w.enabling.Providers, Kernel: w.kernel, Stacks: w.dump.Style.ShowsStacks(), Rundown: windows.RundownNone,
		BufferMB: windows.SessionBufferMB, Manifests: w.dump.In.Manifests,
	}
	if cmd.Flags().Changed("buffer-mb") {
		m.BufferMB = w.enabling.BufferMB
	}
	return m.Config(cmd)
}

// machine prints the events of a session of Windows.
func (w *watch) machine(cmd *cobra.Command) error {
	if err := w.checkDump(cmd); err != nil {
		return err
	}
	cfg, err := w.sessionConfig(cmd)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" { // a constant: what follows is not linked there
		return fmt.Errorf("%w; for a .NET process give -p PID", session.Supported())
	}
	ctx := cmd.Context()
	s, err := session.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	stop := func() {
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			s.Close()
		}
	}
	defer context.AfterFunc(ctx, stop)()
	if w.duration > 0 {
		defer time.AfterFunc(w.duration, stop).Stop()
	}
	return w.print(trace.Of("session "+s.Header().SessionName, liveSession{s}))
}

// A liveSession is a session of Windows as a trace.
type liveSession struct{ *session.Session }

func (s liveSession) Format() string { return "session of ETW" }

func (s liveSession) Clock() etw.Clock { return s.Header().Clock }

func (s liveSession) Stats() trace.Stats {
	n := s.Session.Stats()
	return trace.Stats{
		Records:     n.Records,
		Lost:        n.Lost + n.DroppedEvents,
		LostBuffers: n.LostLogBuffers + n.LostBuffers,
		Undecodable: n.Undecodable + n.Unknown,
		OutOfOrder:  n.OutOfOrder,
	}
}

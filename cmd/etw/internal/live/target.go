package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

// A target holds the flags that say which live process is meant.
type target struct {
	pids []int // as given
	pid  int   // the only one of them
	name string
	port string
}

// flags defines the flags, before those of filters, whose -p is for a provider.
func (t *target) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntSliceVarP(&t.pids, "attach", "p", nil, "attach to the process with this `PID`; etw ps lists them")
	f.StringVar(&t.name, "name", "", "attach to the process of this `NAME`: of its program, assembly or service")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"attach": completeLive, "name": cobra.NoFileCompletions})
	if f.Lookup("port") != nil { // it is that of a page
		return
	}
	f.StringVar(&t.port, "port", "", "attach by the diagnostics socket or pipe at this `PATH`; if nobody listens\nthere, wait for a process with the path in DOTNET_DiagnosticPorts")
}

// completeLive completes the pids of live processes.
func completeLive(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, _ := eventpipe.Processes(ctx)
	var out []string
	for _, p := range list {
		if pid := strconv.Itoa(p.PID); p.Err == nil && strings.HasPrefix(pid, begun) {
			out = append(out, pid+"\t"+cli.Clean(p.CommandLine))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// given reports whether any of the flags is.
func (t *target) given() bool { return len(t.pids) > 0 || t.name != "" || t.port != "" }

// check reports flags that exclude each other. A command to launch is one more way to
// name a process.
func (t *target) check(command []string) error {
	ways := 0
	for _, given := range []bool{len(t.pids) > 0, t.name != "", t.port != "", len(command) > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return cli.Usagef("which process? Give -p PID (etw ps lists them), --name NAME, --port PATH, or -- COMMAND to start one")
	case ways > 1:
		return cli.Usagef("-p, --name, --port and a command exclude each other")
	case len(t.pids) > 1:
		return cli.Usagef("-p takes one process; several go with etw collect --system")
	case len(t.pids) == 0:
		return nil
	}
	if t.pid = t.pids[0]; t.pid <= 0 {
		return cli.Usagef("-p %d: no process has this number", t.pid)
	}
	return nil
}

// An attached is a process that commands can be given to.
type attached struct {
	*eventpipe.Client
	name    string // for files
	waiting bool   // it is suspended, and to be resumed
	child   *eventpipe.Child
	closers []func() error
}

// Close gives up the process. One that was launched and still runs goes on.
func (a *attached) Close() error {
	var err error
	for i := len(a.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, a.closers[i]())
	}
	return err
}

// resume lets a process run that waits for it.
func (a *attached) resume(ctx context.Context) error {
	if !a.waiting {
		return nil
	}
	a.waiting = false
	return a.Resume(ctx)
}

// attach connects to the process, or starts it.
func (t *target) attach(cmd *cobra.Command, command []string) (*attached, error) {
	ctx := cmd.Context()
	switch {
	case len(command) > 0:
		return launch(cmd, command)
	case t.port != "":
		return t.byPort(cmd)
	case t.name != "":
		p, err := t.find(ctx)
		if err != nil {
			return nil, err
		}
		t.pid = p.PID
	}
	c, err := eventpipe.DialPID(ctx, t.pid)
	if err != nil {
		return nil, err
	}
	return newAttached(ctx, c), nil
}

// newAttached finds out the name of the process.
func newAttached(ctx context.Context, c *eventpipe.Client) *attached {
	a := &attached{Client: c, name: "dotnet", closers: []func() error{c.Close}}
	if info, err := c.Info(ctx); err == nil { // .NET Core 3.1 does not say
		a.name = programName(info.Assembly, info.CommandLine)
	}
	return a
}

// programName returns a short name for a process.
func programName(assembly, command string) string {
	if assembly != "" {
		return assembly
	}
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return "dotnet"
	}
	if base := pick.BaseName(fields[0]); base != "dotnet" || len(fields) == 1 {
		return base
	}
	return pick.BaseName(fields[1])
}

// find returns the only process of the name.
func (t *target) find(ctx context.Context) (*attach.Process, error) {
	all, err := attach.Find(ctx)
	if err != nil {
		return nil, err
	}
	named, run := attach.Target{Name: t.name}, attach.Target{Executable: t.name}
	var found []*attach.Process
	var names, pids, silent []string
	for _, p := range all {
		names = append(names, p.Names()...)
		switch {
		case named.Is(p) || run.Is(p):
			found = append(found, p)
			pids = append(pids, strconv.Itoa(p.PID))
		case p.Err != nil:
			silent = append(silent, p.String())
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("%d processes are called %q: choose one with -p %s", len(found), t.name, strings.Join(pids, ", "))
	case len(silent) > 0:
		return nil, fmt.Errorf("no .NET process is called %q%s, of those that answer; %s does not: etw ps says why", t.name, cli.DidYouMean(t.name, names), cli.Clean(strings.Join(silent, ", ")))
	}
	return nil, fmt.Errorf("no .NET process is called %q%s; etw ps lists them", t.name, cli.DidYouMean(t.name, names))
}

// byPort connects to a port at which somebody listens, or waits for a process there.
func (t *target) byPort(cmd *cobra.Command) (*attached, error) {
	ctx := cmd.Context()
	c, err := eventpipe.DialSocket(ctx, t.port)
	if err == nil {
		return newAttached(ctx, c), nil
	}
	if !errors.Is(err, eventpipe.ErrNotFound) {
		return nil, err
	}
	path := t.port
	if runtime.GOOS != "windows" { // where it is the name of a pipe
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	l, err := eventpipe.Listen(path)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: waiting for a process with DOTNET_DiagnosticPorts=%s\n", cli.Clean(l.Variable(true)))
	if c, err = l.Accept(ctx); err != nil {
		l.Close()
		return nil, err
	}
	a := newAttached(ctx, c)
	a.waiting = true
	a.closers = append([]func() error{l.Close}, a.closers...)
	return a, nil
}

// launch starts a program that waits, without a standard input. Its output goes to our
// standard error, since the output is ours.
func launch(cmd *cobra.Command, command []string) (*attached, error) {
	program := exec.Command(command[0], command[1:]...)
	program.Stdout, program.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	cli.IgnoreInterrupt(program)
	child, err := eventpipe.Launch(cmd.Context(), program)
	if err != nil {
		return nil, err
	}
	a := newAttached(cmd.Context(), child.Client)
	a.child, a.waiting = child, true
	a.closers = append([]func() error{child.Close}, a.closers...)
	return a, nil
}

// defaultFile returns the name of a file for a recording of the process.
func (a *attached) defaultFile(now time.Time) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, a.name)
	return name + "_" + now.Format("20060102_150405") + ".nettrace"
}

// openOutput opens the file to record to.
func openOutput(path string) (*os.File, error) {
	if path == cli.StdoutPath {
		return os.Stdout, nil
	}
	return os.Create(path)
}

package eventpipe

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// portsVariable tells a runtime where to connect to.
const portsVariable = "DOTNET_DiagnosticPorts"

// A Child is a program that was launched. It waits to be resumed.
type Child struct {
	*Client
	listener *Listener
	cmd      *exec.Cmd
	done     func()
	exited   chan struct{}
	err      error // of the program, once it has exited

	others context.Context // for what else connects
	end    context.CancelFunc
	wait   sync.WaitGroup // for them
}

// Launch starts a .NET program that does nothing yet, so that sessions which are
// started now miss nothing: Resume lets it run. Programs that it starts in turn run as
// usual. Launch takes .NET 5; an older runtime runs at once, and is ended by Launch
// when it has not connected by the deadline of ctx, or by [DefaultTimeout].
//
// Launch sets the variable DOTNET_DiagnosticPorts. cmd must not have been started; its
// Wait is for [Child.Wait] alone.
func Launch(ctx context.Context, cmd *exec.Cmd) (*Child, error) {
	path, done, err := newPort()
	if err != nil {
		return nil, fmt.Errorf("eventpipe: %w", err)
	}
	l, err := Listen(path)
	if err != nil {
		done()
		return nil, err
	}
	c := &Child{listener: l, cmd: cmd, done: done, exited: make(chan struct{})}
	cmd.Env = withPort(cmd.Environ(), l.Variable(true))
	if err := cmd.Start(); err != nil {
		l.Close()
		done()
		return nil, fmt.Errorf("eventpipe: %w", err)
	}
	go func() {
		c.err = cmd.Wait()
		close(c.exited)
	}()
	c.others, c.end = context.WithCancel(context.Background())
	if err := c.awaitRuntime(ctx); err != nil {
		cmd.Process.Kill()
		c.Close()
		return nil, err
	}
	c.wait.Go(c.resumeOthers)
	return c, nil
}

// withPort adds a port to those of an environment.
func withPort(environ []string, port string) []string {
	for i := len(environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(environ[i], portsVariable+"="); ok && value != "" {
			port = value + ";" + port
			break
		}
	}
	return append(environ, portsVariable+"="+port)
}

// awaitRuntime waits for the program to connect.
func (c *Child) awaitRuntime(ctx context.Context) error {
	ctx, cancel := (&Client{timeout: DefaultTimeout}).bounded(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	client, err := c.listener.Accept(ctx)
	if err == nil {
		c.Client = client
		return nil
	}
	name := c.cmd.Path
	select {
	case <-c.exited:
		return fmt.Errorf("eventpipe: %s ended (%v) before a .NET runtime connected: is it a .NET program of version 5 or newer?", name, c.cmd.ProcessState)
	default:
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("eventpipe: %s was started, but no .NET runtime has connected, and it was ended again: it takes .NET 5, without "+
			"DOTNET_EnableDiagnostics=0: %w", name, err)
	}
	return fmt.Errorf("eventpipe: %s: %w", name, err)
}

// resumeOthers resumes others that connect: programs that the program starts, which have its
// environment and so wait, too.
func (c *Child) resumeOthers() {
	for {
		client, err := c.listener.Accept(c.others)
		if err != nil {
			return
		}
		c.wait.Go(func() {
			// One that cannot be resumed has ended.
			_ = client.Resume(c.others)
			client.Close()
		})
	}
}

// Done returns a channel that is closed when the program has ended.
func (c *Child) Done() <-chan struct{} { return c.exited }

// Wait waits for the program to end, and returns how it ended, as [exec.Cmd.Wait] does.
func (c *Child) Wait() error {
	<-c.exited
	return c.err
}

// Kill ends the program.
func (c *Child) Kill() error { return c.cmd.Process.Kill() }

// Close gives up the port of the program. The program itself runs on, but for one that
// was not resumed, which would wait for ever: Kill it first.
func (c *Child) Close() error {
	c.end()
	err := c.listener.Close()
	c.wait.Wait()
	c.done()
	return err
}

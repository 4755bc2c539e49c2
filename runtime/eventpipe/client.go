package eventpipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// DefaultTimeout is how long a command may take whose context has no deadline.
const DefaultTimeout = 10 * time.Second

// A conn is a connection to a runtime: a Unix socket, or a pipe of Windows.
type conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

// A Client gives commands to one process. It holds no connection, since each command
// takes its own, and may be used by several goroutines at once.
type Client struct {
	name    string
	connect func(context.Context) (conn, error)
	timeout time.Duration // for commands whose context has no deadline

	close  func()
	closed sync.Once
	cookie etw.GUID // of a process that connected to us
	peer   atomic.Int64
}

// String returns the name of the process: its pid, or the path of its socket.
func (c *Client) String() string { return c.name }

// PID returns the number of the process, as this one sees it, where the system tells it as Linux
// does. It is 0 elsewhere, of a process in another namespace, and before a command was given.
func (c *Client) PID() int { return int(c.peer.Load()) }

// Cookie returns the identity of the process, which pids do not across namespaces. It is
// known from the start if the process connected to a [Listener]; otherwise it is zero here,
// and [Info] has it.
func (c *Client) Cookie() etw.GUID { return c.cookie }

// Close gives up the connections that a process made to a [Listener]. A client that
// connects itself has nothing to close. Sessions go on.
func (c *Client) Close() error {
	if c.close != nil {
		c.closed.Do(c.close)
	}
	return nil
}

// aLongTimeAgo is a deadline that has passed.
var aLongTimeAgo = time.Unix(1, 0)

// A call is a command that was sent, on its connection.
type call struct {
	client *Client
	cmd    command
	conn   conn
	ctx    context.Context
	cancel context.CancelFunc
	detach func() bool // stops the watch over ctx
}

// send connects and sends a message in one write: whoever connects and then is slow
// blocks the runtime's only server thread for all.
func (c *Client) send(ctx context.Context, m *message) (*call, error) {
	data, err := m.seal()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	k := &call{client: c, cmd: m.cmd, ctx: ctx, cancel: cancel}
	if k.conn, err = c.connect(ctx); err != nil {
		err = k.wrap(err)
		cancel()
		return nil, err
	}
	c.peer.Store(int64(peerOf(k.conn)))
	k.detach = context.AfterFunc(ctx, func() { k.conn.SetDeadline(aLongTimeAgo) })
	if n, err := k.conn.Write(data); err != nil {
		if n == 0 && isBroken(err) {
			err = ErrNoAnswer
		}
		return nil, k.fail(err)
	}
	return k, nil
}

// bounded gives ctx the client's timeout, if it has no deadline.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || c.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// answer reads the answer. After an error the connection is closed.
func (k *call) answer() (*parser, error) {
	kind, payload, err := readAnswer(k.conn)
	if err == nil && kind == answerFail {
		err = k.refused(payload)
	}
	if err != nil {
		return nil, k.fail(err)
	}
	return &parser{b: payload}, nil
}

// refused returns the error that an answer means.
func (k *call) refused(payload []byte) error {
	p := &parser{b: payload}
	e := &RefusedError{Process: k.client.name, Command: k.cmd.String(), Since: commands[k.cmd].since, Code: Code(p.u32())}
	if text := p.text(); !p.bad {
		e.Text = text
	}
	return e
}

// release gives up the deadline and returns the connection, on which a stream goes
// on.
func (k *call) release() (conn, error) {
	if !k.detach() {
		return nil, k.fail(k.ctx.Err())
	}
	if err := k.conn.SetDeadline(time.Time{}); err != nil {
		return nil, k.fail(err)
	}
	k.cancel()
	return k.conn, nil
}

func (k *call) close() {
	k.detach()
	k.conn.Close()
	k.cancel()
}

// fail closes the call and returns the error.
func (k *call) fail(err error) error {
	err = k.wrap(err) // which looks at the context
	k.close()
	return err
}

// wrap names the subject of an error, and the possible cause of a timeout.
func (k *call) wrap(err error) error {
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return err
	case k.ctx.Err() == context.DeadlineExceeded, errors.Is(err, os.ErrDeadlineExceeded) && k.ctx.Err() == nil:
		return fmt.Errorf("eventpipe: %s: %v: no answer in time: the process may be stopping another session, be stopped itself, "+
			"or have its diagnostics port blocked by a tool that connected and sends nothing: %w", k.client.name, k.cmd, context.DeadlineExceeded)
	case k.ctx.Err() != nil:
		err = k.ctx.Err()
	case isBroken(err):
		err = ErrNoAnswer
	}
	return fmt.Errorf("eventpipe: %s: %v: %w", k.client.name, k.cmd, err)
}

// ask sends a command and returns the payload of its answer.
func (c *Client) ask(ctx context.Context, m *message) (*parser, error) {
	k, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	p, err := k.answer()
	if err != nil {
		return nil, err
	}
	k.close()
	return p, nil
}

// tell sends a command whose answer is nothing, or a result: an HRESULT.
func (c *Client) tell(ctx context.Context, m *message) error {
	p, err := c.ask(ctx, m)
	if err != nil || len(p.b) == 0 {
		return err
	}
	result := p.u32()
	if err := p.err(m.cmd); err != nil {
		return fmt.Errorf("eventpipe: %s: %w", c.name, err)
	}
	if int32(result) < 0 {
		return &RefusedError{Process: c.name, Command: m.cmd.String(), Since: commands[m.cmd].since, Code: Code(result)}
	}
	return nil
}

package eventpipe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A process that connects to us says who it is, and then waits for one command:
//
//	magic "ADVR_V1\x00", cookie [16]byte, pid u64, reserved u16
//
// When it has that, it connects again for the next one.
const (
	advertMagic = "ADVR_V1\x00"
	advertSize  = 34
	// advertTimeout is how long a process may take to say who it is.
	advertTimeout = 10 * time.Second
	// maxWaiting bounds the connections of one process that wait for a command. Two
	// at once have been seen.
	maxWaiting = 16
)

// An acceptor accepts the connections to a path.
type acceptor interface {
	accept() (conn, error)
	Close() error
}

// A Listener waits at a path for processes whose variable DOTNET_DiagnosticPorts has
// the path in it. That takes .NET 5; older runtimes ignore the variable.
type Listener struct {
	path     string
	acceptor acceptor
	wait     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[conn]bool // connections that no command has taken
	ports   map[etw.GUID]*port
	fresh   []*port       // that Accept has not returned yet
	changed chan struct{} // closed at the next change
}

// Listen listens at the path of a socket, or on Windows of a pipe, which may lack
// \\.\pipe\. A socket that nobody listens at any more is replaced.
func Listen(path string) (*Listener, error) {
	a, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("eventpipe: %w", err)
	}
	return newListener(path, a), nil
}

func newListener(path string, a acceptor) *Listener {
	l := &Listener{path: path, acceptor: a, open: make(map[conn]bool), ports: make(map[etw.GUID]*port), changed: make(chan struct{})}
	l.wait.Go(l.serve)
	return l
}

// Variable returns the setting that has a program connect to l: a value for
// DOTNET_DiagnosticPorts. With suspend the program waits until it is resumed.
func (l *Listener) Variable(suspend bool) string {
	if suspend {
		return portName(l.path) + ",suspend"
	}
	return portName(l.path) + ",nosuspend"
}

// Accept returns a client of the next process that connects for the first time. It
// waits until there is one, ctx is done or l is closed.
func (l *Listener) Accept(ctx context.Context) (*Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.closed {
			return nil, fmt.Errorf("eventpipe: the port %s is %w", l.path, ErrClosed)
		}
		if len(l.fresh) > 0 {
			p := l.fresh[0]
			l.fresh = l.fresh[1:]
			p.taken = true
			return p.client(), nil
		}
		if err := l.await(ctx); err != nil {
			return nil, fmt.Errorf("eventpipe: no process has connected to %s: %w", l.path, err)
		}
	}
}

// await waits for a change. The caller holds mu.
func (l *Listener) await(ctx context.Context) error {
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notify wakes all that wait for a change. The caller holds mu.
func (l *Listener) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Close stops listening, and gives up all connections that wait for a command.
// Sessions go on.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	err := l.acceptor.Close()
	for c := range l.open {
		c.Close()
	}
	l.notify()
	l.mu.Unlock()
	l.wait.Wait()
	return err
}

// serve accepts connections.
func (l *Listener) serve() {
	for {
		c, err := l.acceptor.accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		if l.open[c] = true; l.closed {
			c.Close()
		}
		l.mu.Unlock()
		l.wait.Go(func() {
			if !l.greet(c) {
				c.Close()
			}
			l.mu.Lock()
			delete(l.open, c)
			l.mu.Unlock()
		})
	}
}

// greet reads who connects, and queues the connection until it is used, which greet
// reports, or broken.
func (l *Listener) greet(c conn) bool {
	var advert [advertSize]byte
	c.SetDeadline(time.Now().Add(advertTimeout))
	_, err := io.ReadFull(c, advert[:])
	if err != nil || string(advert[:8]) != advertMagic || c.SetDeadline(time.Time{}) != nil {
		return false
	}
	v := &visitor{conn: c, left: make(chan struct{})}
	cookie, pid := etw.GUID(advert[8:24]), int64(binary.LittleEndian.Uint64(advert[24:]))
	p := l.queue(cookie, pid, v)
	if p == nil {
		return false
	}
	// A runtime says nothing more before it has a command, so that a read ends only
	// when it is gone, or when the connection is wanted.
	_, err = c.Read(advert[:1])
	v.alive = errors.Is(err, os.ErrDeadlineExceeded)
	close(v.left)
	if !v.alive {
		l.mu.Lock()
		defer l.mu.Unlock()
		p.remove(v)
	}
	return v.alive
}

// queue adds a connection to those of its process. It returns nil if there are enough.
func (l *Listener) queue(cookie etw.GUID, pid int64, v *visitor) *port {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	p := l.ports[cookie]
	if p == nil {
		p = &port{listener: l, cookie: cookie, pid: pid}
		l.ports[cookie] = p
		l.fresh = append(l.fresh, p)
	}
	if len(p.waiting) >= maxWaiting {
		return nil
	}
	p.waiting = append(p.waiting, v)
	l.notify()
	return p
}

// A visitor is a connection that waits for a command.
type visitor struct {
	conn  conn
	left  chan struct{} // closed when nobody reads any more
	alive bool          // known then
}

// A port is a process that connects to us.
type port struct {
	listener *Listener
	cookie   etw.GUID
	pid      int64
	waiting  []*visitor // the oldest first
	taken    bool       // Accept has returned it
	ignored  bool       // its client was closed
}

func (p *port) client() *Client {
	return &Client{
		name: nameOf(int(p.pid)), cookie: p.cookie, timeout: DefaultTimeout,
		connect: p.connect, close: p.ignore,
	}
}

// connect returns the oldest connection of the process that is still good, and waits
// for one.
func (p *port) connect(ctx context.Context) (conn, error) {
	l := p.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.closed || p.ignored {
			return nil, ErrClosed
		}
		if len(p.waiting) == 0 {
			if err := l.await(ctx); err != nil {
				return nil, err
			}
			continue
		}
		v := p.waiting[0]
		p.waiting = p.waiting[1:]
		l.mu.Unlock()
		v.conn.SetReadDeadline(aLongTimeAgo)
		<-v.left
		l.mu.Lock()
		if v.alive && v.conn.SetDeadline(time.Time{}) == nil {
			return v.conn, nil
		}
	}
}

// ignore has the connections of the process wait for ever, so that it does not keep
// connecting.
func (p *port) ignore() {
	l := p.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	p.ignored = true
	p.forget()
	l.notify()
}

// remove takes a connection that is broken from the queue. The caller holds mu.
func (p *port) remove(v *visitor) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *visitor) bool { return w == v })
	p.forget()
}

// forget drops a process of which nothing is left: no connection, and no client. The
// caller holds mu.
func (p *port) forget() {
	if len(p.waiting) > 0 || p.taken && !p.ignored {
		return
	}
	l := p.listener
	delete(l.ports, p.cookie)
	l.fresh = slices.DeleteFunc(l.fresh, func(q *port) bool { return q == p })
}

package eventpipe

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// connecting returns a runtime that connects to a listener of pipes until the test ends.
func connecting(version int) (*eventpipetest.Runtime, *testAcceptor, *Listener) {
	rt := eventpipetest.NewRuntime(version)
	a := newTestAcceptor()
	l := newListener("port", a)
	go rt.Connect(a.dial)
	return rt, a, l
}

// TestListener gives commands to a process that connects: each takes a connection.
func TestListener(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt, _, l := connecting(9)
		rt.Stream, rt.Rest = recording(3)
		defer l.Close()
		if got, want := l.Variable(true)+" "+l.Variable(false), "port,suspend port,nosuspend"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c, err := l.Accept(ctx)
		wantError(t, "Accept", err, nil)
		if c.Cookie() != rt.Cookie || c.String() != "process 4711" {
			t.Errorf("%v with the cookie %v", c, c.Cookie())
		}
		s, err := c.Start(ctx, testConfig)
		wantError(t, "Start", err, nil)
		defer s.Close()
		wantError(t, "Resume", c.Resume(ctx), nil)
		wantError(t, "Stop", s.Stop(ctx), nil)
		if n, err := count(s); n != 3 || err != nil || rt.Resumed() != 1 {
			t.Errorf("%d records, %v, resumed %d times", n, err, rt.Resumed())
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err = l.Accept(short)
		wantError(t, "the second Accept", err, context.DeadlineExceeded)
	})
}

// TestSurplusConnections has a process leave broken connections and more than one that
// is good.
func TestSurplusConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := eventpipetest.NewRuntime(9)
		a := newTestAcceptor()
		l := newListener("port", a)
		defer l.Close()
		broken := func() (net.Conn, error) {
			c, err := a.dial()
			if err == nil {
				time.AfterFunc(time.Second, func() { c.Close() })
			}
			return c, err
		}
		for range maxWaiting + 3 {
			go rt.Connect(broken)
		}
		time.Sleep(500 * time.Millisecond)
		c, err := l.Accept(ctx)
		wantError(t, "Accept", err, nil)
		time.Sleep(time.Second) // all are broken
		go rt.Connect(a.dial)
		_, err = c.Info(ctx)
		wantError(t, "Info", err, nil)
	})
}

// TestProcessThatLeaves checks that a process that connects and goes is forgotten, and that
// others than runtimes are not accepted.
func TestProcessThatLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := eventpipetest.NewRuntime(9)
		a := newTestAcceptor()
		l := newListener("port", a)
		defer l.Close()
		for _, bytes := range []string{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "ADVR"} {
			c, err := a.dial()
			wantError(t, "dialing", err, nil)
			c.Write([]byte(bytes))
			go io.Copy(io.Discard, c)
		}
		var gone net.Conn
		go rt.Connect(func() (net.Conn, error) {
			if gone != nil {
				return nil, net.ErrClosed
			}
			c, err := a.dial()
			gone = c
			return c, err
		})
		time.Sleep(time.Second)
		synctest.Wait()
		gone.Close()
		synctest.Wait()
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := l.Accept(short)
		wantError(t, "Accept", err, context.DeadlineExceeded)
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.ports)+len(l.fresh)+len(l.open) > 0 {
			t.Errorf("%d ports, %d of them fresh, %d connections are kept", len(l.ports), len(l.fresh), len(l.open))
		}
	})
}

// TestClosedClient checks that a process whose client was closed is not accepted
// again, and is forgotten when it ends.
func TestClosedClient(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		_, a, l := connecting(9)
		c, err := l.Accept(ctx)
		wantError(t, "Accept", err, nil)
		c.Close()
		c.Close()
		wantError(t, "Resume", c.Resume(ctx), ErrClosed)
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err = l.Accept(short)
		wantError(t, "Accept", err, context.DeadlineExceeded)
		l.Close()
		l.Close()
		_, err = l.Accept(ctx)
		wantError(t, "Accept of a closed listener", err, ErrClosed)
		if _, err := a.dial(); err == nil {
			t.Error("a closed listener accepts connections")
		}
		if len(l.ports)+len(l.open) > 0 {
			t.Errorf("%d ports and %d connections are kept", len(l.ports), len(l.open))
		}
	})
}

// TestSilentProcess checks that a process which does not come back makes a command
// time out.
func TestSilentProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := eventpipetest.NewRuntime(9)
		a := newTestAcceptor()
		l := newListener("port", a)
		defer l.Close()
		first := true
		go rt.Connect(func() (net.Conn, error) {
			if !first {
				return nil, net.ErrClosed
			}
			first = false
			return a.dial()
		})
		c, err := l.Accept(ctx)
		wantError(t, "Accept", err, nil)
		wantError(t, "the first command", c.Resume(ctx), nil)
		wantError(t, "the second command", c.Resume(ctx), context.DeadlineExceeded)
	})
}

// TestListenFile leaves a file alone that is where the socket is to be.
func TestListenFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("of Unix sockets")
	}
	path := filepath.Join(t.TempDir(), "port")
	testio.Write(t, path, []byte("data"))
	if l, err := Listen(path); err == nil || !strings.Contains(err.Error(), "is a file, not a socket") {
		t.Errorf("Listen: %v, %v", l, err)
	}
	if b, err := os.ReadFile(path); string(b) != "data" {
		t.Errorf("the file has %q: %v", b, err)
	}
}

// TestListenSocket does it with a socket: one that is left over is replaced, one in use
// is not.
func TestListenSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("of Unix sockets")
	}
	path := filepath.Join(t.TempDir(), "port")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	if _, err := Listen(path); err == nil {
		t.Error("a port in use is taken over")
	}
	left.Close()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rt := eventpipetest.NewRuntime(9)
	go rt.Connect(func() (net.Conn, error) { return net.Dial("unix", path) })
	c, err := l.Accept(t.Context())
	wantError(t, "Accept", err, nil)
	for range 3 {
		_, err = c.Info(t.Context())
		wantError(t, "Info", err, nil)
	}
	long := filepath.Join(t.TempDir(), string(make([]byte, 200)))
	if _, err := Listen(long); err == nil {
		t.Error("a path that is too long is accepted")
	}
}

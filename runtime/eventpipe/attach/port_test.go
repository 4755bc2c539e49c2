//go:build unix

package attach_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/etwgen/etwgen/runtime/eventpipe"
	. "github.com/etwgen/etwgen/runtime/eventpipe/attach"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A visitor is a process that connects to a port.
type visitor struct {
	*eventpipetest.Runtime
	leave func()
}

// visit has a process connect to a port, and deliver a trace in each session, which
// ends when the process leaves, or at once if it is to fail.
func visit(t *testing.T, port string, number byte, events []byte, fail bool) *visitor {
	rt := eventpipetest.NewRuntime(10)
	rt.Cookie[0], rt.PID = number, 4000+int64(number)
	rt.Stream, rt.Rest = events[:len(events)-1], events[len(events)-1:]
	if fail {
		rt.Record = func(w io.Writer, _ <-chan struct{}) {
			w.Write(events[:len(events)/2])
			w.Write(make([]byte, 1000))
		}
	}
	var mu sync.Mutex
	var all []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		rt.Connect(func() (net.Conn, error) {
			c, err := net.Dial("unix", port)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
			return c, err
		})
	})
	var once sync.Once
	v := &visitor{Runtime: rt, leave: func() {
		once.Do(func() {
			mu.Lock()
			for _, c := range all {
				if c != nil {
					c.Close()
				}
			}
			mu.Unlock()
			rt.Close()
			wg.Wait()
		})
	}}
	return v
}

// started returns how many sessions a process was asked for.
func (v *visitor) started() (n int) {
	for _, r := range v.Requests() {
		if r.Command >= eventpipetest.CollectTracing2 && r.Command <= eventpipetest.CollectTracing5 {
			n++
		}
	}
	return n
}

// open listens at a port in a folder of its own, since paths of sockets are short.
func open(t *testing.T) (Port, string) {
	dir, err := os.MkdirTemp("", "port")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "p")
	l, err := eventpipe.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return Port{Listener: l, Resume: true}, path
}

// TestFull has two processes come of which one may be attached to: the other is resumed
// at once, and attached to when the first has gone.
func TestFull(t *testing.T) {
	port, path := open(t)
	c := new(counter)
	end := c.start(t, Supervisor{Ports: []Port{port}, Max: 1})
	one := visit(t, path, 1, trace(t), false)
	wait(t, "the first is attached to", func() bool { return c.total() >= c.events(t) && one.Resumed() == 1 })
	two := visit(t, path, 2, trace(t), false)
	wait(t, "the second is resumed", func() bool { return two.Resumed() == 1 })
	if n := two.started(); n != 0 {
		t.Errorf("%d sessions above the limit", n)
	}
	one.leave()
	wait(t, "the second is attached to", func() bool { return c.total() >= 2*c.events(t) })
	end()
	two.leave()
	if one.Resumed() != 1 || two.Resumed() != 1 {
		t.Errorf("resumed %d and %d times", one.Resumed(), two.Resumed())
	}
}

// TestTwice has a process come to a port that is attached to by its socket: it is
// resumed, and there is one session.
func TestTwice(t *testing.T) {
	port, path := open(t)
	dir := t.TempDir()
	listen(t, dir)
	c := new(counter)
	end := c.start(t, Supervisor{Ports: []Port{port}, Targets: []Target{{Socket: filepath.Join(dir, "*")}}})
	wait(t, "it is attached to", func() bool { return c.total() >= c.events(t) })
	v := visit(t, path, eventpipetest.NewRuntime(10).Cookie[0], trace(t), false)
	wait(t, "it is resumed", func() bool { return v.Resumed() == 1 })
	end()
	v.leave()
	if v.started() != 0 || c.total() != c.events(t) {
		t.Errorf("%d more sessions, %d records of %d", v.started(), c.total(), c.events(t))
	}
}

// TestEarly has the sessions of a process end early: it is attached to again, and the
// status tells.
func TestEarly(t *testing.T) {
	port, path := open(t)
	c := new(counter)
	end := c.start(t, Supervisor{Ports: []Port{port}})
	v := visit(t, path, 1, trace(t), true)
	wait(t, "there are three sessions", func() bool { return v.started() >= 3 })
	wait(t, "the status tells", func() bool { return strings.Contains(c.said(), "sessions in a row have ended early") })
	end()
	v.leave()
	if v.Resumed() != 1 {
		t.Errorf("resumed %d times", v.Resumed())
	}
}

//go:build unix

package dotnetreceiver

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

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

func portConfig(t *testing.T) (*Config, string) {
	dir, err := os.MkdirTemp("", "port") // since paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := config("")
	cfg.Targets, cfg.Presets = nil, []string{"gc", "counters", "requests"}
	cfg.Ports = []Port{{Path: filepath.Join(dir, "p"), Resume: true}}
	cfg.Reattach.InitialInterval = 10 * time.Millisecond
	return cfg, cfg.Ports[0].Path
}

// TestFull has two processes come of which one may be attached to: the other is resumed
// at once, and attached to when the first has gone.
func TestFull(t *testing.T) {
	b, events := read(t, "../../tests/recorded/gc.nettrace")
	cfg, port := portConfig(t)
	cfg.Discovery.MaxProcesses = 1
	s := &sink{}
	end := start(t, cfg, s)
	one := visit(t, port, 1, b, false)
	wait(t, "the first is attached to", func() bool { return s.total() >= events && one.Resumed() == 1 })
	two := visit(t, port, 2, b, false)
	wait(t, "the second is resumed", func() bool { return two.Resumed() == 1 })
	if n := two.started(); n != 0 {
		t.Errorf("%d sessions above the limit", n)
	}
	one.leave()
	wait(t, "the second is attached to", func() bool { return s.total() >= 2*events })
	if err := end(); err != nil {
		t.Error(err)
	}
	two.leave()
	if one.Resumed() != 1 || two.Resumed() != 1 {
		t.Errorf("resumed %d and %d times", one.Resumed(), two.Resumed())
	}
}

// TestTwice has a process come to a port that is attached to by its socket: it is
// resumed, and there is one session.
func TestTwice(t *testing.T) {
	b, events := read(t, "../../tests/recorded/gc.nettrace")
	cfg, port := portConfig(t)
	dir := t.TempDir()
	cfg.Targets = []Target{{Socket: filepath.Join(dir, "*")}}
	process(t, dir, 10, b)
	s := &sink{}
	end := start(t, cfg, s)
	wait(t, "it is attached to", func() bool { return s.total() >= events })
	v := visit(t, port, eventpipetest.NewRuntime(10).Cookie[0], b, false)
	wait(t, "it is resumed", func() bool { return v.Resumed() == 1 })
	if err := end(); err != nil {
		t.Error(err)
	}
	v.leave()
	if v.started() != 0 || s.total() != events {
		t.Errorf("%d more sessions, %d log records of %d", v.started(), s.total(), events)
	}
}

// TestEarly has the sessions of a process end early: it is attached to again.
func TestEarly(t *testing.T) {
	b, _ := read(t, "../../tests/recorded/gc.nettrace")
	cfg, port := portConfig(t)
	end := start(t, cfg, &sink{})
	v := visit(t, port, 1, b, true)
	wait(t, "there are three sessions", func() bool { return v.started() >= 3 })
	if err := end(); err != nil {
		t.Error(err)
	}
	v.leave()
	if v.Resumed() != 1 {
		t.Errorf("resumed %d times", v.Resumed())
	}
}

package attach_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	. "github.com/etwgen/etwgen/runtime/eventpipe/attach"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// trace returns the bytes of a recorded trace.
func trace(t *testing.T) []byte {
	t.Helper()
	return testio.Read(t, "../../../tests/recorded/gc.nettrace")
}

// listen starts a process that delivers the trace and goes on.
func listen(t *testing.T, dir string) (stop func()) {
	t.Helper()
	b := trace(t)
	rt := eventpipetest.NewRuntime(10)
	rt.CommandLine = "/app/Bakery --port 80"
	rt.Environ = []string{"OTEL_SERVICE_NAME=bakery", "OTEL_RESOURCE_ATTRIBUTES=a=b,service.instance.id=7"}
	rt.Stream, rt.Rest = b[:len(b)-1], b[len(b)-1:]
	_, end, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(end)
	t.Cleanup(stop)
	return stop
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// A counter counts the records of all processes, and keeps the log.
type counter struct {
	mu      sync.Mutex
	records int
	calls   int
	status  string
	log     strings.Builder
	last    Process
	then    error // what serve returns at the end of a session
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records
}

func (c *counter) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

func (c *counter) logged() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// events returns how many the trace has.
func (c *counter) events(t *testing.T) (n int) {
	r := testio.Reader(t, nettrace.NewReader, trace(t))
	for range r.Records() {
		n++
	}
	return n
}

// start runs a supervisor that counts, quickly.
func (c *counter) start(t *testing.T, s Supervisor) (end func()) {
	t.Helper()
	s.Interval, s.Retry = 20*time.Millisecond, 10*time.Millisecond
	s.Log = slog.New(slog.NewTextHandler(c, nil))
	s.Status = func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.status = ""; err != nil {
			c.status = err.Error()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, c.serve) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

func (c *counter) serve(ctx context.Context, p *Process) error {
	c.mu.Lock()
	c.calls++
	c.last = *p
	c.mu.Unlock()
	s, err := p.Session(ctx, eventpipe.Config{Providers: []eventpipe.Provider{{Name: "X", Keywords: 1, Level: etw.LevelVerbose}}})
	if err != nil {
		return err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	for _, err := range s.Records() {
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.records++
		c.mu.Unlock()
	}
	return c.then
}

// TestFollow attaches to a process that ends, and to the one that comes then.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	c := new(counter)
	n := c.events(t)
	end := c.start(t, Supervisor{Targets: []Target{{Socket: filepath.Join(dir, "*")}}})
	stop := listen(t, dir)
	wait(t, "all records are there", func() bool { return c.total() >= n })
	stop()
	listen(t, dir)
	wait(t, "those of the next process are there", func() bool { return c.total() >= 2*n })
	end()
	if p := c.last; c.total() != 2*n || p.Service != "bakery" || p.Instance != "7" || p.Executable != "Bakery" {
		t.Errorf("%d records, want %d, of %+v", c.total(), 2*n, p)
	}
	if n := strings.Count(c.logged(), "msg=attached"); n != 2 {
		t.Errorf("attached %d times:\n%s", n, c.logged())
	}
}

// TestDetach leaves a process alone, and not the one that comes then.
func TestDetach(t *testing.T) {
	dir := t.TempDir()
	b := trace(t)
	rt := eventpipetest.NewRuntime(10)
	rt.Play(b)
	_, stop, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := &counter{then: ErrDetach}
	n := c.events(t)
	end := c.start(t, Supervisor{Targets: []Target{{Socket: filepath.Join(dir, "*")}}})
	wait(t, "all records are there", func() bool { return strings.Contains(c.logged(), "msg=detached") })
	time.Sleep(100 * time.Millisecond) // in which it would be attached to again
	end()
	if c.calls != 1 || c.total() != n {
		t.Errorf("%d calls, %d records, want 1 and %d", c.calls, c.total(), n)
	}
}

// TestMissing has targets that no process is, which the log and the status tell once.
func TestMissing(t *testing.T) {
	c := new(counter)
	end := c.start(t, Supervisor{Targets: []Target{{PID: 1 << 22}, {Name: "nothing-is-called-so"}, {Match: func(*Process) bool { return false }}}})
	wait(t, "the status tells of both", func() bool {
		return strings.Contains(c.said(), "no .NET process matches {pid: 4194304}: ") && strings.Contains(c.said(), "{name: nothing-is-called-so}: ")
	})
	end()
	if n := strings.Count(c.logged(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings:\n%s", n, c.logged())
	}
}

// TestPattern has a pattern of sockets that means nothing.
func TestPattern(t *testing.T) {
	s := Supervisor{Targets: []Target{{Socket: "["}}}
	err := s.Run(t.Context(), nil)
	if !errors.Is(err, filepath.ErrBadPattern) {
		t.Error(err)
	}
}

// TestIs has targets, and whether a process is among them.
func TestIs(t *testing.T) {
	p := &Process{Executable: "appn", Service: "Shop", Container: "abcdef"}
	p.PID, p.Assembly, p.CommandLine = 7, "appn.tmp", "/srv/dotnet /srv/appn.dll"
	for _, c := range []struct {
		target Target
		want   bool
	}{
		{Target{}, true},
		{Target{PID: 7}, true},
		{Target{PID: 8}, false},
		{Target{Name: "APPN"}, true},
		{Target{Name: "appn.dll"}, true},
		{Target{Name: "appn.tmp"}, true},
		{Target{Name: "shop"}, true},
		{Target{Name: "app"}, false},
		{Target{PID: 7, Name: "app"}, false},
		{Target{Pattern: regexp.MustCompile("^appn$")}, true},
		{Target{Pattern: regexp.MustCompile("^shop$")}, false},
		{Target{Executable: "/srv/dotnet"}, true},
		{Target{Executable: "dotnet"}, true},
		{Target{Executable: "/bin/dotnet"}, false},
		{Target{Container: "abc"}, true},
		{Target{Container: "bc"}, false},
		{Target{Socket: "*"}, false},
		{Target{Match: func(p *Process) bool { return p.PID != 7 }}, false},
	} {
		if got := c.target.Is(p); got != c.want {
			t.Errorf("%v is %v, want %v", &c.target, got, c.want)
		}
	}
}

func ExampleFind() {
	list, err := Find(context.Background(), Target{Name: "no-process-is-called-so"})
	fmt.Println(len(list), err)
	// Output: 0 <nil>
}

// The processes of a folder of sockets are attached to until none has been there for a
// while; each has handlers of its own.
func ExampleSupervisor() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	s := Supervisor{Targets: []Target{{Socket: "/diagnostics/dotnet-diagnostic-*"}}}
	err := s.Run(ctx, func(ctx context.Context, p *Process) error {
		var mux etw.Mux
		mux.HandleRest(func(r *etw.Record) error { return nil })
		return p.Run(ctx, &mux)
	})
	fmt.Println(err)
	// Output: <nil>
}

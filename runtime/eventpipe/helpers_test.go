package eventpipe

import (
	"context"
	"errors"
	"net"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// pipes returns a client whose connections lead to rt, without any network.
func pipes(rt *eventpipetest.Runtime) *Client {
	return &Client{name: "process 4711", timeout: DefaultTimeout, connect: func(context.Context) (conn, error) {
		ours, theirs := net.Pipe()
		go rt.Serve(theirs)
		return ours, nil
	}}
}

// recording returns a stream of n events in two halves: up to the end, and the end.
func recording(n int) (stream, rest []byte) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{ProcessID: 4711})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Test", EventID: 7, Name: "Event"})
	for i := range n {
		w.Events(nettracetest.Event{Metadata: 1, Time: int64(1000 + i), Thread: 5, SortPoint: true, Payload: []byte{byte(i)}})
	}
	cut := w.Offset()
	w.End()
	return w.Bytes()[:cut:cut], w.Bytes()[cut:]
}

// recorder returns a runtime whose sessions deliver n events.
func recorder(n int) *eventpipetest.Runtime {
	rt := eventpipetest.NewRuntime(9)
	rt.Stream, rt.Rest = recording(n)
	return rt
}

var testConfig = Config{Providers: []Provider{{Name: "Test", Level: 4}}}

// count reads a source to its end.
func count(s etw.Source) (n int, err error) {
	for _, err := range etw.Records(s) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// testAcceptor accepts connections of a test.
type testAcceptor struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newTestAcceptor() *testAcceptor {
	return &testAcceptor{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (a *testAcceptor) accept() (conn, error) {
	select {
	case c := <-a.conns:
		return c, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

func (a *testAcceptor) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

func (a *testAcceptor) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case a.conns <- theirs:
		return ours, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

// wantError fails unless err is the wanted one, nil among it.
func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// inBubble runs a test in time that is not real. It fails if the test leaves a
// goroutine of ours behind; those of a runtime that is made to hang may go on for a day.
func inBubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, context.Background())
		synctest.Wait()
		stacks := dump[:runtime.Stack(dump, true)]
		for _, g := range strings.Split(string(stacks), "\n\n") {
			if ours.MatchString(g) && !strings.Contains(g, "inBubble") {
				t.Errorf("a goroutine is left:\n%s", g)
			}
		}
		time.Sleep(24 * time.Hour)
	})
}

var dump = make([]byte, 1<<20)

var ours = regexp.MustCompile(`runtime/eventpipe\.\(\*(Session|Client|call|Listener|Child)\)`)

// soon fails if more time has passed since start than any command may take.
func soon(t *testing.T, start time.Time, limit time.Duration, what string) {
	t.Helper()
	if d := time.Since(start); d > limit {
		t.Errorf("%s took %v, of %v", what, d, limit)
	}
}

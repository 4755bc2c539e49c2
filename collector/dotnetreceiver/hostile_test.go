package dotnetreceiver

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// A crowd is processes that a hostile hand has written, and the count of sessions that they got.
type crowd struct {
	dir      string
	events   []byte
	from     uint64
	n        int // of processes that have a runtime
	sessions atomic.Int64
}

// damaged delivers a trace that is damaged in a way of its own.
func (c *crowd) damaged(r *rand.Rand, rt *eventpipetest.Runtime) {
	m := mutate.Mutations[r.IntN(len(mutate.Mutations))]
	data := m.Apply(r, mutate.New("gc", c.events), nil).Data
	rt.Record = func(w io.Writer, _ <-chan struct{}) { w.Write(data) }
}

// tampered changes or cuts its answers, or its stream, at one byte.
func (c *crowd) tampered(r *rand.Rand, rt *eventpipetest.Runtime) {
	rt.Stream = c.events
	at, cut, mask := r.IntN(400), r.IntN(3) == 0, byte(1+r.IntN(255))
	rt.Tamper = func(_ uint16, w net.Conn) net.Conn {
		return &eventpipetest.Tampered{Conn: w, At: at, Cut: cut, Mask: mask}
	}
}

// endless delivers zeros behind the begin of a trace, or behind blocks that are said to be long,
// and is not stopped by a command.
func (c *crowd) endless(r *rand.Rand, rt *eventpipetest.Runtime) {
	head := bytes.Clone(c.events[:len(c.events)/2])
	if r.IntN(2) == 0 {
		for i := 200; i+4 <= len(head); i += 97 {
			binary.LittleEndian.PutUint32(head[i:], 0x7fffffff)
		}
	}
	rt.Record = func(w io.Writer, _ <-chan struct{}) {
		w.Write(head)
		for range 64 { // it ends, so that the test does
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
}

// join adds processes of a kind.
func (c *crowd) join(t *testing.T, n int, as func(*rand.Rand, *eventpipetest.Runtime)) {
	for range n {
		c.n++
		rt := eventpipetest.NewRuntime(8 + c.n%3)
		rt.PID = int64(5000 + c.n)
		rt.Cookie[0], rt.Cookie[1] = byte(c.n), 0xee // of nobody else: who has the cookie of another is taken for it
		rt.CommandLine = "/app/Burglar"
		rt.Environ = []string{"OTEL_SERVICE_NAME=burglar\x1b[2J\n\xff"}
		as(rand.New(rand.NewPCG(*hostileSeed, c.from+uint64(c.n))), rt)
		asked, tamper := false, rt.Tamper
		rt.Tamper = func(command uint16, w net.Conn) net.Conn {
			if !asked {
				asked = true
				c.sessions.Add(1)
			}
			if tamper != nil {
				return tamper(command, w)
			}
			return w
		}
		_, stop, err := rt.Listen(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
}

// garbage answers whatever comes with an invalid answer, or with nothing.
func (c *crowd) garbage(t *testing.T) {
	answers := [][]byte{nil, {0}, bytes.Repeat([]byte{0xff}, 1<<16),
		append([]byte("DOTNET_IPC_V1\x00\xff\xff\xff\x00\x00\x00"), make([]byte, 70000)...),
		[]byte("DOTNET_IPC_V1\x00\x00\x00\xff\x00\x00\x00"), []byte("DOTNET_IPC_V1\x00\x14\x00\xff\xff\x00\x00")}
	for i, answer := range answers {
		l := testio.Listen(t, "unix", filepath.Join(c.dir, "dotnet-diagnostic-"+string(rune('1'+i))+"-1-socket"))
		var open sync.WaitGroup
		open.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Write(answer)
				conn.Close()
			}
		})
		t.Cleanup(func() { l.Close(); open.Wait() })
	}
}

// The flags by which tests/hostile runs TestHostile for long.
var (
	hostileN    = flag.Int("hostile.n", 88, "processes of TestHostile")
	hostileSeed = flag.Uint64("hostile.seed", 1, "seed of TestHostile")
	hostileFrom = flag.Uint64("hostile.from", 0, "first process of TestHostile")
	hostileTime = flag.Duration("hostile.time", 0, "in place of a number of processes, how long they take")
)

// TestHostile attaches to crowds of processes that deliver damage, lie in their answers, never end,
// or answer garbage, beside one that does not: its events are all there, and nothing of the others
// costs more than their bytes.
func TestHostile(t *testing.T) {
	n, until := 0, time.Now().Add(*hostileTime)
	for more := true; more; more = *hostileTime > 0 && time.Now().Before(until) || *hostileTime == 0 && n < *hostileN {
		from := *hostileFrom + uint64(n)
		if !t.Run("", func(t *testing.T) { n += hostileCrowd(t, from) }) {
			t.Errorf("run %d, seed %d", from, *hostileSeed)
			break
		}
	}
	t.Logf("%d executions", n)
}

// hostileCrowd is one round of it, and returns how many processes there were.
func hostileCrowd(t *testing.T, from uint64) int {
	b, events := read(t, "../../tests/recorded/gc.nettrace")
	c := &crowd{dir: t.TempDir(), events: b, from: from}
	c.join(t, 40, c.damaged)
	c.join(t, 40, c.tampered)
	c.join(t, 8, c.endless)
	c.garbage(t)
	process(t, c.dir, 10, b)
	cfg := config(c.dir)
	cfg.Discovery.MaxProcesses = 200
	var good, others atomic.Int64
	logs, err := consumer.NewLogs(func(_ context.Context, data plog.Logs) error {
		for _, of := range data.ResourceLogs().All() {
			into := &others
			if name, _ := of.Resource().Attributes().Get("service.name"); name.AsString() == "bakery" {
				into = &good
			}
			for _, scope := range of.ScopeLogs().All() {
				into.Add(int64(scope.LogRecords().Len()))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, set := NewFactory(), receivertest.NewNopSettings(metadata.Type)
	one, err := f.CreateLogs(t.Context(), set, cfg, logs)
	two, err2 := f.CreateMetrics(t.Context(), set, cfg, consumertest.NewNop())
	three, err3 := f.CreateTraces(t.Context(), set, cfg, consumertest.NewNop())
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	all := []component.Component{one, two, three}
	for _, c := range all {
		if err := c.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, "all are asked", func() bool { return c.sessions.Load() == int64(c.n) })
	wait(t, "the events of the good one are there", func() bool { return good.Load() >= int64(events) })
	for _, c := range all {
		if err := c.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
	runtime.ReadMemStats(&after)
	if good.Load() != int64(events) {
		t.Errorf("%d events of the good process, want %d", good.Load(), events)
	}
	t.Logf("%d processes, %d events of others, %d MiB allocated", c.n, others.Load(), (after.TotalAlloc-before.TotalAlloc)>>20)
	if used := int64(after.TotalAlloc - before.TotalAlloc); used > int64(c.n)*(8<<20) {
		t.Errorf("%d MiB allocated for %d processes that deliver 4 MiB at most", used>>20, c.n)
	}
	return c.n
}

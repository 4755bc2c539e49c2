package etwreceiver

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/etwreceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/session"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// The flags by which tests/hostile runs TestHostile for long.
var (
	hostileN    = flag.Int("hostile.n", 30, "sessions of TestHostile")
	hostileSeed = flag.Uint64("hostile.seed", 3, "seed of TestHostile")
	hostileFrom = flag.Uint64("hostile.from", 0, "first session of TestHostile")
	hostileTime = flag.Duration("hostile.time", 0, "in place of a number of sessions, how long they take")
)

// TestHostile has sessions that deliver records of damaged traces, one after another, and then
// one that does not: its events are all there.
func TestHostile(t *testing.T) {
	b := testio.Read(t, "../../tests/recorded/gc.nettrace")
	whole, good := mutate.New("gc", b), newFake(t, "", false)
	var opened, before, last atomic.Int64 // last is set once the good one is opened
	until := time.Now().Add(*hostileTime)
	enough := func(n int64) bool {
		if *hostileTime > 0 {
			return time.Now().After(until)
		}
		return n > int64(max(*hostileN, 1))
	}
	s := &sink{}
	f := newFactory(func(context.Context, session.Config, bool) (live, error) {
		n := opened.Load() + 1
		if n > 1 && enough(n) {
			before.Store(int64(s.total()))
			last.Store(n)
			return good, nil
		}
		opened.Add(1)
		r := rand.New(rand.NewPCG(*hostileSeed, *hostileFrom+uint64(n)))
		m := mutate.Mutations[r.IntN(len(mutate.Mutations))].Apply(r, whole, nil)
		if n == 1 {
			m.Data = b // it has to start
		}
		source, err := nettrace.NewReader(bytes.NewReader(m.Data))
		if err != nil {
			return nil, err
		}
		lost := [...]int64{0, 1, math.MaxUint32}[r.IntN(3)]
		return &fake{Source: source, ends: true, lost: lost, done: make(chan struct{})}, nil
	})
	cfg := config()
	cfg.Restart.MaxInterval = cfg.Restart.InitialInterval
	c, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, err := range etw.Records(newFake(t, "", true)) {
		if err == nil {
			all++
		}
	}
	wait(t, "the good session is read", func() bool { return last.Load() > 0 && int64(s.total()) >= before.Load()+int64(all) })
	if err := c.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if got := s.logs - int(before.Load()); got != all {
		t.Errorf("run %d, seed %d: %d events of the good session, want %d", *hostileFrom, *hostileSeed, got, all)
	}
	t.Logf("%d executions", opened.Load())
	t.Logf("%d events of damaged sessions, losses %v", before.Load(), s.losses)
}

package dotnetreceiver

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// TestDamaged has the stream of each session of a process be damaged: it is tried again,
// later each time, and the status tells.
func TestDamaged(t *testing.T) {
	b, _ := read(t, "../../tests/recorded/gc.nettrace")
	dir := t.TempDir()
	bad := append([]byte(nil), b...)
	for i := len(bad) / 2; i < len(bad)-1; i++ {
		bad[i] ^= 0x5a
	}
	rt := eventpipetest.NewRuntime(10)
	rt.Record = func(w io.Writer, _ <-chan struct{}) { w.Write(bad) }
	_, stop, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	cfg := config(dir)
	cfg.Reattach.InitialInterval = 10 * time.Millisecond
	host := &flowtest.Host{}
	c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, &sink{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	wait(t, "the status tells", func() bool {
		return host.Is(componentstatus.StatusRecoverableError, "sessions in a row have ended early")
	})
	if err := c.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestAfterEarly has the times at which it is tried again after sessions that end early:
// later and later, up to a limit, and from the begin after one that has lasted.
func TestAfterEarly(t *testing.T) {
	cfg := defaultConfig().(*Config)
	damage := &earlyError{&etw.IncompleteError{Damages: []*etw.Damage{{Err: errors.New("no block")}}, Count: 1}}
	broken := &earlyError{&etw.IncompleteError{Damages: []*etw.Damage{{Err: nettrace.ErrTruncated}}, Count: 1}}
	for _, c := range []struct {
		why     error
		longest time.Duration
	}{{damage, damageWait}, {broken, cfg.Reattach.MaxInterval}} {
		var last *try
		before := time.Duration(0)
		for range 20 {
			last = cfg.afterEarly(last, "p", c.why, time.Second, time.Unix(0, 0))
			if last.wait < before || last.wait > c.longest {
				t.Errorf("%v after %v", last.wait, before)
			}
			before = last.wait
		}
		if before != c.longest || last.early != 20 {
			t.Errorf("after %d sessions it waits %v, want %v", last.early, before, c.longest)
		}
		if again := cfg.afterEarly(last, "p", c.why, steady, time.Unix(0, 0)); again.early != 1 || again.wait != cfg.Reattach.InitialInterval {
			t.Errorf("after one that has lasted it waits %v", again.wait)
		}
	}
}

// TestForgotten has what is known of processes that are gone be forgotten, and the status
// be well then.
func TestForgotten(t *testing.T) {
	cfg, host := config(t.TempDir()), &flowtest.Host{}
	w := newWorker(cfg, &flow.Core{Set: receivertest.NewNopSettings(metadata.Type)})
	w.host = host
	for range tolerated {
		w.tries["gone"] = cfg.afterEarly(w.tries["gone"], "gone", errors.New("damage"), 0, time.Now())
	}
	w.look(t.Context())
	if !host.Is(componentstatus.StatusRecoverableError, "gone: 3 sessions") {
		t.Errorf("the status is %+v", host)
	}
	w.tries["gone"].next = time.Now().Add(-2 * steady)
	w.look(t.Context())
	if len(w.tries) != 0 || !host.Is(componentstatus.StatusOK, "") {
		t.Errorf("the status is %+v", host)
	}
}

// TestUnmatched has regular expressions of names of which some match no process.
func TestUnmatched(t *testing.T) {
	core, seen := observer.New(zap.InfoLevel)
	var p patterns
	p.compile("discovery: include", []string{"^Bakery$", "^Bakerei$", "ery"})
	if !p.match("Bakery") || p.match("Butcher") {
		t.Error("names do not match")
	}
	p.matched.Say(zap.New(core))
	p.matched.Say(zap.New(core))
	if all := seen.All(); len(all) != 1 || all[0].ContextMap()["pattern"] != "^Bakerei$" || !strings.HasPrefix(all[0].Message, "discovery: include") {
		t.Errorf("said %v", all)
	}
}

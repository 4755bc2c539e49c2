package dotnetreceiver

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
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

// TestUnmatched has regular expressions of names of which some match no process.
func TestUnmatched(t *testing.T) {
	core, seen := observer.New(zap.InfoLevel)
	var p patterns
	p.compile("discovery: include", []string{"^Bakery$", "^Bakerei$", "ery"})
	if !p.match(&attach.Process{Executable: "Bakery"}) || p.match(&attach.Process{Executable: "Butcher"}) {
		t.Error("names do not match")
	}
	p.matched.Say(zap.New(core))
	p.matched.Say(zap.New(core))
	if all := seen.All(); len(all) != 1 || all[0].ContextMap()["pattern"] != "^Bakerei$" || !strings.HasPrefix(all[0].Message, "discovery: include") {
		t.Errorf("said %v", all)
	}
}

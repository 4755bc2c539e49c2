package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/provider"
)

// A heard remembers the requests of sessions to a provider.
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) control(_ *provider.Provider, c provider.Control) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, fmt.Sprintf("%#x:%d", c.Any, c.Level))
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// etwOut runs the tool and fails unless all is well.
func etwOut(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Errorf("etw %q: exit code %d: %s", args, code, out.String())
	}
	return out.String()
}

// TestControlMachine turns a provider on and off in a session that records, and has a
// rundown at its start and its end. It takes an ETW to test with, as those of tests/live do.
func TestControlMachine(t *testing.T) {
	if os.Getenv("ETWGEN_ETW") == "" {
		t.Skip("ETWGEN_ETW is not set: no ETW to test with")
	}
	var down heard
	p, r := provider.New(clr.Provider.Desc), provider.New(rundown.Provider.Desc, provider.OnControl(down.control))
	for _, one := range []*provider.Provider{p, r} {
		if err := one.Register(); err != nil {
			t.Fatal(err)
		}
		defer one.Close()
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("control-%d.etl", os.Getpid()))
	defer os.Remove(path)
	name := fmt.Sprintf("etwgen-control-%d", os.Getpid())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var out bytes.Buffer
		if code := run([]string{"record", "--providers", "private", "--rundown", "both", "--name", name, "--duration", "4s", "-o", path}, strings.NewReader(""), &out, &out); code != 0 {
			t.Errorf("exit code %d: %s", code, out.String())
		}
	}()
	until := func(what string, is func() bool) {
		t.Helper()
		for try := 0; !is(); try++ {
			if try == 1000 {
				t.Fatalf("%s: not yet", what)
			}
			time.Sleep(3 * time.Millisecond)
		}
	}
	until("the session's rundown", func() bool { return len(down.all()) > 0 })
	if p.Enabled(4, uint64(clr.KeywordGC)) {
		t.Error("the provider is on already")
	}
	if out := etwOut(t, "sessions", "--session", name, "--enable", "clr:gc:informational"); !strings.Contains(out, name) {
		t.Errorf("it says %s", out)
	}
	until("on", func() bool { return p.Enabled(4, uint64(clr.KeywordGC)) && !p.Enabled(5, uint64(clr.KeywordGC)) })
	etwOut(t, "sessions", "--session", name, "--enable", "clr:gc:verbose")
	until("anew", func() bool { return p.Enabled(5, uint64(clr.KeywordGC)) })
	etwOut(t, "sessions", "--session", name, "--disable", "clr")
	until("off", func() bool { return !p.Enabled(4, uint64(clr.KeywordGC)) })
	<-ended
	if got := down.all(); len(got) < 2 || got[0] != "0x20079:5" || got[1] != "0x20139:5" {
		t.Errorf("of the rundown was asked %q", got)
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/provider"
)

// TestWatchMachine prints events that this program writes. It takes an ETW to test with,
// as those of tests/live do.
func TestWatchMachine(t *testing.T) {
	if os.Getenv("ETWGEN_ETW") == "" {
		t.Skip("ETWGEN_ETW is not set: no ETW to test with")
	}
	p := provider.New(clr.Provider.Desc)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() {
		for ctx.Err() == nil && !p.Enabled(4, 1) {
			time.Sleep(time.Millisecond)
		}
		for n := range uint32(5) {
			if err := p.Write(ctx, &clr.GCStartV1{Count: 70 + n, Depth: n % 3}); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	var stdout, stderr bytes.Buffer
	args := []string{"watch", "--providers", "clr:gc:informational", "--where", "Depth = 1", "--process", fmt.Sprint(os.Getpid()), "--limit", "2", "--duration", "1m", "--format", "jsonl"}
	code := run(args, strings.NewReader(""), &stdout, &stderr)
	cancel()
	if err := <-written; err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if code != 0 || stderr.Len() > 0 || len(lines) != 2 || !strings.Contains(lines[0], `"Count":71`) || !strings.Contains(lines[1], `"Count":74`) {
		t.Errorf("exit code %d, stderr %q, got %s", code, stderr.String(), stdout.String())
	}
	t.Log(stdout.String())
}

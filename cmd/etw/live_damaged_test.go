package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// TestLiveDamage has runtimes that send no trace, or the begin of one and then something else:
// every command about live processes says so, and none that the process has ended.
func TestLiveDamage(t *testing.T) {
	cpu := bakeryTrace(t)
	garbage := bytes.Repeat([]byte("garbage "), 20_000)
	for name, stream := range map[string][]byte{
		"garbage":       garbage,
		"zeros":         append([]byte("Nettrace"), make([]byte, 100_000)...), // which in a file are no part of the trace
		"garbage later": append(bytes.Clone(cpu[:len(cpu)*2/3]), garbage...),
	} {
		port := filepath.Join(t.TempDir(), "a.port")
		rt := eventpipetest.NewRuntime(9)
		rt.PID, rt.Stream = int64(os.Getpid()), stream
		l, err := serve(port, rt)
		if err != nil {
			t.Skip(err) // there are no such sockets
		}
		defer l.Close()
		for _, args := range [][]string{{"counters"}, {"gc"}, {"top"}, {"watch"}, {"allocs"}, {"collect", "-o", filepath.Join(t.TempDir(), "a.nettrace")}} {
			var stdout, stderr bytes.Buffer
			code := run(append(args, "--port", port, "--duration", (100*time.Millisecond).String()), strings.NewReader(""), &stdout, &stderr)
			if said := stderr.String(); code != 1 || strings.Contains(said, "has ended") || !strings.Contains(said, "damaged") && !strings.Contains(said, "not a trace") && !strings.Contains(said, "not an EventPipe trace") && !strings.Contains(said, "cut off") {
				t.Errorf("%s, %v: exit code %d, %s", name, args, code, said)
			}
		}
	}
}

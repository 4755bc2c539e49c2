package dotnetreceiver

import (
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// TestPort has a process that connects by itself, and of which only profiles are asked
// for. A first try that fails is not the last.
func TestPort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("ports are sockets here")
	}
	dir, out := t.TempDir(), t.TempDir()
	b, _ := read(t, "../../tests/recorded/alloc.nettrace")
	cfg := profileConfig(dir, out, "allocs")
	path := filepath.Join(dir, "port")
	cfg.Targets, cfg.Ports = nil, []Port{{Path: path}}
	rt := eventpipetest.NewRuntime(9)
	rt.Tamper = failFirst()
	rt.Stream, rt.Rest = b[:len(b)-1], b[len(b)-1:]
	var wg sync.WaitGroup
	t.Cleanup(func() { wg.Wait(); rt.Close() }) // when the receiver has closed its port
	s := &profileSink{}
	startProfiling(t, cfg, s)
	wg.Go(func() { rt.Connect(func() (net.Conn, error) { return net.Dial("unix", path) }) })
	wait(t, "there is a profile", func() bool { n, _ := s.count(); return n > 0 })
}

// failFirst cuts the answer to the first command off that starts a session.
func failFirst() func(uint16, net.Conn) net.Conn {
	failed := false
	return func(command uint16, c net.Conn) net.Conn {
		if failed || command != eventpipetest.CollectTracing4 {
			return c
		}
		failed = true
		return &eventpipetest.Tampered{Conn: c, At: 4, Cut: true}
	}
}

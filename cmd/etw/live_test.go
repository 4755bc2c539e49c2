package main

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/etwgen/etwgen/internal/command/commandtest"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// playing returns a runtime whose sessions deliver a trace, up to its end marker when
// they are stopped, or after a while.
func playing(trace []byte, version int, length time.Duration) *eventpipetest.Runtime {
	rt := eventpipetest.NewRuntime(version)
	rt.PID = int64(os.Getpid())
	end := len(trace) - 1
	rt.Record = func(w io.Writer, stopped <-chan struct{}) {
		if _, err := w.Write(trace[:end]); err != nil {
			return
		}
		select {
		case <-stopped:
		case <-time.After(length):
		}
		w.Write(trace[end:])
	}
	return rt
}

// scriptRuntime starts a runtime at a socket, which plays a trace.
func scriptRuntime(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: runtime SOCKET TRACE VERSION")
	}
	version, err := strconv.Atoi(args[2])
	ts.Check(err)
	l, err := serve(ts.MkAbs(args[0]), playing([]byte(ts.ReadFile(args[1])), version, time.Minute))
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}

// serve has a runtime listen at a socket.
func serve(path string, rt *eventpipetest.Runtime) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go rt.Serve(c)
		}
	}()
	return l, nil
}

// play has a runtime play a trace at a socket, with a process that ends soon.
func play(t *testing.T, path string, trace []byte) {
	t.Helper()
	l, err := serve(path, playing(trace, 9, 100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

func scriptPoints(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: points FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), commandtest.Points(), 0o666))
}

// runtimeProcess is a program that plays the trace of the variable TRACE as soon as it may
// run.
func runtimeProcess() {
	path, _, _ := strings.Cut(os.Getenv("DOTNET_DiagnosticPorts"), ",")
	trace, err := os.ReadFile(os.Getenv("TRACE"))
	if err != nil {
		os.Exit(3)
	}
	rt := playing(trace, 9, 100*time.Millisecond)
	play, played := rt.Record, make(chan struct{}, 8)
	rt.Record = func(w io.Writer, stopped <-chan struct{}) {
		play(w, stopped)
		played <- struct{}{}
	}
	go rt.Connect(func() (net.Conn, error) { return net.Dial("unix", path) })
	for rt.Resumed() == 0 {
		time.Sleep(time.Millisecond)
	}
	os.Stdout.WriteString("hello from the program\n")
	time.Sleep(300 * time.Millisecond)
	select {
	case <-played: // a busy machine takes its time
	case <-time.After(time.Minute):
	}
}

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/command/commandtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// etwProcess returns a command that runs etw as a process of its own.
func etwProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Package testscript runs a program by its name.
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"etw"}, args...)
	return cmd
}

func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	return testio.Read(t, recordedPath(name))
}

// TestInterrupt interrupts a command that waits for more of a stream: it prints its results
// so far.
func TestInterrupt(t *testing.T) {
	trace := endlessTrace()
	for _, c := range []struct{ command, want string }{{"stat", "1 events"}, {"dump", "Acme/Made"}, {"info", "events               1"}} {
		cmd := etwProcess(t, c.command, "-")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if code := commandtest.Interrupt(t, cmd, trace, os.Interrupt); code != 1 {
			t.Errorf("%s: exit code %d", c.command, code)
		}
		if got, want := stderr.String(), "etw: interrupted after 1 events\n"; got != want {
			t.Errorf("%s: stderr %q, want %q", c.command, got, want)
		}
		if !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%s: stdout %q", c.command, stdout.String())
		}
	}
}

// endlessTrace returns a whole block with one event, and the start of a block that never
// ends. It is so long that the event has been read when all of it is written.
func endlessTrace() []byte {
	w := nettracetest.NewWriter(4, netHeader)
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Acme", EventID: 1, Name: "Made"})
	w.Events(nettracetest.Event{Metadata: 1, Time: 1e6, Thread: 1, SortPoint: true})
	w.Events(nettracetest.Event{Metadata: 1, Time: 2e6, Thread: 1, SortPoint: true, Payload: make([]byte, 1<<20)})
	return w.Bytes()[:w.Offset()/2]
}

// TestInterruptedExport interrupts an export, and a filter: the file from before stays, and nothing
// comes beside it.
func TestInterruptedExport(t *testing.T) {
	trace := endlessTrace()
	for _, signal := range cli.Endings() {
		for _, command := range []string{"export -f otlp", "export -f prometheus", "filter"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			testio.Write(t, path, "before")
			cmd := etwProcess(t, append(strings.Fields(command), "-o", path, "-")...)
			if code := commandtest.Interrupt(t, cmd, trace, signal); code != 1 {
				t.Errorf("%s, %v: exit code %d", command, signal, code)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
				t.Errorf("%s, %v: the output is %q, %v", command, signal, got, err)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("%s, %v: the folder has %v, %v", command, signal, list, err)
			}
		}
	}
}

// TestBrokenPipe reads the first line and no more.
func TestBrokenPipe(t *testing.T) {
	cmd := etwProcess(t, "dump", "--format", "jsonl", filepath.Join("..", "..", "tests", "recorded", "jit.nettrace"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout := testio.Start(t, cmd)
	if line, err := bufio.NewReaderSize(stdout, 16).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"time":`) {
		t.Errorf("first line %q, %v", line, err)
	}
	stdout.Close()
	if code := exitCodeOf(t, cmd.Wait()); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, errors.New("the disk is full")
	}
	w.left -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	trace := filepath.Join("..", "..", "tests", "recorded", "jit.nettrace")
	for _, args := range [][]string{
		{"dump", trace}, {"dump", "-f", "json", trace}, {"stat", trace}, {"stat", "--json", trace}, {"info", trace}, {"info", "--json", trace},
		{"events"}, {"events", "clr"}, {"events", "clr", "GCStart"}, {"events", "--json"}, {"keywords"},
	} {
		var stderr bytes.Buffer
		if code := run(args, strings.NewReader(""), &failingWriter{left: 10}, &stderr); code != 1 || stderr.String() != "etw: the disk is full\n" {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// TestStdinEnds checks that the standard input is read to its end, in pieces of
// any size.
func TestStdinEnds(t *testing.T) {
	trace := recorded(t, "jit.nettrace")
	var want, got bytes.Buffer
	if code := run([]string{"dump", "-"}, bytes.NewReader(trace), &want, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if code := run([]string{"dump", "-"}, &slowReader{trace}, &got, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) || want.Len() < 10000 {
		t.Errorf("%d and %d bytes differ", want.Len(), got.Len())
	}
}

// A slowReader returns a few bytes at a time, and its error with the last ones.
type slowReader struct{ data []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), 1000)], r.data)
	r.data = r.data[n:]
	if len(r.data) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestFollow follows a file that grows while it is read, to its end, and one that
// never gets an end, until an interrupt.
func TestFollow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted by another one")
	}
	whole := recorded(t, "gc.nettrace")
	for _, end := range []int{len(whole), len(whole) - 10} {
		path := filepath.Join(t.TempDir(), "growing.nettrace")
		testio.Write(t, path, whole[:3])
		cmd := etwProcess(t, "dump", "--follow", "-f", "jsonl", path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout := testio.Start(t, cmd)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(whole[3:end]); err != nil {
			t.Fatal(err)
		}
		f.Close()
		lines := 0
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			if lines++; lines == 202 && end < len(whole) { // all but the last one, which is in the block without its end
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		if code := exitCodeOf(t, cmd.Wait()); code != 0 || stderr.Len() > 0 || lines < 202 {
			t.Errorf("%d of %d bytes: exit code %d, %d lines, stderr %q", end, len(whole), code, lines, stderr.String())
		}
	}
}

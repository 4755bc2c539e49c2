package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
)

// liveAnswer runs a command about a process that plays a trace, and about the trace itself,
// and returns both outputs.
func liveAnswer(t *testing.T, trace []byte, args ...string) (live, atRest string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it waits for recordings to end")
	}
	dir := t.TempDir()
	file, port := filepath.Join(dir, "a.nettrace"), filepath.Join(dir, "a.port")
	testio.Write(t, file, trace)
	l, err := serve(port, playing(trace, 9, 10*time.Millisecond))
	if err != nil {
		t.Skip(err) // there are no such sockets
	}
	defer l.Close()
	answer := func(more ...string) string {
		var stdout, stderr bytes.Buffer
		if code := run(append(args[:len(args):len(args)], more...), strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	return answer("--port", port), answer(file)
}

// TestLiveAnswers: a question to a live process is answered as of a recording of it.
func TestLiveAnswers(t *testing.T) {
	cpu := bakeryTrace(t)
	heap := testio.Unpacked(t, recordedPath("answers/heap-10.nettrace.gz"))
	for _, c := range []struct {
		trace []byte
		args  []string
	}{
		{cpu, []string{"tree", "--format", "csv"}},
		{cpu, []string{"top", "--by", "stack", "--of", "cpu", "--format", "csv"}},
		{cpu, []string{"exceptions", "--format", "csv"}},
		{recorded(t, "alloc.nettrace"), []string{"allocs", "--format", "csv"}},
		{heap, []string{"heap", "--format", "csv"}},
	} {
		live, atRest := liveAnswer(t, c.trace, c.args...)
		if live != atRest || strings.Count(live, "\n") < 2 {
			t.Errorf("%v: %q, and of the file %q", c.args, live, atRest)
		}
	}
}

// TestLiveTop: an interval that holds all of a trace has its weights, and with shorter ones
// nothing is lost or counted twice.
func TestLiveTop(t *testing.T) {
	cpu := bakeryTrace(t)
	live, atRest := liveAnswer(t, cpu, "top", "--format", "csv", "--sort", "full")
	var rows []string
	for line := range strings.Lines(live) {
		_, row, _ := strings.Cut(line, ",")
		rows = append(rows, row)
	}
	if strings.Join(rows, "") != atRest {
		t.Errorf("%q, and of the file %q", rows, atRest)
	}
	if text, _ := liveAnswer(t, cpu, "top"); !strings.Contains(text, "Oven.Bake") {
		t.Errorf("no table: %q", text)
	}
}

// TestStacksNow: each thread has one stack.
func TestStacksNow(t *testing.T) {
	cpu := bakeryTrace(t)
	live, _ := liveAnswer(t, cpu, "top", "--by", "stack", "--format", "csv")
	threads := make(map[string]int)
	for i, line := range strings.Split(strings.TrimSpace(live), "\n") {
		if thread, _, _ := strings.Cut(line, ","); i > 0 {
			threads[thread]++
		}
	}
	if len(threads) == 0 {
		t.Errorf("no threads: %q", live)
	}
	for thread, n := range threads {
		if n != 1 {
			t.Errorf("thread %s has %d stacks", thread, n)
		}
	}
	if text, _ := liveAnswer(t, cpu, "top", "--by", "stack"); !strings.Contains(text, "thread ") {
		t.Errorf("no stacks: %q", text)
	}
}

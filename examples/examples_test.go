// Package examples holds small programs to copy from. Its tests run them as they
// are, on recorded traces and on those of the corpus.
package examples

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

const recorded = "../tests/recorded/"

// programs are those that the tests run: each answers a question in forty lines.
var programs = []struct {
	name string
	args []string // the last one is the trace; nil if no recorded one has an answer
	more []string // further traces, in the corpus
}{
	{"allocations", []string{recorded + "alloc.nettrace"}, []string{"dotnet10/gc-workstation.nettrace"}},
	{"fields", []string{"text", recorded + "eventsource.nettrace"}, nil},
	{"jit", []string{recorded + "jit.nettrace"}, []string{"etl/net.4.5.2.x64.etl"}},
	{"processes", nil, []string{"etl/net.4.5.2.x64.etl"}},
	{"stacks", []string{recorded + "exceptions.nettrace"}, []string{"dotnet10/exceptions.nettrace", "etl/net.4.5.2.x64.etl"}},
	{"merge", []string{recorded + "jit.nettrace", recorded + "gc.nettrace"}, []string{"etl/gcevents.etl"}},
}

// TestMain removes the programs that build has built.
func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

var (
	once  sync.Once
	built string
)

// build compiles the programs, once for all tests, and returns their folder.
func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	once.Do(func() {
		dir, err := os.MkdirTemp("", "examples-*")
		if err != nil {
			t.Fatal(err)
		}
		built = dir + string(filepath.Separator)
		args := []string{"build", "-ldflags=-w", "-o", built}
		for _, p := range programs {
			args = append(args, "./"+p.name)
		}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	return built
}

// result is the output of a program.
type result struct {
	stdout, stderr string
	code           int
}

func start(t *testing.T, dir, name string, args ...string) result {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(filepath.Join(dir, name), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func TestPrograms(t *testing.T) {
	dir := build(t)
	for _, p := range programs {
		if p.args == nil {
			continue // there is no recorded trace
		}
		r := start(t, dir, p.name, p.args...)
		if r.code != 0 || r.stderr != "" {
			t.Errorf("%s: exit code %d, %s", p.name, r.code, r.stderr)
		}
		path := filepath.Join("testdata", p.name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(r.stdout), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(r.stdout, "\r\n", "\n"); got != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s prints\n%swant\n%s", p.name, got, want)
		}
	}
}

// TestCutOff cuts the traces off: the programs print their results so far, then the error.
func TestCutOff(t *testing.T) {
	dir := build(t)
	for _, p := range programs {
		if p.args == nil {
			continue
		}
		last := len(p.args) - 1
		data, err := os.ReadFile(p.args[last])
		if err != nil {
			t.Fatal(err)
		}
		cut := filepath.Join(t.TempDir(), "cut.nettrace")
		if err := os.WriteFile(cut, data[:len(data)-200], 0o666); err != nil {
			t.Fatal(err)
		}
		args := slices.Clone(p.args)
		args[last] = cut
		r := start(t, dir, p.name, args...)
		if r.code != 1 || r.stdout == "" || !strings.Contains(r.stderr, "cut.nettrace: offset ") {
			t.Errorf("%s: exit code %d, %d bytes, error %q", p.name, r.code, len(r.stdout), r.stderr)
		}
	}
}

// TestCorpusTraces runs the programs on traces of others, .etl files among them.
func TestCorpusTraces(t *testing.T) {
	dir := build(t)
	for _, p := range programs {
		for _, name := range p.more {
			folder, file, _ := strings.Cut(name, "/")
			args := []string{corpus.File(t, folder, file)}
			if len(p.args) > 0 {
				args = append(slices.Clone(p.args[:len(p.args)-1]), args...)
			}
			if r := start(t, dir, p.name, args...); r.code != 0 || r.stdout == "" {
				t.Errorf("%s %s: exit code %d, %d bytes, error %q", p.name, name, r.code, len(r.stdout), r.stderr)
			}
		}
	}
}

// TestLength counts lines of code: a question has its answer in forty, and the
// main function.
func TestLength(t *testing.T) {
	for _, p := range programs {
		source, err := os.ReadFile(filepath.Join(p.name, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(source)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
		most := 40
		if p.name == "stacks" { // which reads live processes, too
			most = 80
		}
		if n > most {
			t.Errorf("%s has %d lines of code", p.name, n)
		}
	}
}

func TestCustomManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	for _, args := range [][]string{
		{"tool", "etwgen", "diff", "-o", "events", "--package", "events", "events/shop.man"}, // go generate would change nothing
		{"vet", "./..."},
		{"test", "./..."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = "custom"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}

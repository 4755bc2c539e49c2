package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestThreadsAddUp asks each command for one thread after the other: the parts add up to the
// answer for all.
func TestThreadsAddUp(t *testing.T) {
	for _, c := range []struct{ command, trace, figure string }{
		{"waits --locks", "contention.nettrace", "totalMs"},
		{"waits", "waits.nettrace", "totalMs"},
		{"exceptions", "exceptions.nettrace", "count"},
		{"allocs", "alloc-ticks.nettrace", "bytes"},
		{"jit", "jit-tiering.nettrace", "count"},
		{"threads", "cpu-blocked.nettrace", "sampled.timeMs"},
		{"threads", "v6-cpu-switches.nettrace", "switched.runningMs"},
		{"threads", "v6-cpu-switches.nettrace", "switched.waitingMs"},
	} {
		path := corpus.File(t, "dotnet10/"+c.trace)
		whole := figureOf(t, c.figure, append(strings.Fields(c.command), path)...)
		rows, _, _ := output("stat", "--by", "thread", "--format", "jsonl", path)
		sum, parts := 0.0, 0
		for line := range strings.Lines(rows) {
			var row struct{ TID int64 }
			testio.JSON(t, line, &row)
			if row.TID <= 0 {
				continue
			}
			if part := figureOf(t, c.figure, append(strings.Fields(c.command), "--tid", fmt.Sprint(row.TID), path)...); part != 0 {
				sum, parts = sum+part, parts+1
			}
		}
		if parts < 1 || whole <= 0 || math.Abs(sum-whole) > 1e-6*whole {
			t.Errorf("etw %s %s: %v is %v, and that of %d threads %v", c.command, c.trace, c.figure, whole, parts, sum)
		}
	}
}

// figureOf returns a number of the document that a command prints, 0 if it has none.
func figureOf(t *testing.T, name string, args ...string) float64 {
	t.Helper()
	stdout, _, _ := output(append(args, "--format", "json")...)
	var value any
	if err := json.Unmarshal([]byte(stdout), &value); err != nil {
		t.Fatalf("etw %v: %v", args, err)
	}
	for key := range strings.SplitSeq(name, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	n, _ := value.(float64)
	return n
}

// TestThreadsByName asks for threads by name, and for a name that nobody has.
func TestThreadsByName(t *testing.T) {
	path := corpus.File(t, "universal/universal-tracepoints.nettrace")
	for _, command := range []string{"threads", "top", "dump", "stat", "timeline"} {
		byName, _, _ := output(command, "--tid", "burn*", path)
		if byNumber, _, _ := output(command, "--tid", "13", path); byName != byNumber || byName == "" {
			t.Errorf("%s: of burn* it says\n%s\nof 13\n%s", command, byName, byNumber)
		}
	}
	for want, args := range map[string][]string{
		"no thread is called nobody":                  {"threads", "--tid", "nobody", path},
		"these rows are of all processes and threads": {"threads", "--by", "processor", "--tid", "13", path},
		"lanes by process are not of threads":         {"timeline", "--by", "process", "--tid", "13", path},
		"no event is of --tid 7777":                   {"allocs", "--tid", "7777", path},
		"those with most events first: .NET":          {"timeline", "--tid", "7777", path},
	} {
		if _, stderr, _ := output(args...); !strings.Contains(stderr, want) {
			t.Errorf("etw %v: %s", args, stderr)
		}
	}
}

// TestNobody asks for a process and a thread that a trace does not know, in every command that
// chooses by them: that is refused, with those that there are. One that the trace knows, which
// has no events in the time that is asked for, is not.
func TestNobody(t *testing.T) {
	path, etl := recordedPath("gc.nettrace"), recordedPath("service.etl")
	for _, command := range newRoot().Commands() {
		f := command.Flags()
		for _, flag := range []string{"process", "tid"} {
			if f.Lookup(flag) == nil || slices.Contains([]string{"compare", "view", "watch"}, command.Name()) {
				continue
			}
			of := path
			if command.Name() == "threads" || flag == "tid" {
				of = etl
			}
			args := []string{command.Name(), "--" + flag, "4000000000", of}
			if f.Lookup("output") != nil {
				args = append(args, "-o", filepath.Join(t.TempDir(), "out"))
			}
			stdout, stderr, code := output(args...)
			if flag == "tid" && strings.HasPrefix(stderr, "etw: the trace has no events of samples") {
				continue // of samples that are not there, nobody can say whose they are
			}
			if code != cli.ExitUsage || !strings.Contains(stderr, "no event is of --"+flag+" 4000000000; the ") || strings.Contains(stdout, "html") {
				t.Errorf("etw %v: %d, %s", args, code, stderr)
			}
		}
	}
	data, _, _ := output("stat", "--by", "process", "--format", "csv", path)
	if pid := regexp.MustCompile(`(\d+),dotnet`).FindStringSubmatch(data); pid == nil {
		t.Error(data)
	} else if _, stderr, code := output("stat", "--process", pid[1], "--from", "10h", path); code != 0 || !strings.Contains(stderr, "no event passed") {
		t.Errorf("%d, %s", code, stderr)
	}
}

// TestContentionInARow holds the rows of waits against the program: how long each was, and
// where. Of the waits that it knows nobody else is as long.
func TestContentionInARow(t *testing.T) {
	path := corpus.File(t, "dotnet10/contention.nettrace")
	var truth struct {
		Known []struct {
			MS     float64 `json:"waited_ms_measured_by_waiter"`
			Method string
		} `json:"known_contentions"`
	}
	text, err := os.ReadFile(strings.TrimSuffix(path, ".nettrace") + ".truth.json")
	if err == nil {
		err = json.Unmarshal(text, &truth)
	}
	if err != nil || len(truth.Known) == 0 {
		t.Fatal(err)
	}
	rows, _, _ := output("waits", "--locks", "--format", "jsonl", path)
	for _, want := range truth.Known {
		found := false
		for line := range strings.Lines(rows) {
			var row struct {
				DurationMS float64
				Method     string
				Owner      int64
			}
			testio.JSON(t, line, &row)
			found = found || math.Abs(row.DurationMS-want.MS) < 1 && row.Method == want.Method && row.Owner > 0
		}
		if !found {
			t.Errorf("no row has %v ms in %s", want.MS, want.Method)
		}
	}
}

// TestChildrenAnywhere holds the choice of --children against a list of the same processes.
func TestChildrenAnywhere(t *testing.T) {
	path := corpus.File(t, "etl/net.4.5.2.x64.etl")
	var list []string
	rows, _, _ := output("processes", "--process", "wininit.exe", "--children", "--format", "jsonl", path)
	for line := range strings.Lines(rows) {
		var row struct{ PID int64 }
		testio.JSON(t, line, &row)
		list = append(list, fmt.Sprint(row.PID))
	}
	if len(list) < 10 {
		t.Fatalf("processes %v", list)
	}
	for _, command := range []string{"stat", "dump --limit 1000 --format csv", "processes", "top"} {
		want, _, _ := output(command, "--process", strings.Join(list, ","), path)
		if got, _, _ := output(command, "--process", "wininit.exe", "--children", path); got != want || got == "" {
			t.Errorf("%s: with children it says\n%.300s\nof the list\n%.300s", command, got, want)
		}
	}
	if _, stderr, code := output("stat", "--children", path); code != 2 || !strings.Contains(stderr, "of which process") {
		t.Errorf("children of nobody: %d, %s", code, stderr)
	}
}

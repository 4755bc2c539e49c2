package firefox_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/chrometrace"
	"github.com/etwgen/etwgen/export/firefox"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/profile"
)

const start = 1_700_000_000_000_000_000

// sampled returns samples of two threads: of a stack, of the same one later, and of none.
func sampled(kind string, types ...stacks.ValueType) *stacks.Samples {
	s := stacks.NewSamples(kind, types...)
	at := func(ms int) time.Time { return time.Unix(0, start+int64(ms)*1e6) }
	values := func(v int64) []int64 { return []int64{1, v}[2-len(types):] }
	stack := s.InternAddresses(5, []uint64{0x30, 0x20, 0x10})
	s.AddStack(at(2), 5, 6, stack, s.Label(0, "type", "A\xffB"), values(1_000_001)...)
	s.AddStack(at(1), 5, 6, stack, 0, values(500_000)...)
	s.AddStack(at(3), 5, 7, 0, 0, values(7)...)
	return s
}

func whole() *firefox.Profile {
	name := func(id int64) string { return fmt.Sprintf("name %d", id) }
	happened := &chrometrace.Trace{
		Spans:    []chrometrace.Span{{Process: 5, Thread: 6, Name: "GET /", Category: "request", From: 1e6, Length: 2e6, Args: []chrometrace.Arg{{Name: "id", Text: "1"}}, Parts: []chrometrace.Span{{Name: "waits", From: 2e6, Length: 5e5}}}},
		Marks:    []chrometrace.Mark{{Process: 5, Thread: 0, Name: "mark", Category: "m", At: 1e6}},
		Threads:  []chrometrace.Thread{{Process: 5, ID: 0, Name: "garbage collections"}},
		Counters: []chrometrace.Counter{{Process: 9, Name: "heap", At: 1e6, Values: []chrometrace.Value{{Name: "gen0", Number: 3}, {Name: "gen1", Number: math.NaN()}}}, {Process: 9, Name: "heap", At: 2e6, Values: []chrometrace.Value{{Name: "gen0", Number: 5}}}},
	}
	nanos := []stacks.ValueType{{Name: "samples", Unit: "count"}, {Name: "time", Unit: "nanoseconds"}}
	return &firefox.Profile{Product: "app", Start: start, Interval: 1e6, Process: name, Thread: name, Happened: happened,
		Samples: stacks.NewProfile(nil, stacks.Options{}, sampled("cpu", nanos...)),
		Caused:  []*stacks.Profile{stacks.NewProfile(nil, stacks.Options{}, sampled("exceptions", stacks.ValueType{Name: "exceptions", Unit: "count"}))}}
}

// A file is read back with the same weights, threads and times.
func TestReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := whole().Write(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	made, names := profiles.New(p, p.Default, profiles.Options{})
	got := ""
	for s := range made.Samples() {
		got += fmt.Sprintf("%s %v %d:", names.Threads[s.Thread], s.Values, s.Time-start)
		for i := range made.Stack(s.Stack) {
			got += " " + made.Frames[i].Name
		}
		got += "\n"
	}
	if want := "name 6 [1 500000] 1000000: 0x30 0x20 0x10\nname 6 [1 1000001] 2000000: 0x30 0x20 0x10\nname 7 [1 7] 3000000: [no stack]\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Markers have the stacks that caused them, and counters change by their differences.
func TestMarkers(t *testing.T) {
	var b bytes.Buffer
	if err := whole().Write(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Counters []struct {
			Name    string
			PID     string
			Samples struct{ Count []float64 }
		}
		Shared struct {
			StringArray []string
			StackTable  struct{ Frame []int }
		}
		Threads []struct {
			Name    string
			Markers struct {
				Name               []int
				StartTime, EndTime []*float64
				Data               []struct {
					Type  string
					ID    string
					Cause *struct{ Stack int }
				}
			}
		}
	}
	testio.JSON(t, b.Bytes(), &doc)
	got := ""
	for _, x := range doc.Threads {
		for i, name := range x.Markers.Name {
			d := x.Markers.Data[i]
			got += fmt.Sprintf("%s: %s %s %v", x.Name, doc.Shared.StringArray[name], d.Type, *x.Markers.StartTime[i])
			if end := x.Markers.EndTime[i]; end != nil {
				got += fmt.Sprint(" to ", *end)
			}
			if d.Cause != nil {
				if d.Cause.Stack < 0 || d.Cause.Stack >= len(doc.Shared.StackTable.Frame) {
					t.Fatalf("stack %d of %d", d.Cause.Stack, len(doc.Shared.StackTable.Frame))
				}
				got += " caused"
			}
			got += d.ID + "\n"
		}
	}
	want := "name 6: exceptions exceptions 1 caused\nname 6: GET / request 1 to 31\nname 6: exceptions A\uFFFDB exceptions 2 caused\nname 6: waits part of request 2 to 2.5\n" +
		"name 7: exceptions exceptions 3 caused\ngarbage collections: mark m 1\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(doc.Counters) != 2 || doc.Counters[0].Name != "heap gen0" || doc.Counters[0].PID != "9" || fmt.Sprint(doc.Counters[0].Samples.Count) != "[3 2]" {
		t.Errorf("%+v", doc.Counters)
	}
}

// TestViewer has the command line program of the viewer, @firefox-devtools/profiler-cli, read a
// file, where ETWGEN_PROFILER_CLI has its script: it finds the weights that were written.
func TestViewer(t *testing.T) {
	script := os.Getenv("ETWGEN_PROFILER_CLI")
	if script == "" {
		t.Skip("ETWGEN_PROFILER_CLI names no script of @firefox-devtools/profiler-cli")
	}
	var b bytes.Buffer
	if err := whole().Write(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.json")
	testio.Write(t, path, b.Bytes())
	run := func(args ...string) string {
		c := exec.Command("node", append([]string{script}, args...)...)
		c.Env = append(os.Environ(), "HOME="+dir, "PROFILER_CLI_SESSION_DIR="+dir)
		out, _ := c.CombinedOutput() // that the server is not ready yet is an error, too
		return string(out)
	}
	run("load", path)
	defer run("stop", "--all")
	text := ""
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"profile", "info"}, "This profile contains 4 threads across 2 processes"},
		{[]string{"thread", "functions", "--thread", "t-0"}, "self: 1.500ms (100.0%)"},
		{[]string{"thread", "markers", "--thread", "t-0"}, "4 markers"},
		{[]string{"counter", "list"}, "heap gen0"},
	} {
		for range 50 { // until it is ready
			if text = run(x.args...); !strings.Contains(text, "Error") {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if !strings.Contains(text, x.want) {
			t.Errorf("%v: %s, want %s", x.args, text, x.want)
		}
	}
}

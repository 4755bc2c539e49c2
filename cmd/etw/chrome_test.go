package main

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A chromeEvent is an event of a file as those who read it see it.
type chromeEvent struct {
	Ph, Name, Cat, ID string
	PID, TID          *int64
	TS, Dur           *float64
	Args              map[string]any
}

// Every trace of the corpus makes a file in which spans of a thread nest, others have an
// end for each begin, counters are numbers, and whatever there is has a name; and the
// pauses in it are those that etw gc has.
func TestChromeTraces(t *testing.T) {
	files := 0
	for _, pattern := range []string{"dotnet10/*.net*", "nettrace/*.net*", "etl/*.etl", "universal/*.nettrace"} {
		for _, path := range corpus.Glob(t, pattern) {
			if strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".json") {
				continue
			}
			out, stderr, code := output("export", "--format", "chrome", path)
			if strings.Contains(stderr, "there is nothing to write") {
				if code != 1 || out != "" {
					t.Errorf("%s: exit code %d and %q, want 1 and no file", path, code, out)
				}
				continue
			}
			var doc struct{ TraceEvents []chromeEvent }
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatalf("%s: %v\n%s", path, err, stderr)
			}
			files++
			checkChrome(t, filepath.Base(path), doc.TraceEvents)
			checkPauses(t, path, doc.TraceEvents)
		}
	}
	t.Logf("%d files", files)
}

func checkChrome(t *testing.T, name string, events []chromeEvent) {
	t.Helper()
	type track struct{ pid, tid int64 }
	type pair struct {
		pid          int64
		cat, id, nam string
	}
	named, processes := map[track]bool{}, map[int64]bool{}
	spans, open := map[track][]chromeEvent{}, map[pair]float64{}
	for _, e := range events {
		if e.PID == nil || e.TID == nil || e.Name == "" || e.Ph != "M" && (e.TS == nil || e.Cat == "" || math.Abs(*e.TS) > 1e15) {
			t.Fatalf("%s: %+v lacks something", name, e)
		}
		at, p := track{*e.PID, *e.TID}, pair{*e.PID, e.Cat, e.ID, e.Name}
		switch e.Ph {
		case "M":
			if text, ok := e.Args["name"].(string); !ok || text == "" {
				t.Errorf("%s: %+v has no name", name, e)
			}
			if named[at] = named[at] || e.Name == "thread_name"; e.Name == "process_name" {
				processes[at.pid] = true
			}
		case "X":
			if e.Dur == nil || *e.Dur < 0 {
				t.Fatalf("%s: %+v has no length", name, e)
			}
			spans[at] = append(spans[at], e)
		case "b":
			if _, ok := open[p]; ok {
				t.Errorf("%s: %+v begins twice", name, e)
			}
			open[p] = *e.TS
		case "e":
			if begin, ok := open[p]; !ok || begin > *e.TS {
				t.Errorf("%s: %+v ends what has not begun", name, e)
			}
			delete(open, p)
		case "C":
			for _, v := range e.Args {
				if _, ok := v.(float64); !ok {
					t.Errorf("%s: %+v is no number", name, e)
				}
			}
		case "i":
		default:
			t.Errorf("%s: %+v is of no kind that is known", name, e)
		}
		if e.Ph != "M" && !processes[at.pid] || (e.Ph == "X" || e.Ph == "i") && at.tid > 0 && !named[at] {
			t.Fatalf("%s: %+v is of nothing that has a name", name, e)
		}
	}
	for p := range open {
		t.Errorf("%s: %+v has no end", name, p)
	}
	for at, list := range spans {
		checkNesting(t, name, at, list)
	}
}

// checkNesting checks that no span begins in another and ends after it, with times as
// exact as they are written.
func checkNesting(t *testing.T, name string, at any, list []chromeEvent) {
	t.Helper()
	ns := func(us float64) int64 { return int64(math.Round(us * 1000)) }
	slices.SortStableFunc(list, func(a, b chromeEvent) int {
		return cmp.Or(cmp.Compare(ns(*a.TS), ns(*b.TS)), cmp.Compare(ns(*b.Dur), ns(*a.Dur)))
	})
	var ends []int64
	for _, e := range list {
		from, end := ns(*e.TS), ns(*e.TS)+ns(*e.Dur)
		for len(ends) > 0 && ends[len(ends)-1] <= from {
			ends = ends[:len(ends)-1]
		}
		if len(ends) > 0 && end > ends[len(ends)-1] {
			t.Errorf("%s: on %v %s goes on after what it is in", name, at, e.Name)
		}
		ends = append(ends, end)
	}
}

// checkPauses holds the pauses of collections against those of etw gc.
func checkPauses(t *testing.T, path string, events []chromeEvent) {
	t.Helper()
	out, _, _ := output("gc", "--format", "json", path)
	var res struct {
		Runtimes []struct {
			GCs []struct {
				Kind    string
				PauseMS float64
			}
		}
	}
	testio.JSON(t, out, &res)
	want := 0.0
	for _, rt := range res.Runtimes {
		for _, c := range rt.GCs {
			if c.Kind != "background" {
				want += c.PauseMS
			}
		}
	}
	for _, e := range events {
		if e.Cat == "gc" && strings.HasSuffix(e.Name, " pause") && e.Dur != nil && !strings.Contains(e.Name, "B") {
			want -= *e.Dur / 1e3
		}
	}
	if math.Abs(want) > 1e-3 {
		t.Errorf("%s: etw gc has %v ms of pauses more", filepath.Base(path), want)
	}
}

// TestChromeRequests: all activities are in the export, and not the longest alone.
func TestChromeRequests(t *testing.T) {
	path := recordedPath("causes/cause-10.nettrace.gz")
	var doc struct {
		Processes []struct{ Tasks []struct{ Count, Open int } }
	}
	out, _, _ := output("requests", "--format", "json", path)
	testio.JSON(t, out, &doc)
	want := 0
	for _, p := range doc.Processes {
		for _, task := range p.Tasks {
			want += task.Count + task.Open
		}
	}
	out, _, code := output("export", "--format", "chrome", "-o", "-", path)
	var file struct{ TraceEvents []chromeEvent }
	testio.JSON(t, out, &file)
	got := 0
	for _, e := range file.TraceEvents {
		if e.Ph == "b" && (strings.HasPrefix(e.Name, "Request") || strings.HasPrefix(e.Name, "Lookup")) {
			got++
		}
	}
	if code != 0 || got != want || want < 21 {
		t.Errorf("%d activities, want %d", got, want)
	}
}

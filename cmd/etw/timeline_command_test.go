package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/tests/corpus"
)

// lanesOf returns lanes of a trace as JSON has them, and fails if two are of one thing.
func lanesOf(t *testing.T, args ...string) map[string]*timeline.Lane {
	t.Helper()
	out, stderr, code := output(append([]string{"timeline", "--format", "json"}, args...)...)
	var res timeline.Result
	if err := json.Unmarshal([]byte(out), &res); err != nil || code != 0 {
		t.Fatalf("%v: %d, %s, %v", args, code, stderr, err)
	}
	lanes := make(map[string]*timeline.Lane)
	for _, l := range res.Lanes {
		name := strings.TrimSpace(string(l.Kind) + " " + l.Of)
		if lanes[name] != nil {
			t.Errorf("%v: two lanes of %s", args, name)
		}
		lanes[name] = l
	}
	return lanes
}

// A series of a metric is one lane, that of an up-down counter its level.
func TestTimelineMetrics(t *testing.T) {
	path := corpus.File(t, "dotnet10", "metrics.nettrace")
	lanes := lanesOf(t, "--buckets", "4", path)
	for name, want := range map[string][]float64{
		"counter System.Runtime/dotnet.process.memory.working_set": {-1, 35819520, 38100992, 38633472},
		"counter Bakery.Meter/depth":                               {-1, 5, 5, 1},
		"counter Bakery.Meter/steps":                               {0, 0, 147, 147},
	} {
		l := lanes[name]
		if l == nil {
			t.Errorf("no lane of %s", name)
			continue
		}
		for i, v := range l.Values {
			if v.Or(-1) != want[i] {
				t.Errorf("%s: %v in bucket %d, not %v", name, v, i, want[i])
			}
		}
	}
	if _, stderr, _ := output("timeline", "--format", "md", path); !strings.Contains(stderr, "3 largest of each kind") {
		t.Errorf("nothing says what Markdown leaves out: %q", stderr)
	}
}

// A part of the time has the levels from before it.
func TestTimelinePart(t *testing.T) {
	path := corpus.File(t, "dotnet10", "threadpool.nettrace")
	l := lanesOf(t, "--lanes", "workers", "--from", "2000", "--to", "3000", "--buckets", "7", path)["workers"]
	if l == nil {
		t.Fatal("no workers")
	}
	for i, v := range l.Values {
		if v.Or(0) != 4 {
			t.Errorf("%v workers in bucket %d", v, i)
		}
	}
}

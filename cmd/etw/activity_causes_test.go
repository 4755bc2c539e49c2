package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/internal/testio"
)

// endpointsOf returns the endpoints of the requests that a command answers.
func endpointsOf(t *testing.T, args ...string) map[string]requests.Endpoint {
	t.Helper()
	stdout, stderr, _ := output(append(args, "--format", "json")...)
	var res requests.Result
	testio.JSON(t, stdout, &res)
	of := make(map[string]requests.Endpoint)
	for _, p := range res.Processes {
		for _, task := range p.Tasks {
			for _, e := range task.Endpoints {
				of[e.Endpoint] = e
			}
		}
	}
	if len(of) == 0 {
		t.Fatalf("etw %v: no endpoints: %s", args, stderr)
	}
	return of
}

// TestCausesOfActivity: an endpoint that --activity asks for, or that a part of the trace is of, spent
// its time as it did among all: in the queue, and awaiting, too. A part calls work of others awaiting.
func TestCausesOfActivity(t *testing.T) {
	const path = "../../tests/recorded/causes/cause-10.nettrace.gz"
	all := endpointsOf(t, "requests", path)
	queued := 0.0
	for name, want := range all {
		if !strings.HasPrefix(name, "GET ") {
			continue
		}
		queued += want.Causes.QueuedMS
		got := endpointsOf(t, "requests", "--activity", name, path)[name]
		if got.Causes == nil || *got.Causes != *want.Causes || got.Count != want.Count {
			t.Errorf("--activity '%s': %+v, and among all %+v", name, got.Causes, want.Causes)
		}
		part := filepath.Join(t.TempDir(), "part.nettrace")
		output("filter", "--activity", name, path, "-o", part)
		if cut := endpointsOf(t, "requests", part)[name]; cut.Causes == nil || *cut.Causes != *want.Causes {
			t.Errorf("a part of %s: %+v, and in all %+v", name, cut.Causes, want.Causes)
		}
		lanes, sum := laneSums(t, "timeline", "--activity", name, "--lanes", "causes", path), 0.0
		for cause, ms := range want.Causes.Parts() {
			sum += math.Abs(ms - lanes[cause])
		}
		if len(lanes) == 0 || sum > 0.01 {
			t.Errorf("timeline --activity '%s': %v, and requests say %+v", name, lanes, want.Causes)
		}
	}
	if queued == 0 {
		t.Error("no request was ever queued")
	}
}

// laneSums returns the sums of lanes by the end of their names.
func laneSums(t *testing.T, args ...string) map[string]float64 {
	t.Helper()
	stdout, _, _ := output(append(args, "--format", "json")...)
	var res struct {
		Lanes []struct {
			Of    string
			Total float64
		}
	}
	testio.JSON(t, stdout, &res)
	sums := make(map[string]float64)
	for _, l := range res.Lanes {
		if strings.Contains(l.Of, "Request: ") {
			sums[l.Of[strings.LastIndex(l.Of, ": ")+2:]] += l.Total
		}
	}
	return sums
}

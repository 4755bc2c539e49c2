package live

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/profiling"
)

// TestSendFlags refuses flags that do not go with sending profiles.
func TestSendFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--otlp http://x":                              "which processes?",
		"--otlp http://x -p 1 --all":                   "which processes?",
		"--otlp http://x --all -o y":                   "--output is of recordings",
		"--otlp http://x --all --every 1ms":            "--every 1ms",
		"--otlp http://x --all --budget 101":           "--budget 101",
		"--otlp http://x --all --budget NaN":           "--budget NaN",
		"--otlp http://x -p -1":                        "-p -1",
		"--otlp x --all":                               "is no address",
		"--otlp http://x --all -- dotnet":              "starts no command",
		"--otlp http://x --all --duration 0s":          "--duration 0s",
		"--otlp http://x --all --buffer-mb 0":          "--buffer-mb",
		"--otlp http://x --all --cpu-hz 18":            "write 19 to 97",
		"--otlp http://x --all --cpu-hz 0":             "write 19 to 97",
		"--otlp http://x --all --cpu-hz 97 --spans":    "--spans is of samples of threads",
		"--cpu-hz 19 -p 1":                             "--cpu-hz goes with --otlp",
		"--all -p 1":                                   "--all goes with --otlp",
		"--spans -p 1":                                 "--spans goes with --otlp",
		"--otlp http://x --all --profile cpu,requests": "--profile is of recordings",
	} {
		cmd := NewCollect()
		cmd.SetArgs(strings.Fields(args))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// TestGive sends an interval, prints a line of it, and counts the samples that an absent
// collector did not take.
func TestGive(t *testing.T) {
	bodies := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { bodies++ }))
	defer server.Close()
	client, err := otlp.NewClient(server.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	client.MaxElapsed = time.Millisecond
	cmd := NewCollect()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetContext(t.Context())
	s := &sending{cmd: cmd, client: client}
	p := &profiling.Process{Name: "bakery", PID: 7}
	samples := stacks.NewSamples("exceptions", stacks.ValueType{Name: "exceptions", Unit: "count"})
	samples.AddStack(time.Now(), 7, 70, samples.InternAddresses(7, []uint64{1}), 0, 1)
	x := &profiling.Interval{Profiles: []profiling.Profile{{Profile: stacks.NewProfile(nil, stacks.Options{}, samples)}}, Window: time.Second, Cost: 0.25, Open: 1}
	s.give(p, x, nil)
	s.give(p, &profiling.Interval{Skipped: profiling.SkippedIdle}, nil)
	s.give(p, &profiling.Interval{Sampled: 12}, nil)
	if bodies != 1 || s.sent != 1 || s.lost != 0 {
		t.Errorf("%d bodies, %d sent, %d lost", bodies, s.sent, s.lost)
	}
	if s.reach(t.Context()); bodies != 2 || strings.Contains(out.String(), "nobody") {
		t.Errorf("%d requests: %s", bodies, out.String())
	}
	server.Close()
	s.reach(t.Context())
	s.give(p, x, nil)
	if s.sent != 1 || s.lost != 1 || s.trouble == nil {
		t.Errorf("%d sent, %d lost: %v", s.sent, s.lost, s.trouble)
	}
	for _, part := range []string{"bakery (7): 1 sample", "0.25 s of a processor if it is as assumed", "threads not sampled: idle", "processors were sampled 12 times", "1 wait that went on", "etw: nobody answers yet; each profile is tried for 1ms: "} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the lines do not have %q: %s", part, out.String())
		}
	}
}

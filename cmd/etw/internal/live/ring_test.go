package live

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/internal/command/commandtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

func readRecords(t *testing.T, data []byte) (list []seenRecord) {
	t.Helper()
	r := testio.Reader(t, nettrace.NewReader, data)
	for rec := range testio.Records(t, etw.Records(r)) {
		list = append(list, seenRecord{rec.ID, rec.Timestamp, rec.Stack.String()})
	}
	if s := r.Stats(); s.Lost+s.UnknownMetadata+s.UnknownStacks > 0 || !s.Stopped {
		t.Errorf("%+v", s)
	}
	return list
}

// A seenRecord is a record that must come out of a file as it came out of the stream.
type seenRecord struct {
	ID    uint16
	At    int64
	Stack string
}

// TestSplitter splits a stream, in pieces of all sizes: the files together have its
// records, with their stacks and descriptions.
func TestSplitter(t *testing.T) {
	stream := commandtest.Points()
	want := readRecords(t, stream)
	for _, piece := range []int{1, 7, 100, 4096, len(stream)} {
		base := filepath.Join(t.TempDir(), "ring")
		s := &splitter{base: base, flags: ringFlags{files: 9, limit: 1}, now: time.Now}
		if err := s.next(); err != nil {
			t.Fatal(err)
		}
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := s.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		testio.Close(t, s)
		if n := len(s.names()); n != 4 {
			t.Errorf("%d files, want 4", n)
		}
		var got []seenRecord
		for i, name := range s.names() {
			data := testio.Read(t, name)
			got = append(got, readRecords(t, data)...)
			r := testio.Reader(t, nettrace.NewReader, data)
			for range testio.Records(t, etw.Records(r)) {
				continue
			}
			if r.Stats().Continued != (i > 0) {
				t.Errorf("file %d goes on with another: %v", i, r.Stats().Continued)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
		}
	}
}

// TestRing checks which files are kept.
func TestRing(t *testing.T) {
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		flags ringFlags
		keep  bool
		want  string // the numbers of the files
	}{
		{ringFlags{files: 2, limit: 1}, false, "5 6"},
		{ringFlags{files: 3, limit: 1}, false, "4 5 6"},
		{ringFlags{files: 2, limit: 1}, true, "1 2 3 4 5 6"},
		{ringFlags{files: 2, limit: 1, before: 15 * time.Second}, false, "4 5 6"},
		{ringFlags{files: 2, limit: 1, before: time.Second}, false, "5 6"},
	} {
		now := at
		s := &splitter{base: filepath.Join(t.TempDir(), "ring"), flags: test.flags, keeps: test.keep, now: func() time.Time { return now }}
		for range 6 {
			if err := s.next(); err != nil {
				t.Fatal(err)
			}
			now = now.Add(10 * time.Second)
		}
		s.Close()
		var got []string
		for _, name := range s.names() {
			number := strings.Split(filepath.Base(name), ".")[1]
			got = append(got, number)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%+v: files %s, want %s", test.flags, got, test.want)
		}
		left, _ := filepath.Glob(s.base + ".*")
		if len(left) != len(got) {
			t.Errorf("%d files are there, %d are listed", len(left), len(got))
		}
	}
}

// TestSplitterOfOthers writes other data than a stream of version 4 as it is.
func TestSplitterOfOthers(t *testing.T) {
	stream := commandtest.Points()
	for name, data := range map[string][]byte{
		"empty": nil, "another format": []byte("something else that is longer than the begin of a stream"),
		"cut off": stream[:len(stream)-50], "a long name": append(stream[:len(frames.StreamMagic):len(frames.StreamMagic)], bytes.Repeat([]byte{5, 255}, 20)...),
	} {
		s := &splitter{base: filepath.Join(t.TempDir(), "ring"), flags: ringFlags{files: 2, limit: 1 << 40}, now: time.Now}
		if err := s.next(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(data); err != nil {
			t.Fatal(err)
		}
		testio.Close(t, s)
		got, err := os.ReadFile(s.names()[0])
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(data))
		}
	}
}

// TestTriggers parses the conditions that a recording can stop for.
func TestTriggers(t *testing.T) {
	for _, text := range []string{"pause > 200ms", "pause>1s", "GCEnd", "ExceptionThrown where ExceptionType ~ Timeout", "GCStart where Depth = 2 and Reason = Induced"} {
		if _, err := parseTrigger(nil, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"pause > x", "pause > -1s", "GCEnd when Depth = 2", "GCEnd where Depth", "GCEnd where Dept = 2"} {
		if _, err := parseTrigger(nil, text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	for text, want := range map[string]string{
		"gc-pause:1ms": "neither the name of an event nor a limit", "pause=1ms": "neither the name",
		"GCEndd": "did you mean GCEnd", "Nothing*": "no provider that is recorded has such an event",
	} {
		stop, err := parseTrigger(nil, text)
		if err == nil {
			err = stop.check([]eventpipe.Provider{{Name: "Microsoft-Windows-DotNETRuntime"}, {Name: "Microsoft-DotNETCore-SampleProfiler"}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// An EventSource of the program may have any event.
	if stop, err := parseTrigger(nil, "OrderPlaced"); err != nil || stop.check([]eventpipe.Provider{{Name: "My-Shop"}}) != nil {
		t.Errorf("an event of a source that nobody knows: %v", err)
	}
	if n := len((*trigger)(nil).needs()); n != 0 {
		t.Errorf("no trigger needs %d providers", n)
	}
}

// A counter that its source does not have is known after two intervals.
func TestNoSuchCounter(t *testing.T) {
	stop, err := parseTrigger(nil, "counter System.Runtime/cpuusage > 80")
	if err != nil {
		t.Fatal(err)
	}
	readings := []counterReading{{source: "System.Runtime", name: "cpu-usage", value: quantity.Known(90)}, {source: "System.Runtime", name: "gc-count"}}
	for i, want := range []string{"", "System.Runtime has no counter cpuusage (did you mean cpu-usage?); there are cpu-usage, gc-count"} {
		if what := stop.counter.passed(readings); what != "" || !strings.Contains(stop.never(), want) || (want == "") != (stop.never() == "") {
			t.Errorf("interval %d: %q, %q, want %q", i, what, stop.never(), want)
		}
	}
	if stop, err = parseTrigger(nil, "counter System.Runtime/cpu-usage > 95"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if what := stop.counter.passed(readings); what != "" || stop.never() != "" {
			t.Errorf("%q, %q", what, stop.never())
		}
	}
}

// TestSilentSource has the name of a source wrong, of which nothing comes: that is said once.
func TestSilentSource(t *testing.T) {
	for text, want := range map[string]string{
		"counter Sytem.Runtime/cpu-usage > 80": "no counter of Sytem.Runtime has come in 5 s (did you mean System.Runtime?); it waits on",
		"metric My.Meter/job > 80":             "no value of the metric job has come in 5 s (did you mean My.Meter/jobs?); it waits on",
		"metric Other/thing > 80":              "no value of the metric thing has come in 5 s; it waits on",
	} {
		var said bytes.Buffer
		cmd := &cobra.Command{Use: "collect"}
		cmd.SetErr(&said)
		stop, err := parseTrigger(cmd, text)
		if err != nil {
			t.Fatal(err)
		}
		stop.counter.publish(&counters.Result{Processes: []counters.Process{{Published: []string{"My.Meter/jobs", "My.Meter/delay"}}}})
		for range 3 * longSilence {
			if what := stop.counter.passed(nil); what != "" || stop.never() != "" {
				t.Errorf("%q, %q", what, stop.never())
			}
		}
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("%s: %q, want once %q", text, said.String(), want)
		}
	}
}

// TestExposition serves counters, metrics and a histogram.
func TestExposition(t *testing.T) {
	known := quantity.Known
	e := newExposition(nil)
	for range 2 {
		e.take([]counterReading{
			{source: "System.Runtime", name: "cpu-usage", title: "CPU Usage", unit: "%", value: known(12.5)},
			{source: "My.Meter", name: "jobs", title: "jobs", unit: "{job}", tags: `kind=odd "one",p=q`, added: known(3), rate: known(1.5)},
			{source: "My.Meter", name: "9delay", title: "delay", quantiles: map[string]quantity.Float{"0.5": known(4)}, count: known(2), sum: known(8)},
		})
	}
	cmd := new(cobra.Command)
	cmd.SetErr(io.Discard)
	stop, err := e.serve(cmd, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	w := httptest.NewRecorder()
	e.answer(w, nil)
	want := `# HELP my_meter_9delay delay
# TYPE my_meter_9delay summary
my_meter_9delay_count 4
my_meter_9delay_sum 16
my_meter_9delay{quantile="0.5"} 4
# HELP my_meter_jobs jobs {job}
# TYPE my_meter_jobs counter
my_meter_jobs_total{kind="odd \"one\"",p="q"} 6
# HELP system_runtime_cpu_usage CPU Usage %
# TYPE system_runtime_cpu_usage gauge
system_runtime_cpu_usage 12.5
# EOF
`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := prometheus.Name("9 a"); got != "_9_a" {
		t.Errorf("a metric is called %s", got)
	}
}

// TestReadings leaves out readings of others, and those of a moment.
func TestReadings(t *testing.T) {
	c := &counterMode{interval: time.Second, session: "ours"}
	known := quantity.Known
	point := []counters.Point{{IntervalSec: 1, Mean: known(5), Increment: known(7), PerSec: known(7)}}
	res := &counters.Result{Processes: []counters.Process{{
		Notes: []counters.Note{{Event: "Error", Text: "too many"}},
		Counters: []counters.Counter{
			{Provider: "P", Name: "mean", Type: "Mean", Series: "Interval=1000", Points: point},
			{Provider: "P", Name: "sum", Type: "Sum", Points: point},
			{Provider: "P", Name: "other", Type: "Mean", Series: "Interval=500", Points: point},
			{Provider: "P", Name: "first", Type: "Mean", Points: []counters.Point{{IntervalSec: 0.01}}},
			{Provider: "P", Name: "none", Type: "Mean"},
		},
		Metrics: []counters.Metric{
			{Session: "ours", Meter: "M", Instrument: "adds", Type: "ObservableCounter", Points: []counters.MetricPoint{{Rate: known(2)}}},
			{Session: "ours", Meter: "M", Instrument: "up", Type: "UpDownCounter", Points: []counters.MetricPoint{{Rate: known(2), Value: known(9)}}},
			{Session: "ours", Meter: "System.Runtime", Instrument: "dotnet.thread_pool.thread.count", Type: "ObservableCounter`1", Points: []counters.MetricPoint{{Rate: known(0), Value: known(4)}}},
			{Session: "ours", Meter: "M", Instrument: "spread", Type: "Histogram", Points: []counters.MetricPoint{{Count: known(1), Sum: known(2)}}},
			{Session: "theirs", Meter: "M", Instrument: "x", Points: []counters.MetricPoint{{Value: known(2)}}},
		},
	}}}
	cmd := new(cobra.Command)
	var stderr bytes.Buffer
	cmd.SetErr(&stderr)
	var got []string
	for _, r := range c.readings(cmd, res) {
		kinds, values := r.shownValues()
		for i, kind := range kinds {
			got = append(got, r.name+" "+kind+" "+formatNumber(values[i]))
		}
	}
	want := []string{"adds perSec 2", "spread count 1", "spread sum 2", "up value 9", "mean value 5", "sum perSec 7", "dotnet.thread_pool.thread.count value 4"}
	if diff := cmp.Diff(want, got); diff != "" || stderr.String() != "etw: Error: too many\n" {
		t.Errorf("stderr %q (-want +got):\n%s", stderr.String(), diff)
	}
}

// TestRecentValues keeps the last values sorted.
func TestRecentValues(t *testing.T) {
	var r recentValues
	for i := range recentPauses + 500 {
		r.add(float64((i * 7919) % 20011))
	}
	if len(r.ring) != recentPauses || len(r.sorted) != recentPauses || !slices.IsSorted(r.sorted) {
		t.Fatalf("%d values, %d sorted", len(r.ring), len(r.sorted))
	}
	if diff := cmp.Diff(r.sorted, slices.Sorted(slices.Values(r.ring))); diff != "" {
		t.Error(diff)
	}
}

func TestProgramNames(t *testing.T) {
	for command, want := range map[string]string{
		"": "dotnet", "dotnet": "dotnet", "/usr/bin/dotnet /app/My.Service.dll 5": "My.Service", `C:\app\Service.exe -x`: "Service", "/app/live 30": "live",
	} {
		if got := programName("", command); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}

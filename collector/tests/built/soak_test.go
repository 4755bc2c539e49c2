package built

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

var (
	soakDuration = flag.Duration("soak.duration", 6*time.Second, "how long the collector is soaked")
	soakLives    = flag.Int("soak.lives", 6, "how many processes it has in that time, one after another")
	soakService  = flag.String("soak.service", "", "command of a .NET process; without one it is a stand-in")
	soakCSV      = flag.String("soak.csv", "", "file for the samples")
)

// soaked is the load for a collector: it attaches to the processes of a folder, and follows
// the traces of another.
const soaked = `
extensions:
  file_storage: {directory: %[1]s}
  pprof: {endpoint: '%[2]s'}
receivers:
  dotnet:
    targets: [{socket: '%[1]s/*/dotnet-diagnostic-*'}]
    presets: [gc, requests, counters, exceptions]%[4]s
  trace_file:
    include: ['%[1]s/traces/*.nettrace']
    storage: file_storage
    follow: true
    poll_interval: 100ms
exporters:
  file: {path: %[1]s/out.jsonl, rotation: {max_megabytes: 16, max_backups: 1}}
service:
  extensions: [file_storage, pprof]
  telemetry:
    metrics: {level: normal, readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %[3]s}}}}]}
  pipelines:
    logs: {receivers: [dotnet, trace_file], exporters: [file]}
    metrics: {receivers: [dotnet, trace_file], exporters: [file]}
    traces: {receivers: [dotnet, trace_file], exporters: [file]}
`

// A sample is the resources of a collector at a time, and its work until then.
type sample struct {
	at                             time.Duration
	rss, anonymous, heap           float64 // in bytes; anonymous is without what is mapped of files
	live                           float64 // bytes of the heap after a collection, where one was asked for
	goroutines, files              float64
	logs, points, spans            float64
	refused, lost, sessions, ended float64
}

// A soaker is a collector that is soaked.
type soaker struct {
	*collector
	dir            string
	profiles, self string // where it tells of itself
	client         http.Client
	begun          time.Time
	traces         int
	csv            io.Writer
	samples        []sample
}

// soak starts the collector.
func soak(t *testing.T, dir string) *soaker {
	t.Helper()
	options := "" // the defaults for a real process
	if *soakService == "" {
		options = "\n    discovery: {interval: 200ms}"
	}
	s := &soaker{dir: dir, client: http.Client{Timeout: 10 * time.Second}, csv: io.Discard}
	s.collector = serve(t, dir, func() string {
		a, b := port(t), port(t)
		s.profiles, s.self, s.begun = "127.0.0.1:"+a, "127.0.0.1:"+b, time.Now()
		return fmt.Sprintf(soaked, dir, s.profiles, b, options)
	})
	return s
}

// serve starts a collector that listens at ports which its configuration names. Somebody
// else may take one in between: then it is tried again.
func serve(t *testing.T, dir string, configure func() string) *collector {
	t.Helper()
	for range 5 {
		c := launch(t, dir, configure())
		for {
			if c.says("Everything is ready") {
				return c
			}
			select {
			case <-c.end:
			case <-time.After(10 * time.Millisecond):
				continue
			}
			break
		}
		c.cmd.Wait()
		t.Logf("the collector has ended:\n%s", c.log.String())
	}
	t.Fatal("no collector gets its ports")
	return nil
}

// port returns a port that nobody had a moment ago.
func port(t *testing.T) string {
	t.Helper()
	l := testio.Listen(t, "tcp", "127.0.0.1:0")
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// get asks the collector for something.
func (s *soaker) get(address string) string {
	s.t.Helper()
	r, err := s.client.Get("http://" + address)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log.String())
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// sum returns the sum of the metrics whose names begin and whose labels hold something.
func sum(metrics, name, label string) (total float64) {
	for line := range strings.Lines(metrics) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && strings.HasPrefix(line, name) && strings.Contains(line[:i], label) {
			v, _ := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
			total += v
		}
	}
	return total
}

// after returns the number behind a text.
func after(text, what string) float64 {
	_, text, _ = strings.Cut(text, what)
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text, _, _ = strings.Cut(text, " ")
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// take takes a sample; a collection of garbage comes before it if it is asked for.
func (s *soaker) take(collect bool) sample {
	s.t.Helper()
	x := sample{}
	if collect { // twice, as what has a finalizer goes with the second
		s.get(s.profiles + "/debug/pprof/heap?gc=1&debug=1")
		x.live = after(s.get(s.profiles+"/debug/pprof/heap?gc=1&debug=1"), "\n# HeapAlloc = ")
	}
	s.client.CloseIdleConnections()
	m := s.get(s.self + "/metrics")
	x.at = time.Since(s.begun)
	x.heap = sum(m, "otelcol_process_runtime_heap_alloc_bytes", "")
	x.logs = sum(m, "otelcol_receiver_accepted_log_records", "")
	x.points = sum(m, "otelcol_receiver_accepted_metric_points", "")
	x.spans = sum(m, "otelcol_receiver_accepted_spans", "")
	x.refused = sum(m, "otelcol_receiver_refused", "")
	x.lost = sum(m, "otelcol_receiver_dotnet_events_lost", "") + sum(m, "otelcol_receiver_trace_file_events_lost", "")
	x.sessions = sum(m, "otelcol_receiver_dotnet_sessions", `state="attached"`)
	x.ended = sum(m, "otelcol_receiver_trace_file_files", `state="done"`)
	x.goroutines = after(s.get(s.profiles+"/debug/pprof/goroutine?debug=1"), "goroutine profile: total ")
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)); err == nil {
		x.rss, x.anonymous = 1024*after(string(status), "\nVmRSS:"), 1024*after(string(status), "\nRssAnon:")
	}
	if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)); err == nil {
		x.files = float64(len(files))
	}
	s.samples = append(s.samples, x)
	fmt.Fprintf(s.csv, "%.1f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", x.at.Seconds(), x.rss, x.anonymous, x.heap, x.live, x.goroutines, x.files, x.logs, x.points, x.spans, x.refused, x.lost, x.sessions, x.ended)
	return x
}

// lay lays one more trace into the folder that is followed, in two pieces.
func (s *soaker) lay(trace []byte) {
	s.t.Helper()
	b := slices.Clone(trace)
	at := bytes.Index(b, []byte("Trace\x06")) + 6 // the year is first of when it was begun, which tells traces apart
	s.traces++
	binary.LittleEndian.PutUint16(b[at:], uint16(1970+s.traces))
	f := testio.Create(s.t, filepath.Join(s.dir, "traces", fmt.Sprintf("%d.nettrace", s.traces%16)))
	defer f.Close()
	for _, part := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
		if _, err := f.Write(part); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// process starts a process of .NET in a folder of its own, or one that stands in for it, and
// returns a function that kills it.
func (s *soaker) process(life int, events []byte) (kill func()) {
	s.t.Helper()
	dir := filepath.Join(s.dir, fmt.Sprint("life", life))
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if *soakService == "" {
		rt := eventpipetest.NewRuntime(10)
		rt.PID, rt.Cookie = int64(life+1), etw.GUID{byte(life + 1)}
		rt.Stream, rt.Rest = events[:len(events)-1], events[len(events)-1:]
		_, end, err := rt.Listen(dir)
		if err != nil {
			s.t.Fatal(err)
		}
		return func() { end(); os.RemoveAll(dir) }
	}
	cmd := exec.Command("nice", append([]string{"-n", "10"}, strings.Fields(*soakService)...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func() { cmd.Process.Kill(); cmd.Wait() } // its socket stays, as it does
}

// until waits until the collector has so many sessions, and returns how long that was.
func (s *soaker) until(sessions float64) time.Duration {
	s.t.Helper()
	begun := time.Now()
	s.wait(fmt.Sprintf("it has %g sessions", sessions), func() bool {
		return sum(s.get(s.self+"/metrics"), "otelcol_receiver_dotnet_sessions", `state="attached"`) == sessions
	})
	return time.Since(begun)
}

// TestSoak has a collector attach to processes that come and go, and follow traces that
// appear meanwhile. Its resources after a life, with nothing under way, are compared with
// those before: goroutines, files and the heap after a collection. With
//
//	-soak.duration=1h -soak.lives=6 -soak.service='/path/of/program its arguments' -soak.csv=FILE
//
// (and -timeout=2h) it does so for an hour with real processes, and says how memory went.
func TestSoak(t *testing.T) {
	need(t)
	if runtime.GOOS != "linux" {
		t.Skip("what a process holds is read in /proc")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o700); err != nil {
		t.Fatal(err)
	}
	trace := testio.Read(t, "../../../tests/recorded/jit.nettrace")
	collections := testio.Read(t, "../../../tests/recorded/gc.nettrace")
	s := soak(t, dir)
	if *soakCSV != "" {
		f := testio.Create(t, *soakCSV)
		defer f.Close()
		fmt.Fprintln(f, "seconds,rss,anonymous,heap,live,goroutines,files,logs,points,spans,refused,lost,sessions,ended")
		s.csv = f
	}
	var rest []sample
	for life := range *soakLives {
		rest = append(rest, s.live(life, *soakDuration/time.Duration(*soakLives), trace, collections))
	}
	for range 50 { // what is only late is gone soon, and a leak is not
		if len(rest) < 2 || !s.leaks(rest) {
			break
		}
		time.Sleep(200 * time.Millisecond)
		rest[len(rest)-1] = s.take(true)
	}
	s.stop()
	for i, x := range rest {
		t.Logf("after life %d: %.0f goroutines, %.0f files, heap %.2f MB, RSS %.1f MB; %.0f log records, %.0f points, %.0f spans, %.0f refused, %.0f lost", i+1, x.goroutines, x.files, x.live/1e6, x.rss/1e6, x.logs, x.points, x.spans, x.refused, x.lost)
	}
	s.judge(rest)
	s.trend()
}

// live is the life of one process, with traces beside it. It returns the resources held after it.
func (s *soaker) live(life int, long time.Duration, trace, collections []byte) sample {
	s.t.Helper()
	end := time.Now().Add(long)
	kill := s.process(life, collections)
	took := s.until(1)
	s.t.Logf("life %d: attached after %v", life+1, took.Round(10*time.Millisecond))
	if *soakService != "" && took > 5*time.Second {
		s.t.Errorf("life %d: it takes %v to attach", life+1, took)
	}
	every := min(long/4, 10*time.Second)
	for n := 1; time.Now().Before(end); n++ {
		if n%3 == 1 {
			s.lay(trace)
		}
		s.take(n%6 == 0)
		time.Sleep(max(min(every, time.Until(end)), 0))
	}
	kill()
	s.until(0)
	s.wait("all traces are read", func() bool {
		m := s.get(s.self + "/metrics")
		return sum(m, "otelcol_receiver_trace_file_files", `state="done"`) >= float64(s.traces)
	})
	s.take(true) // the connections of this test are gone by then, and what ended is
	time.Sleep(500 * time.Millisecond)
	return s.take(true)
}

// leaks reports whether more is held after the last life than judge allows.
func (s *soaker) leaks(rest []sample) bool {
	first, last, more := rest[1], rest[len(rest)-1], allowed(len(rest)-2)
	return last.goroutines-first.goroutines > more || last.files-first.files > more || last.live-first.live > more*200_000
}

// allowed returns how many goroutines and files so many lives may leave.
func allowed(lives int) float64 { return float64((lives + 1) / 2) }

// judge compares the resources after the last life with those after the second: whatever is
// left of each life is there as many times as there were lives.
func (s *soaker) judge(rest []sample) {
	lives := len(rest) - 2
	if lives < 2 {
		return
	}
	first, last := rest[1], rest[len(rest)-1]
	more := allowed(lives)
	if d := last.goroutines - first.goroutines; d > more {
		s.t.Errorf("%d lives leave %.0f goroutines:\n%s", lives, d, s.log.String())
	}
	if d := last.files - first.files; d > more {
		s.t.Errorf("%d lives leave %.0f files open", lives, d)
	}
	if d := last.live - first.live; d > more*200_000 {
		s.t.Errorf("%d lives leave %.1f MB of heap", lives, d/1e6)
	}
	if last.logs == 0 || last.points == 0 || last.refused > 0 {
		s.t.Errorf("%.0f log records, %.0f points, %.0f refused", last.logs, last.points, last.refused)
	}
}

// trend says of a long run how its memory went.
func (s *soaker) trend() {
	long := s.samples[len(s.samples)-1].at
	if long < 5*time.Minute {
		return
	}
	part := min(10*time.Minute, long/4)
	for _, what := range []struct {
		name string
		of   func(sample) float64
	}{
		{"RSS", func(x sample) float64 { return x.rss }},
		{"anonymous memory", func(x sample) float64 { return x.anonymous }},
		{"heap", func(x sample) float64 { return x.heap }},
		{"live heap", func(x sample) float64 { return x.live }},
	} {
		var first, last []float64
		var n, sx, sy, sxx, sxy float64
		for _, x := range s.samples {
			v := what.of(x)
			if v == 0 || x.at < 30*time.Second { // not measured, or its start
				continue
			}
			if x.at < part {
				first = append(first, v)
			} else if x.at > long-part {
				last = append(last, v)
			}
			h := x.at.Hours()
			n, sx, sy, sxx, sxy = n+1, sx+h, sy+v, sxx+h*h, sxy+h*v
		}
		if len(first) == 0 || len(last) == 0 {
			continue
		}
		slices.Sort(first)
		slices.Sort(last)
		a, b := first[len(first)/2], last[len(last)/2]
		s.t.Logf("%s: median of the first %v %.2f MB, of the last %.2f MB, slope %+.2f MB an hour", what.name, part, a/1e6, b/1e6, (n*sxy-sx*sy)/(n*sxx-sx*sx)/1e6)
		if b > a*1.15+1e6 {
			s.t.Errorf("%s grows", what.name)
		}
	}
}

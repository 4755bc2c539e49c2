package dotnetreceiver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/trace"
)

// A sink takes the output of a receiver.
type sink struct {
	mu       sync.Mutex
	logs     int
	losses   map[string]int64
	sums     map[string]float64 // the last value of a metric
	kinds    map[string]pmetric.MetricType
	mixed    string            // a metric that came as two types
	spreads  map[string]uint64 // counts of exponential histograms
	pauses   uint64
	spans    []ptrace.Span
	resource map[string]any
	refuse   bool
	files    map[string]string // of profiles, by their kinds
}

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *sink) ConsumeLogs(_ context.Context, data plog.Logs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		return errors.New("busy")
	}
	for _, of := range data.ResourceLogs().All() {
		s.resource = of.Resource().Attributes().AsRaw()
	}
	if s.losses == nil {
		s.losses, s.files = make(map[string]int64), make(map[string]string)
	}
	flowtest.Each(data, s.losses, func(plog.LogRecord) { s.logs++ }, func(r plog.LogRecord) {
		if r.EventName() == "etwgen.profile" {
			kind, _ := r.Attributes().Get("kind")
			path, _ := r.Attributes().Get("file.path")
			s.files[kind.Str()] = path.Str()
		}
	})
	return nil
}

func (s *sink) ConsumeMetrics(_ context.Context, data pmetric.Metrics) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sums == nil {
		s.sums, s.kinds = make(map[string]float64), make(map[string]pmetric.MetricType)
	}
	for _, of := range data.ResourceMetrics().All() {
		for _, scope := range of.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				if kind, ok := s.kinds[m.Name()]; ok && kind != m.Type() {
					s.mixed = m.Name()
				}
				s.kinds[m.Name()] = m.Type()
				switch m.Type() {
				case pmetric.MetricTypeSum:
					for _, p := range m.Sum().DataPoints().All() {
						s.sums[m.Name()+text(p.Attributes())] = p.DoubleValue()
					}
				case pmetric.MetricTypeGauge:
					for _, p := range m.Gauge().DataPoints().All() {
						s.sums[m.Name()+text(p.Attributes())] = p.DoubleValue()
					}
				case pmetric.MetricTypeExponentialHistogram:
					for _, p := range m.ExponentialHistogram().DataPoints().All() {
						if s.spreads == nil {
							s.spreads = make(map[string]uint64)
						}
						s.spreads[m.Name()] += p.Count()
					}
				case pmetric.MetricTypeHistogram:
					s.pauses = 0
					for _, p := range m.Histogram().DataPoints().All() {
						s.pauses += p.Count()
					}
				}
			}
		}
	}
	return nil
}

func text(m pcommon.Map) string {
	var b strings.Builder
	for k, v := range m.All() {
		b.WriteString(" " + k + "=" + v.AsString())
	}
	return b.String()
}

func (s *sink) ConsumeTraces(_ context.Context, data ptrace.Traces) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range data.ResourceSpans().All() {
		for _, scope := range of.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				s.spans = append(s.spans, span)
			}
		}
	}
	return nil
}

func (s *sink) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs
}

// process starts a process that delivers a trace and goes on.
func process(t *testing.T, dir string, version int, events []byte) (stop func()) {
	t.Helper()
	rt := eventpipetest.NewRuntime(version)
	rt.CommandLine = "/app/Bakery --port 80"
	rt.Environ = []string{"OTEL_SERVICE_NAME=bakery", "OTEL_RESOURCE_ATTRIBUTES=a=b,service.instance.id=7"}
	rt.Stream, rt.Rest = events[:len(events)-1], events[len(events)-1:]
	_, end, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() { once.Do(end) }
	t.Cleanup(stop)
	return stop
}

func read(t *testing.T, path string) (b []byte, events int) {
	t.Helper()
	b = testio.Read(t, path)
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	for _, err := range f.Records() {
		if err != nil {
			break
		}
		events++
	}
	return b, events
}

func config(dir string) *Config {
	cfg := defaultConfig().(*Config)
	cfg.Targets = []Target{{Socket: filepath.Join(dir, "*")}}
	cfg.Presets = []string{"gc", "counters", "requests"}
	cfg.Discovery.Interval = 100 * time.Millisecond
	cfg.Batch.MaxDelay = 10 * time.Millisecond
	cfg.Retry.InitialInterval, cfg.Retry.MaxInterval = time.Millisecond, 5*time.Millisecond
	cfg.Counters.Interval, cfg.Meters.Interval = 100*time.Millisecond, 100*time.Millisecond
	return cfg
}

// start starts a receiver for all signals, and returns a function that ends it.
func start(t *testing.T, cfg *Config, s *sink) (end func() error) {
	t.Helper()
	f := NewFactory()
	set := receivertest.NewNopSettings(metadata.Type)
	logs, err := f.CreateLogs(t.Context(), set, cfg, s)
	metrics, err2 := f.CreateMetrics(t.Context(), set, cfg, s)
	traces, err3 := f.CreateTraces(t.Context(), set, cfg, s)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	all := []component.Component{logs, metrics, traces}
	for _, c := range all {
		if err := c.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
	}
	var once sync.Once
	end = func() (err error) {
		once.Do(func() {
			for _, c := range all {
				err = errors.Join(err, c.Shutdown(context.Background()))
			}
		})
		return err
	}
	t.Cleanup(func() { end() })
	return end
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// TestSession attaches to a process that ends, and to the one that comes then.
func TestSession(t *testing.T) {
	dir := t.TempDir()
	b, events := read(t, "../../tests/recorded/gc.nettrace")
	s := &sink{}
	end := start(t, config(dir), s)
	stop := process(t, dir, 10, b)
	wait(t, "all events are there", func() bool { return s.total() >= events })
	stop()
	process(t, dir, 10, b)
	wait(t, "the events of the next process are there", func() bool { return s.total() >= 2*events })
	if err := end(); err != nil {
		t.Error(err)
	}
	if s.logs != 2*events || s.pauses == 0 {
		t.Errorf("%d log records, want %d; %d pauses", s.logs, 2*events, s.pauses)
	}
	for key, want := range map[string]any{"process.runtime.name": ".NET", "service.name": "bakery", "service.instance.id": "7", "process.executable.name": "Bakery"} {
		if s.resource[key] != want {
			t.Errorf("the resource has %s=%v, want %v", key, s.resource[key], want)
		}
	}
}

// TestCollections has .NET 10 tell of its collections by events alone: they are metrics.
func TestCollections(t *testing.T) {
	dir := t.TempDir()
	b, events := read(t, "../../tests/recorded/gc.nettrace")
	cfg, s := config(dir), &sink{}
	cfg.Presets = []string{"gc", "requests"}
	end := start(t, cfg, s)
	process(t, dir, 10, b)
	wait(t, "all events are there", func() bool { return s.total() >= events })
	if err := end(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"dotnet.gc.collections", "dotnet.gc.pause.time"} {
		if s.kinds[name] != pmetric.MetricTypeSum {
			t.Errorf("%s is %v", name, s.kinds[name])
		}
	}
}

// TestRefusing stops a receiver whose pipeline refuses everything: it ends all the same, and
// events read and not passed on are counted.
func TestRefusing(t *testing.T) {
	dir := t.TempDir()
	b, _ := read(t, "../../tests/recorded/gc.nettrace")
	s := &sink{refuse: true}
	cfg := config(dir)
	cfg.ShutdownTimeout = 400 * time.Millisecond
	process(t, dir, 10, b)
	end := start(t, cfg, s)
	time.Sleep(100 * time.Millisecond)
	if err := end(); err != nil {
		t.Error(err)
	}
	if s.logs != 0 {
		t.Errorf("%d log records", s.logs)
	}
}

// TestUnreachable waits for processes that are not there, which the status tells, and ends.
func TestUnreachable(t *testing.T) {
	cfg, host := config(t.TempDir()), &flowtest.Host{}
	cfg.Targets = []Target{{PID: 1 << 22}, {Name: "^nothing-is-called-so$"}}
	c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, &sink{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	wait(t, "the status tells of both", func() bool {
		return host.Is(componentstatus.StatusRecoverableError, "no .NET process matches {pid: 4194304}") && host.Is(componentstatus.StatusRecoverableError, "{name: ^nothing-is-called-so$}")
	})
	if err := c.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestSilent has a process that never answers the commands to start and to stop.
func TestSilent(t *testing.T) {
	dir := t.TempDir()
	rt := eventpipetest.NewRuntime(10)
	rt.Silent = map[uint16]bool{eventpipetest.CollectTracing2: true, eventpipetest.CollectTracing3: true, eventpipetest.CollectTracing4: true, eventpipetest.CollectTracing5: true}
	_, stop, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	end := start(t, config(dir), &sink{})
	wait(t, "it is asked", func() bool { return len(rt.Requests()) > 0 })
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestCorpus has a process deliver traces of .NET 10: counts and spans are those of the
// trace.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("ETWGEN_CORPUS")
	if corpus == "" {
		t.Skip("ETWGEN_CORPUS does not say where traces are")
	}
	for _, c := range []struct {
		file  string
		check func(*testing.T, *sink)
	}{
		{"metrics", func(t *testing.T, s *sink) {
			if len(s.sums) == 0 || s.mixed != "" {
				t.Errorf("there are %d metrics; %q has two types", len(s.sums), s.mixed)
			}
		}},
		{"gc-workstation", func(t *testing.T, s *sink) {
			if s.pauses == 0 {
				t.Error("there are no pauses")
			}
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := t.TempDir()
			b, events := read(t, filepath.Join(corpus, "dotnet10", c.file+".nettrace"))
			s := &sink{}
			end := start(t, config(dir), s)
			process(t, dir, 10, b)
			wait(t, "all events are there", func() bool { return s.total() >= events })
			if err := end(); err != nil {
				t.Error(err)
			}
			if s.logs != events {
				t.Errorf("%d log records, want %d", s.logs, events)
			}
			c.check(t, s)
		})
	}
}

// TestReal attaches to a real .NET process that is killed, and to the one that is
// started then, by its name; of each there is a profile.
func TestReal(t *testing.T) {
	folder := os.Getenv("ETWGEN_DOTNET")
	if folder == "" {
		t.Skip("ETWGEN_DOTNET does not say where runtimes are")
	}
	cfg := config("")
	cfg.Targets = []Target{{Name: "^azmcp$"}}
	cfg.Presets = []string{"gc", "counters", "requests", "threadpool", "cpu", "allocs"}
	cfg.Meters.Histograms = "exponential"
	cfg.Profiles.Directory, cfg.Profiles.Duration, cfg.Profiles.Interval = t.TempDir(), 500*time.Millisecond, 2*time.Second
	cfg.Profiles.Idle, cfg.Profiles.Budget = 0, 0 // it waits for its input
	s := &sink{}
	end := start(t, cfg, s)
	for _, life := range []string{"first", "second"} {
		cmd := exec.Command(filepath.Join(folder, "net10/package/dist/azmcp"), "server", "start")
		cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		wait(t, "the "+life+" process is attached to, and has metrics", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			_, has := s.sums["dotnet.gc.pause.time"]
			return has && s.files["cpu"] != "" && s.resource != nil && s.resource["process.pid"] == int64(cmd.Process.Pid)
		})
		t.Logf("%s process: %v", life, time.Since(begun))
		cmd.Process.Kill()
		cmd.Wait()
		in.Close()
		s.mu.Lock()
		if s.mixed != "" {
			t.Errorf("%s has two types", s.mixed)
		}
		t.Logf("profiles: %v", s.files)
		s.sums = nil
		clear(s.files)
		s.mu.Unlock()
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(defaultConfig()); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		conf map[string]any
		want string
	}{
		{map[string]any{"presets": []string{}, "providers": []any{}}, "nothing to collect: write presets"},
		{map[string]any{"presets": []string{"gcc"}}, `preset "gcc": write some of gc, exceptions`},
		{map[string]any{"targets": []any{map[string]any{"pid": 1, "name": "x"}}}, "write exactly one of pid, name, socket, container"},
		{map[string]any{"targets": []any{map[string]any{"name": "("}}}, "missing closing )"},
		{map[string]any{"ports": []any{map[string]any{"path": strings.Repeat("x", 200)}}}, "sockets take 107"},
		{map[string]any{"discovery": map[string]any{"enabled": false}}, "no processes: write targets"},
		{map[string]any{"buffer_mb": 0}, "buffer_mb 0: write 1 to 4096"},
		{map[string]any{"providers": []any{map[string]any{"name": "X", "level": "info"}}}, `level "info": write critical`},
		{map[string]any{"providers": []any{map[string]any{"name": "X", "keywords": "0xZZ"}}}, "write hex like 0x10"},
		{map[string]any{"providers": []any{map[string]any{"name": "X", "keywords": 0}}}, "bring no event of an EventSource"},
		{map[string]any{"metrics": map[string]any{"source": "all"}}, `source "all": write one of`},
		{map[string]any{"profiles": map[string]any{"interval": "1s"}}, "interval 1s: write the duration of a profile, 5s, or more"},
		{map[string]any{"profiles": map[string]any{"kernel_hz": 98}, "presets": []string{"cpu"}}, "kernel_hz: 98 samples of a processor a second: write 19 to 97, or 0"},
		{map[string]any{"profiles": map[string]any{"kernel_hz": 97}, "presets": []string{"gc"}}, "kernel_hz is of the preset cpu"},
		{map[string]any{"profiles": map[string]any{"kernel_hz": 97, "spans": true}, "presets": []string{"cpu"}}, "write one of them"},
		{map[string]any{"profiles": map[string]any{"max_files": 0}}, "max_files 0: write 1 or more"},
		{map[string]any{"meters": map[string]any{"histograms": "base2"}}, `histograms "base2": write one of`},
		{map[string]any{"preset": []string{"gc"}}, "unknown key preset: did you mean presets?"},
		{map[string]any{"preset_of_none": 1}, "unknown key preset_of_none: write some of targets, ports, discovery"},
		{map[string]any{"batch": map[string]any{"xyzzyplugh": 1}}, "unknown key xyzzyplugh: write some of max_records, max_bytes, max_delay"},
		{map[string]any{"targets": []any{"live"}}, `targets[0] "live": write {name: live}`},
		{map[string]any{"targets": []any{map[string]any{"pid": "abc"}}}, `targets[0]: pid "abc": write a whole number`},
		{map[string]any{"targets": []any{map[string]any{"container": 123}}}, "targets[0]: container 123: write it in quotes"},
		{map[string]any{"targets": []any{map[string]any{"socket": "["}}}, `socket "[": syntax error in pattern`},
		{map[string]any{"discovery": map[string]any{"interval": 5}}, "discovery: interval 5 has no unit: write 5s"},
		{map[string]any{"discovery": map[string]any{"interval": "30d"}}, `discovery: interval "30d": write numbers with the units`},
		{map[string]any{"discovery": map[string]any{"include": []any{}}}, "no process is found"},
		{map[string]any{"discovery": map[string]any{"include": []any{nil}}}, "discovery: include[0] is empty"},
		{map[string]any{"discovery": map[string]any{"max_processes": 2.5}}, "max_processes 2.5: write a whole number"},
		{map[string]any{"batch": map[string]any{"max_records": 1e12}}, "write 2147483647 or less"},
		{map[string]any{"meters": map[string]any{"max_time_series": 0}}, "max_time_series 0: write 1 or more"},
		{map[string]any{"meters": map[string]any{"include": []any{}}}, "the preset counters has no meters"},
		{map[string]any{"presets": []string{"requests"}, "traces": map[string]any{"sources": []any{}}}, "the presets requests and cause have nothing"},
		{map[string]any{"events": map[string]any{"include": []string{"["}}}, `pattern "[": only * and ?`},
		{map[string]any{"providers": []any{map[string]any{"name": "X", "arguments": map[string]any{"EventCounterIntervalSec": 1}}}}, ""},
		{nil, ""},
	} {
		cfg := defaultConfig()
		err := confmap.NewFromStringMap(c.conf).Unmarshal(cfg)
		if err == nil {
			err = confmap.Validate(cfg)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.conf, err, c.want)
		}
	}
}

// TestSignals asks for signals that nothing is collected for.
func TestSignals(t *testing.T) {
	cfg := defaultConfig().(*Config)
	cfg.Presets = []string{"exceptions"}
	f := NewFactory()
	set := receivertest.NewNopSettings(metadata.Type)
	if _, err := f.CreateTraces(t.Context(), set, cfg, &sink{}); err == nil || !strings.Contains(err.Error(), "add presets: [requests]") {
		t.Errorf("traces: %v", err)
	}
	if _, err := f.CreateMetrics(t.Context(), set, cfg, &sink{}); err == nil || !strings.Contains(err.Error(), "add presets: [gc, counters]") {
		t.Errorf("metrics: %v", err)
	}
	var _ receiver.Factory = f
}

package dotnetreceiver

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A profileSink takes notices of profiles, and profiles.
type profileSink struct {
	mu       sync.Mutex
	notices  []map[string]any
	profiles []pprofile.Profiles
}

func (s *profileSink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *profileSink) ConsumeLogs(_ context.Context, data plog.Logs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range data.ResourceLogs().All() {
		for _, scope := range of.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				if r.EventName() == "etwgen.profile" {
					s.notices = append(s.notices, r.Attributes().AsRaw())
				}
			}
		}
	}
	return nil
}

func (s *profileSink) ConsumeProfiles(_ context.Context, data pprofile.Profiles) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profiles = append(s.profiles, data)
	return nil
}

func (s *profileSink) count() (notices, profiles int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.notices), len(s.profiles)
}

// startProfiling starts a receiver that takes profiles, as files and as the signal.
func startProfiling(t *testing.T, cfg *Config, s *profileSink) {
	t.Helper()
	f := NewFactory().(xreceiver.Factory)
	set := receivertest.NewNopSettings(metadata.Type)
	if _, err := f.CreateLogs(t.Context(), set, cfg, s); err != nil {
		t.Fatal(err)
	}
	r, err := f.CreateProfiles(t.Context(), set, cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func profileConfig(dir, out string, presets ...string) *Config {
	cfg := config(dir)
	cfg.Presets = presets
	cfg.Profiles.Directory = out
	cfg.Profiles.Interval, cfg.Profiles.Duration = 50*time.Millisecond, 10*time.Millisecond
	cfg.Profiles.Budget, cfg.Profiles.Idle = 0, 0
	cfg.Reattach.InitialInterval = 10 * time.Millisecond
	return cfg
}

// TestAllocations has a profile of allocations of an own trace: a log record names its file,
// and files of others stay.
func TestAllocations(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	stranger := filepath.Join(out, "cpu.pb.gz")
	testio.Write(t, stranger, "")
	b, _ := read(t, "../../tests/recorded/alloc.nettrace")
	process(t, dir, 9, b)
	s := &profileSink{}
	startProfiling(t, profileConfig(dir, out, "allocs"), s)
	wait(t, "there is a profile", func() bool { n, m := s.count(); return n > 0 && m > 0 })
	files, _ := filepath.Glob(filepath.Join(out, "allocs-Bakery-*.pb.gz"))
	if len(files) == 0 {
		t.Error("there is no file")
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.notices[0]
	if path, _ := n["file.path"].(string); filepath.Dir(path) != out || n["kind"] != "allocs" || n["samples"] == int64(0) || n["file.size"] == int64(0) {
		t.Errorf("the log record says %v", n)
	}
	if got := s.profiles[0].SampleCount(); got == 0 {
		t.Error("the profile has no samples")
	}
}

// TestProfiles has profiles of the processor's time of a trace of .NET 10: the signal has
// the contents of files, and methods weigh the program's own measures.
func TestProfiles(t *testing.T) {
	corpus := os.Getenv("ETWGEN_CORPUS")
	if corpus == "" {
		t.Skip("ETWGEN_CORPUS does not say where traces are")
	}
	dir, out := t.TempDir(), t.TempDir()
	b, _ := read(t, filepath.Join(corpus, "dotnet10", "cpu.nettrace"))
	process(t, dir, 10, b)
	s := &profileSink{}
	startProfiling(t, profileConfig(dir, out, "cpu"), s)
	wait(t, "there is a profile", func() bool { n, m := s.count(); return n > 0 && m > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if named, _ := s.notices[0]["named"].(float64); named < 95 {
		t.Errorf("%v%% of the frames have names", named)
	}
	ms := weights(t, s.profiles[0])
	for method, want := range map[string]float64{"Bakery.Cpu.KneadDough": 360, "Bakery.Cpu.RollDough": 180} {
		if got := ms[method]; math.Abs(got-want) > 0.15*want {
			t.Errorf("%s took %.0f ms, want about %.0f", method, got, want)
		}
	}
}

// weights returns the time in milliseconds below each method, and checks that the references
// of samples are there.
func weights(t *testing.T, data pprofile.Profiles) map[string]float64 {
	t.Helper()
	all := make(map[string]float64)
	d := data.Dictionary()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	if text(0) != "" || d.StackTable().At(0).LocationIndices().Len() != 0 || d.LinkTable().Len() != 1 {
		t.Error("the first of a table does not stand for none")
	}
	for _, p := range data.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		if text(p.SampleType().TypeStrindex()) != "wall" {
			continue
		}
		for _, sample := range p.Samples().All() {
			var seen []string
			for _, at := range d.StackTable().At(int(sample.StackIndex())).LocationIndices().All() {
				fn := d.FunctionTable().At(int(d.LocationTable().At(int(at)).Lines().At(0).FunctionIndex()))
				if name := text(fn.NameStrindex()); !slices.Contains(seen, name) {
					seen = append(seen, name)
					all[name] += float64(sample.Values().At(0)) / 1e6
				}
			}
			for _, i := range sample.AttributeIndices().All() {
				if text(d.AttributeTable().At(int(i)).KeyStrindex()) == "" {
					t.Error("an attribute has no name")
				}
			}
		}
	}
	return all
}

// TestFolder has files that are too large, and programs with odd names.
func TestFolder(t *testing.T) {
	f, err := newFolder(&ProfilesConfig{Directory: filepath.Join(t.TempDir(), "new"), MaxFiles: 3, MaxFileMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	fill := func(n int) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(make([]byte, n)); return err }
	}
	if _, _, err := f.write("cpu", "x", 1, fill(1<<20+1)); err == nil || !strings.Contains(err.Error(), "max_file_mb") {
		t.Errorf("a file that is too large: %v", err)
	}
	for i := range 5 {
		path, size, err := f.write("cpu", "../a/b c"+strings.Repeat("x", 100), int64(i), fill(10))
		if err != nil || size != 10 || filepath.Dir(path) != f.dir {
			t.Errorf("%s has %d bytes: %v", path, size, err)
		}
	}
	if list, _ := os.ReadDir(f.dir); len(list) != 3 {
		t.Errorf("%d files are left: %v", len(list), list)
	}
	path, _, err := f.write("cpu", "x", 1, fill(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newFolder(&ProfilesConfig{Directory: filepath.Join(path, "x"), MaxFiles: 1}); err == nil {
		t.Error("there is a folder where none can be")
	}
}

// TestNowhere asks for profiles that have no place to go.
func TestNowhere(t *testing.T) {
	cfg := profileConfig(t.TempDir(), "", "cpu")
	r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, &sink{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err == nil || !strings.Contains(err.Error(), "write profiles: {directory") {
		t.Errorf("started: %v", err)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestExponential has a process deliver exponential histograms of .NET 10: they come as
// such, whole, and with the counts that the program has.
func TestExponential(t *testing.T) {
	asked := fmt.Sprint(meters(&MetersConfig{Histograms: "exponential"}, 10))
	if !strings.Contains(asked, `Base2ExponentialHistogram="scale=20;maxBuckets=160;reportDeltas=false"`) {
		t.Errorf("asked for %s", asked)
	}
	if asked = fmt.Sprint(meters(&MetersConfig{Histograms: "exponential"}, 9)); strings.Contains(asked, "Base2") {
		t.Errorf(".NET 9 is asked for %s", asked)
	}
	corpus := os.Getenv("ETWGEN_CORPUS")
	if corpus == "" {
		t.Skip("ETWGEN_CORPUS does not say where traces are")
	}
	dir := t.TempDir()
	b, events := read(t, filepath.Join(corpus, "dotnet10", "metrics-base2.nettrace"))
	s := &sink{}
	end := start(t, config(dir), s)
	process(t, dir, 10, b)
	wait(t, "all events are there", func() bool { return s.total() >= events })
	if err := end(); err != nil {
		t.Error(err)
	}
	if s.kinds["serving.duration"] != pmetric.MetricTypeExponentialHistogram || s.mixed != "" {
		t.Errorf("serving.duration is a %v; %q has two types", s.kinds["serving.duration"], s.mixed)
	}
	want := spreads(t, filepath.Join(corpus, "dotnet10", "metrics-base2.nettrace"))
	if !maps.Equal(s.spreads, want) || len(want) == 0 {
		t.Errorf("histograms have the counts %v, want %v", s.spreads, want)
	}
}

// spreads returns the counts of the exponential histograms of a trace, by their
// instruments.
func spreads(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	var mux etw.Mux
	a := counters.New(&mux)
	for rec := range testio.Records(t, f.Records()) {
		mux.Dispatch(rec)
	}
	all := make(map[string]uint64)
	for _, p := range a.Result().Processes {
		for _, m := range p.Metrics {
			for i := range m.Points {
				if e, ok := m.Points[i].Exponential(); ok {
					all[m.Instrument] += e.Count
				}
			}
		}
	}
	return all
}

package etwreceiver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/etwreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/session"
	"github.com/etwgen/etwgen/trace"
)

// A sink counts log records, and losses by place.
type sink struct {
	mu     sync.Mutex
	logs   int
	losses map[string]int64
}

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeLogs(_ context.Context, data plog.Logs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.losses == nil {
		s.losses = make(map[string]int64)
	}
	flowtest.Each(data, s.losses, func(plog.LogRecord) { s.logs++ }, nil)
	return nil
}

func (s *sink) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs
}

// A fake session has the events of a trace, and then waits, or ends.
type fake struct {
	etw.Source
	name  string
	ends  bool
	lost  int64
	done  chan struct{}
	once  sync.Once
	count int64
}

func newFake(t *testing.T, name string, ends bool) *fake {
	f := testio.Open(t, trace.Open, "../../tests/recorded/gc.nettrace")
	t.Cleanup(func() { f.Close() })
	return &fake{Source: f, name: name, ends: ends, done: make(chan struct{})}
}

func (f *fake) Next(r *etw.Record) error {
	err := f.Source.Next(r)
	if err == io.EOF && !f.ends {
		<-f.done
	}
	if err == nil {
		f.count++
	}
	return err
}

func (f *fake) Name() string               { return f.name }
func (f *fake) Stats() session.Stats       { return session.Stats{Records: f.count, Lost: f.lost} }
func (f *fake) Stop(context.Context) error { f.once.Do(func() { close(f.done) }); return nil }
func (f *fake) Close() error               { return f.Stop(context.Background()) }

func config() *Config {
	cfg := defaultConfig().(*Config)
	cfg.Presets = []string{"dotnet_gc", "process"}
	cfg.Batch.MaxDelay = 5 * time.Millisecond
	cfg.Restart.InitialInterval = 10 * time.Millisecond
	return cfg
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// TestSession reads a session that somebody stops, and the one that is started then; its
// losses are reported.
func TestSession(t *testing.T) {
	one := newFake(t, "", true)
	one.lost = 7
	two := newFake(t, "", false)
	list := []*fake{one, two}
	var asked []session.Config
	var mu sync.Mutex
	f := newFactory(func(_ context.Context, cfg session.Config, _ bool) (live, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, cfg)
		if len(asked) == 2 {
			return nil, errors.New("not yet")
		}
		next := list[0]
		list = list[1:]
		return next, nil
	})
	s := &sink{}
	c, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	all := 0
	counted := testio.Open(t, trace.Open, "../../tests/recorded/gc.nettrace")
	for _, err := range counted.Records() {
		if err == nil {
			all++
		}
	}
	counted.Close()
	wait(t, "both sessions are read", func() bool { return s.total() == 2*all })
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if s.losses["kernel"] != 7 {
		t.Errorf("losses are %v, want 7 of the kernel", s.losses)
	}
	cfg := asked[0]
	if !strings.HasPrefix(cfg.Name, "otelcol-etw-") || len(cfg.Providers) != 1 || cfg.Providers[0].Keywords != 1 || cfg.KernelFlags == 0 {
		t.Errorf("asked for %+v", cfg)
	}
}

// TestRefused has sessions that do not start: errors name the remedy.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{fs.ErrPermission, `add its account to "Performance Log Users"`}, {fs.ErrExist, "set session.on_existing: takeover"}} {
		f := newFactory(func(context.Context, session.Config, bool) (live, error) { return nil, c.err })
		r, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(), &sink{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context(), componenttest.NewNopHost()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("started: %v, want %s", err, c.want)
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestSystem starts a session of the system, where there is one: under wine that of
// ETWGEN_ETW.
func TestSystem(t *testing.T) {
	r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(), &sink{})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Start(t.Context(), componenttest.NewNopHost())
	switch {
	case runtime.GOOS != "windows":
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "use the trace_file receiver") {
			t.Errorf("started: %v", err)
		}
	case os.Getenv("ETWGEN_ETW") != "" && err != nil:
		t.Errorf("started: %v", err)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

const shopManifest = "../../examples/service/events/service.man"

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(defaultConfig()); err != nil {
		t.Error(err)
	}
	provider := func(m map[string]any) map[string]any { return map[string]any{"providers": []any{m}} }
	for _, c := range []struct {
		conf map[string]any
		want string
	}{
		{nil, "nothing to collect: write providers"},
		{provider(map[string]any{"name": "Microsoft-Windows-DNS-Client", "guid": "1c95126e-7eea-49a9-a3fe-a378b03ddb4d"}), "are both set: keep one"},
		{provider(map[string]any{"level": "error"}), "neither name nor guid is set"},
		{provider(map[string]any{"name": "Microsoft-Windows-DNS-Client", "level": "info"}), `level "info": write critical, error, warning, informational, verbose or a number 1-255`},
		{provider(map[string]any{"name": "Microsoft-Windows-DotNETRuntime", "keywords_any": "0xZZ"}), `keywords_any "0xZZ"`},
		{provider(map[string]any{"name": "Microsoft-Windows-DotNETRuntime", "keywords_any": "0x1", "keywords_all": "0x2"}), "no event would have them"},
		{provider(map[string]any{"name": "Nobody-Knows-This"}), "write its guid, a path of its manifest in manifests:, or kind: eventsource"},
		{provider(map[string]any{"name": "Nobody-Knows-This", "kind": "eventsource", "events": map[string]any{"include": []int{70000}}}), "event id 70000"},
		{map[string]any{"presets": []string{"dotnet"}}, `preset "dotnet": write some of dns`},
		{map[string]any{"kernel": map[string]any{"flags": []string{"nothing_like_it"}}}, "kernel: flags"},
		{map[string]any{"presets": []string{"dns"}, "buffer_size": 64}, "unknown key buffer_size"},
		{map[string]any{"presets": []string{"dns"}, "session": map[string]any{"on_existing": "take"}}, `on_existing "take": write one of`},
		{provider(map[string]any{"name": "Microsoft-Windows-DotNETRuntime", "keywords_any": 1}), ""},
		{map[string]any{"presets": []string{"dns", "process"}}, ""},
		{map[string]any{"presets": []string{"dns"}, "manifests": []string{"none.man"}}, "manifests: none.man"},
		{map[string]any{"providers": []any{map[string]any{"name": "Etwgen-Examples-Service"}}, "manifests": []string{shopManifest}}, ""},
		{map[string]any{"providers": []any{map[string]any{"name": "Etwgen-Examples-Service", "keywords_any": "Orders"}}, "manifests": []string{shopManifest}}, ""},
		{map[string]any{"providers": []any{map[string]any{"name": "Etwgen-Examples-Service", "keywords_any": "Older"}}, "manifests": []string{shopManifest}}, `keywords_any "Older"`},
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

// TestPresets checks that the providers of presets are known on all systems.
func TestPresets(t *testing.T) {
	cfg := defaultConfig().(*Config)
	cfg.Presets = Presets()
	list, flags, err := cfg.enabled(nil)
	if err != nil || len(list) != 2 || flags == 0 {
		t.Errorf("%v, %v, %v", list, flags, err)
	}
}

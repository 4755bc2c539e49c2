package tracefilereceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
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
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/trace"
)

const recorded = "../../tests/recorded"

// copyOf copies a trace under another name, and has it look old.
func copyOf(t *testing.T, from, to string) {
	t.Helper()
	b := testio.Read(t, from)
	write(t, to, b)
}

func write(t *testing.T, to string, b []byte) {
	t.Helper()
	testio.Write(t, to, b)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(to, old, old); err != nil {
		t.Fatal(err)
	}
}

// A sink takes log records and metrics, as the test says.
type sink struct {
	mu     sync.Mutex
	names  map[string]int // of log records
	count  int
	points int
	answer func(n int) error // to the n-th batch; nil takes all
	asked  int
	fields func(r plog.LogRecord)
	times  map[string]int // of records, by their times and names
	losses map[string]int64
	owners []map[string]any // attributes of resources
}

func (s *sink) at(r plog.LogRecord) {
	if s.times == nil {
		s.times = make(map[string]int)
	}
	s.times[fmt.Sprint(r.Timestamp(), r.EventName())]++
}

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *sink) ConsumeLogs(_ context.Context, data plog.Logs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.answer != nil {
		if err := s.answer(s.asked); err != nil {
			return err
		}
	}
	if s.names == nil {
		s.names = make(map[string]int)
	}
	if s.losses == nil {
		s.losses = make(map[string]int64)
	}
	for _, of := range data.ResourceLogs().All() {
		s.owners = append(s.owners, of.Resource().Attributes().AsRaw())
	}
	flowtest.Each(data, s.losses, func(r plog.LogRecord) {
		s.names[r.EventName()]++
		s.count++
		if s.fields != nil {
			s.fields(r)
		}
	}, nil)
	return nil
}

func (s *sink) ConsumeMetrics(_ context.Context, data pmetric.Metrics) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points += data.DataPointCount()
	return nil
}

func (s *sink) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// A memory is a storage extension that keeps its contents.
type memory struct {
	component.StartFunc
	component.ShutdownFunc
	mu   sync.Mutex
	kept map[string][]byte
	fail bool
	sets int
}

func (m *memory) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return memoryClient{m}, nil
}

type memoryClient struct{ m *memory }

func (c memoryClient) Get(_ context.Context, key string) ([]byte, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	return c.m.kept[key], nil
}

func (c memoryClient) Set(_ context.Context, key string, value []byte) error {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.sets++; c.m.fail {
		return storage.ErrStorageFull
	}
	if c.m.kept == nil {
		c.m.kept = make(map[string][]byte)
	}
	c.m.kept[key] = value
	return nil
}

func (c memoryClient) Delete(_ context.Context, key string) error {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	delete(c.m.kept, key)
	return nil
}
func (c memoryClient) Batch(context.Context, ...*storage.Operation) error { return nil }
func (c memoryClient) Close(context.Context) error                        { return nil }

var storageID = component.MustNewID("memory")

// hostOf returns a host with a storage.
func hostOf(keep *memory) *flowtest.Host {
	return &flowtest.Host{Extensions: map[component.ID]component.Component{storageID: keep}}
}

// config returns one that reads a folder.
func config(dir string) *Config {
	cfg := defaultConfig().(*Config)
	cfg.Include = []string{filepath.Join(dir, "**", "*")}
	cfg.PollInterval = 20 * time.Millisecond
	cfg.Batch.MaxRecords = 100
	cfg.Retry.InitialInterval, cfg.Retry.MaxInterval = time.Millisecond, 2*time.Millisecond
	id := storageID
	cfg.StorageID = &id
	return cfg
}

// start starts a receiver for two signals, and returns a function that says whether all
// files are read, and one that ends it.
func start(t *testing.T, cfg *Config, keep *memory, s *sink) (idle func() bool, end func()) {
	t.Helper()
	f := NewFactory()
	set := receivertest.NewNopSettings(metadata.Type)
	core, seen := observer.New(zap.InfoLevel)
	set.Logger = zap.New(core)
	logs, err := f.CreateLogs(t.Context(), set, cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := f.CreateMetrics(t.Context(), set, cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	h := hostOf(keep)
	for _, c := range []component.Component{logs, metrics} {
		if err := c.Start(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	return func() bool { return seen.FilterMessageSnippet("all files are read").Len() > 0 }, func() {
		for _, c := range []component.Component{logs, metrics} {
			if err := c.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for _, e := range seen.FilterLevelExact(zap.ErrorLevel).All() {
			t.Log(e.Message, e.ContextMap())
		}
	}
}

// wait waits until something holds.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// all reads all files of a folder.
func all(t *testing.T, cfg *Config, keep *memory, s *sink) {
	t.Helper()
	idle, end := start(t, cfg, keep, s)
	wait(t, "all is read", idle)
	end()
}

// TestSays checks the log of files that are no traces, that break off, and of patterns
// without a match: no error, since the readable part is read.
func TestSays(t *testing.T) {
	dir := t.TempDir()
	whole := testio.Read(t, filepath.Join(recorded, "gc.nettrace"))
	write(t, filepath.Join(dir, "cut.nettrace"), whole[:len(whole)/2])
	write(t, filepath.Join(dir, "text.md"), []byte("no trace at all"))
	write(t, filepath.Join(dir, "cpu.folded"), []byte("main;run;work 12\nmain;run;wait 3\n"))
	cfg := config(dir)
	cfg.Include = append(cfg.Include, dir, filepath.Join(dir, "*.none"))
	seen := heard(t, cfg, &sink{})
	if n := seen.FilterLevelExact(zap.ErrorLevel).Len(); n != 0 {
		t.Errorf("%d errors", n)
	}
	for want, times := range map[string]int{"a file breaks off": 1, "a file is left out": 2, "include has a folder": 1, "no file matches": 1} {
		if n := seen.FilterMessageSnippet(want).Len(); n != times {
			t.Errorf("%q is said %d times, want %d", want, n, times)
		}
	}
	profile := zap.String("cause", "it is a profile (folded stacks), which has no events; etw top reads it")
	if seen.FilterField(profile).Len() != 1 {
		t.Errorf("it is not said that a file is a profile: %v", seen.FilterMessageSnippet("left out").All())
	}
}

// heard reads all files, and returns the log.
func heard(t *testing.T, cfg *Config, s *sink) *observer.ObservedLogs {
	t.Helper()
	set := receivertest.NewNopSettings(metadata.Type)
	core, seen := observer.New(zap.InfoLevel)
	set.Logger = zap.New(core)
	c, err := NewFactory().CreateLogs(t.Context(), set, cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), hostOf(&memory{})); err != nil {
		t.Fatal(err)
	}
	wait(t, "all is read", func() bool { return seen.FilterMessageSnippet("all files are read").Len() > 0 })
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return seen
}

// events returns the number of events of a trace.
func events(t *testing.T, path string) (n int) {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	for _, err := range f.Records() {
		if err != nil {
			break
		}
		n++
	}
	return n
}

// TestOnce reads a folder, and again after restarts, with copies under other names,
// packed ones and one that has grown: nothing is sent twice, and all once.
func TestOnce(t *testing.T) {
	dir, keep, s := t.TempDir(), &memory{}, &sink{}
	gc, exceptions := filepath.Join(recorded, "gc.nettrace"), filepath.Join(recorded, "exceptions.nettrace")
	whole := testio.Read(t, exceptions)
	copyOf(t, gc, filepath.Join(dir, "gc.nettrace"))
	part := filepath.Join(dir, "part.nettrace")
	write(t, part, whole[:len(whole)/2])
	cfg := config(dir)
	all(t, cfg, keep, s)
	want := events(t, gc) + events(t, part)
	if s.count != want || s.points == 0 {
		t.Fatalf("%d log records, want %d; %d points of metrics", s.count, want, s.points)
	}
	all(t, cfg, keep, s)
	if s.count != want {
		t.Errorf("%d log records after a restart, want %d", s.count, want)
	}
	points := s.points
	os.Mkdir(filepath.Join(dir, "deep"), 0o700)
	os.Rename(filepath.Join(dir, "gc.nettrace"), filepath.Join(dir, "deep", "other.nettrace"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	b, _ := os.ReadFile(gc)
	z.Write(b)
	z.Close()
	write(t, filepath.Join(dir, "gc.nettrace.gz"), packed.Bytes())
	all(t, cfg, keep, s)
	if s.count != want || s.points != points {
		t.Errorf("%d log records and %d points after copies, want %d and %d", s.count, s.points, want, points)
	}
	write(t, part, whole)
	all(t, cfg, keep, s)
	if want := events(t, gc) + events(t, exceptions); s.count != want {
		t.Errorf("%d log records after one has grown, want %d", s.count, want)
	}
}

// TestRefused has a pipeline refuse batches for a while, and one for good: a refused batch
// comes again, once, and the loss is one batch.
func TestRefused(t *testing.T) {
	dir, keep := t.TempDir(), &memory{}
	from := filepath.Join(recorded, "gc.nettrace")
	copyOf(t, from, filepath.Join(dir, "a.nettrace"))
	want := events(t, from)
	s := &sink{answer: func(n int) error {
		if n%2 == 1 {
			return errors.New("busy")
		}
		return nil
	}}
	all(t, config(dir), keep, s)
	if s.count != want || s.asked < want/100 {
		t.Errorf("%d log records of %d, in %d tries", s.count, want, s.asked)
	}
	s = &sink{answer: func(n int) error {
		if n == 2 {
			return consumererror.NewPermanent(errors.New("never"))
		}
		return nil
	}}
	all(t, config(dir), &memory{}, s)
	if s.count != want-100 {
		t.Errorf("%d log records of %d, want 100 fewer", s.count, want)
	}
}

// TestStopped stops a receiver whose pipeline refuses everything after some batches, and
// starts another: batches that were taken are not sent again, and the rest is.
func TestStopped(t *testing.T) {
	dir, keep := t.TempDir(), &memory{}
	from := filepath.Join(recorded, "jit.nettrace")
	copyOf(t, from, filepath.Join(dir, "a.nettrace"))
	s := &sink{answer: func(n int) error {
		if n > 3 {
			return errors.New("busy")
		}
		return nil
	}}
	_, end := start(t, config(dir), keep, s)
	wait(t, "it is refused", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.asked > 5
	})
	end()
	if s.count != 300 {
		t.Errorf("%d log records were taken, want 300", s.count)
	}
	s.answer = nil
	all(t, config(dir), keep, s)
	if want := events(t, from); s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// A blocked consumer neither takes a batch nor notices that it is not wanted.
func TestBlocked(t *testing.T) {
	dir := t.TempDir()
	copyOf(t, filepath.Join(recorded, "gc.nettrace"), filepath.Join(dir, "a.nettrace"))
	cfg := config(dir)
	cfg.ShutdownTimeout = 100 * time.Millisecond
	block := make(chan struct{})
	entered := make(chan struct{}, 1)
	next, err := consumer.NewLogs(func(context.Context, plog.Logs) error {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-block
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), hostOf(&memory{})); err != nil {
		t.Fatal(err)
	}
	<-entered
	if err := c.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "has not taken a batch") {
		t.Errorf("shut down: %v", err)
	}
	close(block)
}

// TestFull has a storage that is full: data flows on, and the status tells, until there
// is room again.
func TestFull(t *testing.T) {
	dir, keep, s := t.TempDir(), &memory{fail: true}, &sink{}
	from := filepath.Join(recorded, "gc.nettrace")
	copyOf(t, from, filepath.Join(dir, "a.nettrace"))
	h := hostOf(keep)
	c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(dir), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	want := events(t, from)
	wait(t, "all is sent", func() bool { return s.total() >= want })
	wait(t, "the status tells", func() bool { return h.Is(componentstatus.StatusRecoverableError, storage.ErrStorageFull.Error()) })
	keep.mu.Lock()
	keep.fail = false
	keep.mu.Unlock()
	copyOf(t, filepath.Join(recorded, "exceptions.nettrace"), filepath.Join(dir, "b.nettrace"))
	wait(t, "it is well again", func() bool { return h.Is(componentstatus.StatusOK, "") })
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if more := events(t, filepath.Join(recorded, "exceptions.nettrace")); s.count > want+more {
		t.Errorf("%d log records of %d", s.count, want+more)
	}
}

// TestFollow follows a file that grows piece by piece to its end.
func TestFollow(t *testing.T) {
	dir, keep, s := t.TempDir(), &memory{}, &sink{}
	from := filepath.Join(recorded, "jit.nettrace")
	whole := testio.Read(t, from)
	path := filepath.Join(dir, "a.nettrace")
	write(t, path, whole[:len(whole)*2/3])
	cfg := config(dir)
	cfg.Follow = true
	_, end := start(t, cfg, keep, s)
	wait(t, "the first part is read", func() bool { return s.total() > 0 })
	end() // in the middle, and on
	_, end = start(t, cfg, keep, s)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for rest := whole[len(whole)*2/3:]; len(rest) > 0; {
		n := min(len(rest), 7777)
		f.Write(rest[:n])
		rest = rest[n:]
	}
	f.Close()
	want := events(t, from)
	wait(t, "all is read", func() bool { return s.total() >= want })
	end()
	if s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// TestFollowBesideWhole follows a part of a trace that lies beside the whole of it: records
// that the part lacks are read of the whole.
func TestFollowBesideWhole(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	from := filepath.Join(recorded, "jit.nettrace")
	whole := testio.Read(t, from)
	write(t, filepath.Join(dir, "a.nettrace"), whole[:len(whole)/2])
	write(t, filepath.Join(dir, "b.nettrace"), whole)
	cfg := config(dir)
	cfg.Follow, cfg.FollowTimeout = true, 200*time.Millisecond
	_, end := start(t, cfg, &memory{}, s)
	want := events(t, from)
	wait(t, "all is read", func() bool { return s.total() >= want })
	end()
	if s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// TestDamaged reads other files than traces, and one that is cut off beside a good one.
func TestDamaged(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	write(t, filepath.Join(dir, "text.nettrace"), []byte("no trace at all"))
	write(t, filepath.Join(dir, "empty.etl"), nil)
	from := filepath.Join(recorded, "exceptions.nettrace")
	copyOf(t, from, filepath.Join(dir, "z.nettrace"))
	all(t, config(dir), &memory{}, s)
	if want := events(t, from); s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// TestResource reads whose recordings they are from the configuration, from paths and from the header of
// a trace.
func TestResource(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	deep := filepath.Join(dir, "cart", "1.4.0", "node1")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	keyed := nettracetest.NewWriter(6, nettracetest.Trace{Pointer: etw.Ptr64, ProcessID: 7, Keys: [][2]string{{"host.name", "header"}, {"team", "x"}, {"ProcessId", "7"}}})
	keyed.Metadata(nettracetest.Row{ID: 1, Provider: "Fleet", EventID: 1, Name: "Order"})
	keyed.Events(nettracetest.Event{Metadata: 1, Time: 1, Thread: 8, Capture: 8})
	keyed.End()
	write(t, filepath.Join(deep, "keyed.nettrace"), keyed.Bytes())
	copyOf(t, filepath.Join(recorded, "gc.nettrace"), filepath.Join(deep, "a.nettrace"))
	copyOf(t, filepath.Join(recorded, "exceptions.nettrace"), filepath.Join(dir, "b.nettrace"))
	cfg := config(dir)
	cfg.FromPath = filepath.ToSlash(dir) + "/{service}/{version}/{host}/*"
	cfg.Resource = map[string]string{"version": "1.5.0", "deployment.environment": "prod"}
	said := heard(t, cfg, s)
	if n := said.FilterMessageSnippet("from_path is no pattern").Len(); n != 1 {
		t.Errorf("%d warnings", n)
	}
	for file, want := range map[string]string{
		"a.nettrace":     "map[deployment.environment:prod host.name:node1 log.file.name:a.nettrace service.name:cart service.version:1.5.0]",
		"keyed.nettrace": "map[deployment.environment:prod host.name:node1 log.file.name:keyed.nettrace service.name:cart service.version:1.5.0 team:x]",
		"b.nettrace":     "map[deployment.environment:prod log.file.name:b.nettrace service.version:1.5.0]",
	} {
		found := false
		for _, owner := range s.owners {
			delete(owner, "process.pid")
			found = found || fmt.Sprint(owner) == want
		}
		if !found {
			t.Errorf("%s: %v", file, s.owners)
		}
	}
}

// TestEvents chooses events by their names.
func TestEvents(t *testing.T) {
	dir, s := t.TempDir(), &sink{}
	copyOf(t, filepath.Join(recorded, "gc.nettrace"), filepath.Join(dir, "a.nettrace"))
	cfg := config(dir)
	cfg.Events.Include = []string{"GC/Start", "GC/Stop"}
	cfg.Events.Exclude = []string{"GC/Stop"}
	cfg.RateLimit = 1_000_000
	all(t, cfg, &memory{}, s)
	if s.count == 0 || len(s.names) != 1 || s.names["Microsoft-Windows-DotNETRuntime/GCStart"] != s.count {
		t.Errorf("%v", s.names)
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
		{nil, "include is empty: write include: ['/traces/**/*.nettrace']"},
		{map[string]any{"include": []string{"[a"}}, "brackets must be closed"},
		{map[string]any{"include": []string{"a"}, "rate_limit": -1}, "rate_limit -1: write a number"},
		{map[string]any{"include": []string{"a"}, "poll_interval": "1ms"}, "poll_interval 1ms: write 10ms or more"},
		{map[string]any{"include": []string{"a"}, "output": map[string]any{"stacks": "all"}}, `output::stacks "all": write one of ["none" "addresses"]`},
		{map[string]any{"include": []string{"a"}, "batch": map[string]any{"max_records": 0}}, "batch::max_records 0: write 1 or more"},
		{map[string]any{"include": []string{"a"}, "max_record": 3}, "unknown key max_record: did you mean batch.max_records?"},
		{map[string]any{"include": []string{"a"}, "folow": true}, "unknown key folow: did you mean follow?"},
		{map[string]any{"include": []string{"a"}, "retry_on_failure": map[string]any{"max_elapsed_time": "1ms"}}, "max_elapsed_time 1ms is less than"},
		{map[string]any{"include": []string{"a"}, "from_path": "{a"}, "from_path: "},
		{map[string]any{"include": []string{"a"}}, ""},
	} {
		cfg := defaultConfig()
		err := confmap.NewFromStringMap(c.conf).Unmarshal(cfg)
		if err == nil {
			err = confmap.Validate(cfg)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), ":: ", "::"), c.want) && !strings.Contains(err.Error(), strings.Replace(c.want, "::", ": ", 1)) {
			t.Errorf("%v: %v, want %s", c.conf, err, c.want)
		}
	}
}

func TestStorageMissing(t *testing.T) {
	cfg := config(t.TempDir())
	c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, &sink{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), componenttest.NewNopHost()); err == nil || !strings.Contains(err.Error(), "add it under extensions: and service::extensions") {
		t.Errorf("started: %v", err)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLifecycle creates, starts and ends receivers for each signal, in the orders in
// which a collector may.
func TestLifecycle(t *testing.T) {
	cfg := defaultConfig().(*Config)
	cfg.Include = []string{filepath.Join(t.TempDir(), "*")}
	f := NewFactory()
	set := receivertest.NewNopSettings(metadata.Type)
	for range 3 {
		logs, err := f.CreateLogs(t.Context(), set, cfg, &sink{})
		if err != nil {
			t.Fatal(err)
		}
		if err := logs.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		logs, _ = f.CreateLogs(t.Context(), set, cfg, &sink{})
		metrics, _ := f.CreateMetrics(t.Context(), set, cfg, &sink{})
		for _, c := range []component.Component{logs, metrics} {
			if err := c.Start(t.Context(), componenttest.NewNopHost()); err != nil {
				t.Error(err)
			}
		}
		for _, c := range []component.Component{metrics, logs, logs} {
			if err := c.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

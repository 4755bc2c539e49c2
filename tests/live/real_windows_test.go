package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/session"
)

// What only a real Windows can show, as an administrator: docs/windows.md has a claim for each of
// these tests. With the small ETW they run as far as that goes, and say what it lacks.

// isReal says that this Windows is no wine, and that whatever it lacks is a failure.
var isReal = os.Getenv("ETWGEN_REAL_WINDOWS") != ""

// lacks ends a test for which this ETW is too small.
func lacks(t *testing.T, format string, args ...any) {
	t.Helper()
	if isReal {
		t.Fatalf(format, args...)
	}
	t.Skipf("not here: "+format, args...)
}

// tool runs a program of Windows, and returns its output.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil || !isReal { // wine has some that do nothing
		lacks(t, "there is no %s", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// childEnv has the test program write events and end, as another process of a session.
const childEnv = "ETWGEN_LIVE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	p := provider.New(ours)
	if p.Register() != nil {
		os.Exit(1)
	}
	for end := time.Now().Add(10 * time.Second); !p.Enabled(255, 1) && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	writeMarked(context.Background(), p)
	p.Close()
	os.Exit(0)
}

// ours is a provider of these tests alone, with the layouts of events of the runtime.
var ours = &etw.ProviderDesc{Name: "Etwgen-Live", GUID: etw.NameGUID("Etwgen-Live")}

// marked are ids of events: writeMarked writes each ten times, with a keyword and a level of its own.
var marked = []uint16{101, 102, 103}

func writeMarked(ctx context.Context, p *provider.Provider) {
	for i, id := range marked {
		d := *(&clr.GCStartV1{}).EventDesc()
		d.ID, d.Keywords, d.Level = id, 1<<i, etw.Level(2+i)
		for n := range uint32(10) {
			payload, _ := (&clr.GCStartV1{Count: n}).AppendPayload(nil, native)
			_ = p.WriteParts(provider.ActivityOf(ctx), &d, nil, payload)
		}
	}
}

// begins starts a session, which ends with the test.
func begins(t *testing.T, cfg session.Config) *session.Session {
	t.Helper()
	s, err := session.Start(t.Context(), cfg)
	if errors.Is(err, errors.ErrUnsupported) {
		lacks(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// registered returns our provider, when a session has enabled it.
func registered(t *testing.T) *provider.Provider {
	t.Helper()
	p := provider.New(ours)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	for start := time.Now(); !p.Enabled(0, 0); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the provider was not enabled")
		}
	}
	return p
}

// whatCame stops a session and gives its records of our provider to a function.
func whatCame(t *testing.T, s *session.Session, take func(*etw.Record)) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for r := range testio.Records(t, s.Records()) {
		take(r)
	}
}

func all(e session.Enablement) []session.Provider {
	if e.Level == 0 {
		e.Level = 255
	}
	if e.Keywords == 0 {
		e.Keywords = 1<<64 - 1
	}
	e.Timeout = 20 * time.Second
	return []session.Provider{{Name: ours.Name, GUID: ours.GUID, Enablement: e}}
}

// flood writes events with numbers, while a session is read, and returns how many came, whether
// they were in the order of time, and how late the last of each hundred was.
func flood(t *testing.T, s *session.Session, p *provider.Provider, events int) (came int, disorder int64, late []time.Duration) {
	t.Helper()
	written := make(chan error, 1)
	go func() {
		for n := range events {
			_ = p.Write(t.Context(), &clr.GCStartV1{Count: uint32(n)})
		}
		written <- s.Stop(t.Context())
	}()
	last := time.Time{}
	for r := range testio.Records(t, s.Records()) {
		if r.Provider != ours.GUID {
			continue
		}
		if r.Time().Before(last) {
			disorder++
		}
		last = r.Time()
		if came++; came%100 == 0 {
			late = append(late, time.Since(r.Time()))
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	slices.Sort(late)
	return came, disorder, late
}

// TestDeliveries: all of many events come, in the order of time, one by one and in whole buffers,
// of sessions with buffers of every size.
func TestDeliveries(t *testing.T) {
	needETW(t)
	for _, c := range []struct {
		delivery session.Delivery
		kb, n    int
	}{{session.DeliverEvents, 64, 10_000}, {session.DeliverEvents, 64, 100_000}, {session.DeliverBuffers, 4, 10_000}, {session.DeliverBuffers, 64, 100_000}, {session.DeliverBuffers, 1024, 100_000}} {
		t.Run(fmt.Sprintf("%d events, %d KB, delivery %d", c.n, c.kb, c.delivery), func(t *testing.T) {
			s := begins(t, session.Config{Providers: all(session.Enablement{}), Buffers: session.Buffers{KB: c.kb}, Consumption: session.Consumption{Delivery: c.delivery, WithoutSchemas: true}})
			if s.DeliversBuffers() != (c.delivery == session.DeliverBuffers) {
				t.Errorf("it delivers buffers: %t", s.DeliversBuffers())
			}
			came, disorder, _ := flood(t, s, registered(t), c.n)
			stats := s.Stats()
			if came != c.n || disorder > 0 || stats.HasLosses() || s.DeliversBuffers() && stats.Buffers == 0 {
				t.Errorf("%d of %d came, %d out of order: %v, %d whole buffers", came, c.n, disorder, stats, stats.Buffers)
			}
		})
	}
}

// TestFlood: what is written to a session with little memory has come, or is counted as lost; and
// how late events come.
func TestFlood(t *testing.T) {
	needETW(t)
	events := 20_000
	if isReal {
		events = 5_000_000
	}
	s := begins(t, session.Config{Providers: all(session.Enablement{}), Buffers: session.Buffers{KB: 64, Min: 32, Max: 32}})
	p := registered(t)
	came, _, late := flood(t, s, p, events)
	stats := s.Stats()
	if int64(came)+stats.Lost < int64(events) || came == 0 || came > events {
		t.Errorf("%d came of %d, and %d were lost", came, events, stats.Lost)
	}
	t.Logf("%d of %d came: %v, not written %+v", came, events, stats, p.Stats())
	if len(late) > 0 {
		t.Logf("they come %v late, 1 of 100 %v", late[len(late)/2], late[len(late)*99/100])
	}
}

// TestFilters: events are chosen by level, keyword, id, process and program, where they are written.
func TestFilters(t *testing.T) {
	needETW(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pid := uint32(os.Getpid())
	ids := func(except bool) session.Filters {
		return session.Filters{IDs: &session.IDFilter{IDs: []uint16{101}, Except: except}}
	}
	for _, c := range []struct {
		name         string
		e            session.Enablement
		ours, others int // events of this process, and of another
	}{
		{"none", session.Enablement{}, 30, 30},
		{"level", session.Enablement{Level: 3}, 20, 20},
		{"keyword", session.Enablement{Keywords: 4}, 10, 10},
		{"ids", session.Enablement{Filters: ids(false)}, 10, 10},
		{"ids but these", session.Enablement{Filters: ids(true)}, 20, 20},
		{"process", session.Enablement{Filters: session.Filters{PIDs: []uint32{pid}}}, 30, 0},
		{"program", session.Enablement{Filters: session.Filters{Executables: []string{filepath.Base(self)}}}, 30, 30},
		{"another program", session.Enablement{Filters: session.Filters{Executables: []string{"no-such-program.exe"}}}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begins(t, session.Config{Providers: all(c.e)})
			p := provider.New(ours)
			if err := p.Register(); err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			time.Sleep(100 * time.Millisecond) // a filter may leave it off, so that it cannot be waited for
			writeMarked(t.Context(), p)
			if isReal {
				child := exec.CommandContext(t.Context(), self)
				child.Env = append(os.Environ(), childEnv+"=yes")
				if out, err := child.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			} else {
				c.others = 0 // it is of one process
			}
			mine, others := 0, 0
			whatCame(t, s, func(r *etw.Record) {
				switch {
				case r.Provider != ours.GUID:
				case r.ProcessID == int64(pid):
					mine++
				default:
					others++
				}
			})
			if mine != c.ours || others != c.others {
				t.Errorf("%d and %d of another process came, want %d and %d", mine, others, c.ours, c.others)
			}
		})
	}
}

// TestStacks: events have the call stack of whoever wrote them, if that is asked for.
func TestStacks(t *testing.T) {
	needETW(t)
	for _, with := range []bool{false, true} {
		var e session.Enablement
		if with {
			e.Properties |= session.PropertyStack
			e.Filters.StackIDs = &session.IDFilter{IDs: []uint16{101}}
		}
		s := begins(t, session.Config{Providers: all(e)})
		writeMarked(t.Context(), registered(t))
		stacked := map[uint16]int{}
		whatCame(t, s, func(r *etw.Record) {
			if r.Provider == ours.GUID && r.Stack.Len() > 0 {
				stacked[r.ID]++
			}
		})
		if with && len(stacked) == 0 {
			lacks(t, "no event has a stack")
		}
		if want := map[bool]int{true: 10}[with]; stacked[101] != want || stacked[102]+stacked[103] > 0 {
			t.Errorf("with stacks of event 101 (%t): %v", with, stacked)
		}
	}
}

// countOurs returns how many events of our provider files have.
func countOurs(t *testing.T, files ...string) (n int) {
	t.Helper()
	r := testio.Open(t, etl.OpenAll, files)
	defer r.Close()
	for rec := range testio.Records(t, r.Records()) {
		if rec.Provider == ours.GUID {
			n++
		}
	}
	return n
}

// countTheirs returns how many Microsoft's tool has.
func countTheirs(t *testing.T, path string) int {
	t.Helper()
	out := path + ".xml"
	defer os.Remove(out)
	tool(t, "tracerpt", path, "-o", out, "-of", "XML", "-lr", "-y")
	text := testio.Read(t, out)
	return strings.Count(strings.ToLower(string(text)), strings.ToLower(ours.GUID.String()))
}

// folder returns a folder for the test. That of t has to be removed whole, which wine cannot.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// recorded writes the marked events to a file of a session.
func recorded(t *testing.T, f session.File) string {
	t.Helper()
	f.Path = filepath.Join(folder(t), f.Path)
	s := begins(t, session.Config{File: &f, Providers: all(session.Enablement{})})
	writeMarked(t.Context(), registered(t))
	if f.Mode == etl.ModeBuffering {
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if f.Mode == etl.ModeNewFile {
		return fmt.Sprintf(f.Path, 1)
	}
	return f.Path
}

// TestFileModes: files of every mode have all events, by our reader and by Microsoft's.
func TestFileModes(t *testing.T) {
	needETW(t)
	for _, f := range []session.File{{Path: "all.etl"}, {Path: "most.etl", MaxMB: 4}, {Path: "round.etl", Mode: etl.ModeCircular, MaxMB: 4},
		{Path: "part%d.etl", Mode: etl.ModeNewFile, MaxMB: 4}, {Path: "flushed.etl", Mode: etl.ModeBuffering}} {
		t.Run(strings.TrimSuffix(f.Path, ".etl"), func(t *testing.T) {
			if f.Mode == etl.ModeBuffering && !isReal {
				lacks(t, "the small ETW keeps no events in memory")
			}
			path := recorded(t, f)
			if n := countOurs(t, path); n != 30 {
				t.Errorf("%d events, want 30", n)
			}
			if n := countTheirs(t, path); n != 30 {
				t.Errorf("tracerpt has %d events, want 30", n)
			}
		})
	}
}

// TestWriterOpens: a file of Windows that our writer copies has the same events, by our reader and
// by Microsoft's.
func TestWriterOpens(t *testing.T) {
	needETW(t)
	path := recorded(t, session.File{Path: "first.etl"})
	r := testio.Open(t, etl.Open, path)
	defer r.Close()
	copied := filepath.Join(filepath.Dir(path), "copy.etl")
	out := testio.Create(t, copied)
	w, err := etl.NewWriter(out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		if err := w.Copy(r, &rec); err != nil {
			t.Fatal(err)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	if n := countOurs(t, copied); n != 30 {
		t.Errorf("the copy has %d events, want 30", n)
	}
	if n := countTheirs(t, copied); n != 30 {
		t.Errorf("tracerpt has %d events of the copy, want 30", n)
	}
}

package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

// All analyses in one pass say the same as each alone, and nothing that JSON cannot.
func TestRun(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res, err := Run(t.Context(), testtrace.Open(t, path))
		if err != nil && !strings.Contains(path, "killed") && !strings.Contains(path, "Heart") && !testtrace.Incomplete(err) {
			t.Fatalf("%s: %v", path, err)
		}
		b, err := json.Marshal(res)
		if err != nil || strings.Contains(string(b), "NaN") {
			t.Fatalf("%s: %v", path, err)
		}
		var mux etw.Mux
		alone := gc.New(&mux)
		testtrace.Run(t, &mux, path)
		if diff := cmp.Diff(marshal(t, alone.Result()), marshal(t, res.GC)); diff != "" {
			t.Errorf("%s: gc alone and together (-alone +together):\n%s", path, diff)
		}
		if res.Records == 0 || res.Undecodable > 0 {
			t.Errorf("%s: %d records, %d undecodable", path, res.Records, res.Undecodable)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	return string(testio.Marshal(t, v))
}

func TestWarnings(t *testing.T) {
	res, err := Run(t.Context(), testtrace.Open(t, testtrace.Named(t, "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace")))
	if err != nil && !testtrace.Incomplete(err) {
		t.Fatal(err)
	}
	text := strings.Join(res.Warnings, "\n")
	if !strings.Contains(text, "allocation ticks say 42") || !strings.Contains(text, "of 49 suspensions") {
		t.Errorf("warnings:\n%s", text)
	}
	cut := &gc.Result{Runtimes: []*gc.Runtime{{Partial: 1, Unfinished: 2, MissingNumbers: 3, Suspensions: gc.Suspensions{Open: 1}}}}
	if list := cut.Warnings(); len(list) != 4 {
		t.Errorf("%q", list)
	}
	var mux etw.Mux
	bare := New(&mux).Result()
	bare.Undecodable = 4
	if w := bare.warnings(); len(w) != 1 {
		t.Errorf("%q", w)
	}
}

// A faulty source delivers nothing but an error.
type faulty struct{ err error }

func (f *faulty) Next(*etw.Record) error {
	err := f.err
	f.err = io.EOF
	return err
}

func TestFaultySource(t *testing.T) {
	var log etw.DamageLog
	log.Add(&etw.Damage{Format: "test", Err: errors.New("torn")})
	res, err := Run(t.Context(), &faulty{log.Err()}, Losses(func() int64 { return 7 }))
	if err != nil || !strings.Contains(res.Incomplete, "torn") || res.Lost != 7 || len(res.Warnings) != 2 {
		t.Errorf("%v, %q", err, res.Incomplete)
	}
	if res, err := Run(t.Context(), &faulty{os.ErrPermission}); !errors.Is(err, os.ErrPermission) || res == nil {
		t.Errorf("%v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &faulty{io.EOF}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// One pass with all analyses, next to bare reading of the same trace in the order of
// time: the largest ones, and those with the most to analyze. The metric is that of the
// best run, since other programs want to run, too.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{
		"HeartRateMonitor.10068.nettrace", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace", "filtrace_exceptions.nettrace",
		"gc-many.nettrace", "gc-server-datas.nettrace", "jit-inlining.nettrace", "heap-2.nettrace",
	} {
		benchmark(b, testtrace.Named(b, name))
	}
}

func benchmark(b *testing.B, path string) {
	for _, bench := range []struct {
		name string
		run  func(etw.Source) uint64
	}{
		{"read", func(s etw.Source) uint64 {
			var r etw.Record
			n := uint64(0)
			for s.Next(&r) == nil {
				n++
			}
			return n
		}},
		{"all", func(s etw.Source) uint64 {
			res, _ := Run(context.Background(), s)
			return res.Records
		}},
	} {
		b.Run(testtrace.Name(path)+"/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var best float64
			for b.Loop() {
				b.StopTimer()
				s := testtrace.Open(b, path)
				b.StartTimer()
				began := time.Now()
				events := bench.run(s)
				best = max(best, float64(events)/time.Since(began).Seconds()/1e6)
			}
			b.ReportMetric(best, "Mevents/s")
		})
	}
}

// The project has recordings of its own, so that something is tested everywhere.
func TestRecorded(t *testing.T) {
	for name, ok := range map[string]func(*Result) bool{
		"gc.nettrace":         func(r *Result) bool { return r.GC.Runtimes[0].All.Count > 0 && r.GC.Runtimes[0].PauseMS > 0 },
		"alloc.nettrace":      func(r *Result) bool { return r.Alloc.Bytes > 0 && len(r.Alloc.Types) > 0 },
		"exceptions.nettrace": func(r *Result) bool { return r.Exceptions.Count > 0 },
		"jit.nettrace":        func(r *Result) bool { return r.JIT.Count > 0 && r.JIT.ExclusiveMS > 0 },
		"r2r.nettrace": func(r *Result) bool {
			return r.JIT.Runtimes[0].Precompiled.Found > 100 && r.JIT.Runtimes[0].Precompiled.Missing > 0
		},
		"heapdump.nettrace": func(r *Result) bool {
			return len(r.Heap.Snapshots) > 0 && r.Heap.Snapshots[0].Complete && r.Heap.Snapshots[0].ReachableBytes > 0
		},
	} {
		res, err := Run(t.Context(), testtrace.Open(t, filepath.Join("..", "tests", "recorded", name)))
		if err != nil && !testtrace.Incomplete(err) {
			t.Fatal(err)
		}
		if !ok(res) {
			t.Errorf("%s: %s", name, marshal(t, res)[:2000])
		}
	}
}

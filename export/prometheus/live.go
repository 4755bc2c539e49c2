package prometheus

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Live has the collections of .NET runtimes while they run, as metrics for scrapes: it is
// an [http.Handler]. The zero Live is ready to use, by several goroutines at once.
//
//	dotnet_gc_pause_seconds     histogram of the times in which threads were suspended for collections
//	dotnet_gc_allocated_bytes   histogram of what was allocated from one collection to the next
//	dotnet_gc_promoted_bytes    histogram of what survived a collection
//	dotnet_gc_collections_total by generation
//
// A collection that does not say its allocated or promoted bytes is in no histogram of these. At
// the level that Watch asks for, .NET 10 was seen to tell nothing of allocations: who needs that
// histogram handles [clr.AnyGCAllocationTick], too, which the session then asks for.
type Live struct {
	mu          sync.Mutex
	pauses      spreads
	allocated   spreads
	promoted    spreads
	collections map[string]int64 // by labels
}

// Bounds of buckets, in seconds and in bytes.
var (
	timeBounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	sizeBounds = []float64{1e5, 1e6, 4e6, 16e6, 64e6, 256e6, 1e9, 4e9, 16e9}
)

// spreads are the histograms of a metric, by labels.
type spreads map[string]*spread

type spread struct {
	bounds  []float64
	buckets []int64 // those of values up to each bound, but above the one before
	count   int64
	sum     float64
}

func (s *spreads) add(labels string, bounds []float64, v float64) {
	if *s == nil {
		*s = make(spreads)
	}
	of := (*s)[labels]
	if of == nil {
		of = &spread{bounds: bounds, buckets: make([]int64, len(bounds)+1)}
		(*s)[labels] = of
	}
	at, _ := slices.BinarySearchFunc(bounds, v, cmp.Compare[float64])
	of.buckets[at]++
	of.count++
	of.sum += v
}

// Watch has the collections counted whose events a mux sees, before its session starts, since
// it asks for them. Labels are pairs of a name and a value. Each set of labels stays for ever:
// where processes come and go, label them by service, not by pid.
func (l *Live) Watch(mux *etw.Mux, labels ...string) {
	text := ""
	for i := 0; i+1 < len(labels); i += 2 {
		text = withLabel(text, Name(labels[i]), labels[i+1])
	}
	a := gc.New(mux)
	a.OnPause(func(p gc.Pause) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pauses.add(text, timeBounds, p.Duration.Seconds())
	})
	etw.Handle(mux, func(*etw.Record, *clr.AnyGCRestartEEEnd) error { // after the analysis
		l.mu.Lock()
		defer l.mu.Unlock()
		a.Drain(func(_ int64, g *gc.GC) { l.collection(text, g) })
		return nil
	})
}

// collection counts a collection. The caller holds mu.
func (l *Live) collection(labels string, g *gc.GC) {
	if l.collections == nil {
		l.collections = make(map[string]int64)
	}
	l.collections[withLabel(labels, "generation", fmt.Sprint(g.Generation))]++
	for _, m := range []struct {
		of *spreads
		mb measure.Float
	}{{&l.allocated, g.AllocatedMB}, {&l.promoted, g.PromotedMB}} {
		if mb, ok := m.mb.Get(); ok {
			m.of.add(labels, sizeBounds, mb*1e6)
		}
	}
}

// ServeHTTP answers a scrape.
func (l *Live) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	l.Write(w)
}

// Write writes all metrics in the text format.
func (l *Live) Write(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := bufio.NewWriter(w)
	l.pauses.write(b, "dotnet_gc_pause_seconds", "Times in which threads were suspended for collections.")
	l.allocated.write(b, "dotnet_gc_allocated_bytes", "What was allocated from one collection to the next.")
	l.promoted.write(b, "dotnet_gc_promoted_bytes", "What survived a collection.")
	if len(l.collections) > 0 {
		const name = "dotnet_gc_collections_total"
		fmt.Fprintf(b, "# HELP %s Collections.\n# TYPE %[1]s counter\n", name)
		for _, labels := range slices.Sorted(maps.Keys(l.collections)) {
			fmt.Fprintf(b, "%s%s %d\n", name, braces(labels), l.collections[labels])
		}
	}
	return b.Flush()
}

func (s spreads) write(w io.Writer, name, help string) {
	if len(s) == 0 {
		return
	}
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s histogram\n", name, help)
	for _, labels := range slices.Sorted(maps.Keys(s)) {
		of, n := s[labels], int64(0)
		for i, bound := range of.bounds {
			n += of.buckets[i]
			fmt.Fprintf(w, "%s_bucket%s %d\n", name, braces(withLabel(labels, "le", number(bound))), n)
		}
		fmt.Fprintf(w, "%s_bucket%s %d\n", name, braces(withLabel(labels, "le", "+Inf")), of.count)
		fmt.Fprintf(w, "%s_sum%s %s\n%[1]s_count%[2]s %[4]d\n", name, braces(labels), number(of.sum), of.count)
	}
}

// braces returns labels as they stand behind a name.
func braces(labels string) string {
	if labels == "" {
		return ""
	}
	return "{" + strings.TrimPrefix(labels, ",") + "}"
}

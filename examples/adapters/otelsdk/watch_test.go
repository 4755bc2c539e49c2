package otelsdk

import (
	"math"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// run has a mux handle a recorded trace.
func run(t *testing.T, mux *etw.Mux, name string) {
	t.Helper()
	f, err := trace.Open("../../../tests/recorded/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := mux.Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// TestWatch holds the readings of an SDK against the analysis and the events themselves.
func TestWatch(t *testing.T) {
	reader := sdk.NewManualReader()
	var mux, other etw.Mux
	if err := Watch(&mux, sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test")); err != nil {
		t.Fatal(err)
	}
	whole, pauses, seconds, thrown := gc.New(&other), uint64(0), 0.0, int64(0)
	whole.OnPause(func(p gc.Pause) { pauses++; seconds += p.Duration.Seconds() })
	etw.Handle(&other, func(*etw.Record, *clr.AnyExceptionThrown) error { thrown++; return nil })
	for _, name := range []string{"gc.nettrace", "exceptions.nettrace"} {
		run(t, &mux, name)
		run(t, &other, name)
	}
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	collections, promoted := int64(0), uint64(0)
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					if m.Name == "etwgen.dotnet.gc.promoted" {
						promoted += p.Count
					} else if p.Count != pauses || math.Abs(p.Sum-seconds) > 1e-9 {
						t.Errorf("%d pauses take %g s, want %d and %g", p.Count, p.Sum, pauses, seconds)
					}
				}
			case metricdata.Sum[int64]:
				sum := int64(0)
				for _, p := range data.DataPoints {
					sum += p.Value
				}
				if m.Name == "dotnet.gc.collections" {
					collections = sum
				} else if sum != thrown {
					t.Errorf("%s is %d, want %d", m.Name, sum, thrown)
				}
			}
		}
	}
	want, said := int64(0), uint64(0)
	for _, p := range whole.Result().Runtimes {
		for _, g := range p.GCs {
			want++
			if _, ok := g.PromotedMB.Get(); ok {
				said++
			}
		}
	}
	if collections != want || promoted != said || want == 0 || thrown == 0 || pauses == 0 {
		t.Errorf("%d collections, of which %d say what they promoted; want %d and %d, of %d pauses and %d exceptions", collections, promoted, want, said, pauses, thrown)
	}
}

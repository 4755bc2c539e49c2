// Package otelsdk has a meter of OpenTelemetry record measures of .NET runtimes while they run,
// so that whatever exporter the program's SDK has takes it along with the program's own metrics:
//
//	meter := provider.Meter("example.com/agent")
//	if err := otelsdk.Watch(&mux, meter); err != nil { // before the session starts: it asks for the events
//		return err
//	}
//	return mux.Run(ctx, session)
package otelsdk

import (
	"context"
	"errors"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Bounds of buckets, in seconds and in bytes.
var (
	times = []float64{0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	sizes = []float64{1e6, 4e6, 16e6, 64e6, 256e6, 1e9, 4e9, 16e9}
)

// Watch has the meter record pauses for collections, collections with the bytes they
// promoted, and exceptions by type: the names are those of the collector's receivers, where
// these have one.
func Watch(mux *etw.Mux, meter metric.Meter) error {
	pauses, err1 := meter.Float64Histogram("etwgen.dotnet.gc.pause.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(times...))
	promoted, err2 := meter.Float64Histogram("etwgen.dotnet.gc.promoted", metric.WithUnit("By"), metric.WithExplicitBucketBoundaries(sizes...))
	collections, err3 := meter.Int64Counter("dotnet.gc.collections", metric.WithUnit("{collection}"))
	exceptions, err4 := meter.Int64Counter("dotnet.exceptions", metric.WithUnit("{exception}"))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	ctx := context.Background()
	a := gc.New(mux)
	a.OnPause(func(p gc.Pause) { pauses.Record(ctx, p.Duration.Seconds()) })
	etw.Handle(mux, func(*etw.Record, *clr.AnyGCRestartEEEnd) error { // after the analysis
		a.Drain(func(_ int64, g *gc.GC) {
			of := metric.WithAttributes(attribute.String("dotnet.gc.heap.generation", "gen"+string('0'+rune(g.Generation))))
			collections.Add(ctx, 1, of)
			if mb, ok := g.PromotedMB.Get(); ok { // not every collection says it
				promoted.Record(ctx, math.Round(mb*1e6), of)
			}
		})
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyExceptionThrown) error {
		exceptions.Add(ctx, 1, metric.WithAttributes(attribute.String("error.type", e.ExceptionType.String())))
		return nil
	})
	return nil
}

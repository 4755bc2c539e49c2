package dotnetreceiver

import (
	"context"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/profiling"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

// An attachment is to one process.
type attachment struct {
	w        *worker
	process  *attach.Process
	resource []otlp.Attribute
	plan     plan
}

// serve begins the work in a process, and goes on until the process ends or stop is done.
func (w *worker) serve(stop context.Context, p *attach.Process) error {
	a := &attachment{w: w, process: p, resource: profiling.Resource(p), plan: w.cfg.plan(profiling.Version(p.Runtime), w.core.Manifests)}
	var s *eventpipe.Session
	if len(a.plan.providers) > 0 {
		var err error
		if s, err = p.Session(stop, eventpipe.Config{Providers: a.plan.providers, BufferMB: w.cfg.BufferMB}); err != nil {
			return err
		}
		defer s.Close()
	}
	p.Begun(stop)
	w.core.Tel.Session(1, "attached")
	defer w.core.Tel.Session(-1, "attached")
	w.once.Do(func() { w.wg.Go(func() { w.events.Matched().SayAfter(stop, w.core.Set.Logger) }) })
	if w.ended.Load() {
		w.core.Tel.Reattached()
	}
	defer w.ended.Store(true)
	return a.work(stop, s)
}

// work reads a session, if there is one, and takes profiles meanwhile.
func (a *attachment) work(stop context.Context, s *eventpipe.Session) error {
	if a.w.machine == nil {
		return a.stream(stop, s)
	}
	p := &profiler{w: a.w, resource: a.resource, Process: profiling.Of(a.process)}
	if s == nil {
		return p.run(stop)
	}
	ctx, cancel := context.WithCancel(stop)
	var wg sync.WaitGroup
	wg.Go(func() {
		for err := p.run(ctx); err != nil && ctx.Err() == nil; err = p.run(ctx) {
			a.w.core.Set.Logger.Warn("a profile cannot be taken; trying again", zap.Stringer("process", a.process), zap.Error(err))
			flow.Sleep(ctx.Done(), a.w.cfg.Profiles.Interval)
		}
	})
	err := a.stream(stop, s)
	cancel()
	wg.Wait()
	return err
}

// stream passes the events of a session on.
func (a *attachment) stream(stop context.Context, s *eventpipe.Session) error {
	w := a.w
	metrics := w.cfg.Metrics
	metrics.Source = a.plan.source
	stream := flow.NewStream(flow.StreamConfig{
		Sender: &w.core.Sender, Tel: w.core.Tel, Format: "eventpipe", Batch: w.cfg.Batch, Output: w.cfg.Output, Events: w.events, Manifests: w.core.Manifests,
		Metrics: metrics, Collections: slices.Contains(w.cfg.Presets, "gc"), Live: true, Resource: a.resource,
	})
	live := flow.Live{
		Source: s, Stop: s.Stop, Close: s.Close,
		Losses: func() map[string]int64 {
			n := s.Stats()
			return map[string]int64{flow.PlaceRuntime: n.Lost, flow.PlaceDecode: n.Undecodable}
		},
		LossEvery: w.cfg.Loss.ReportInterval, FlushEvery: w.cfg.Batch.MaxDelay, MetricsEvery: a.plan.metrics, Patience: w.cfg.ShutdownTimeout / 4,
	}
	return live.Run(stop, stream)
}

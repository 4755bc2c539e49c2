package dotnetreceiver

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

// serve begins what there is to do in a process, and does it until the process ends or
// stop is done.
func (w *worker) serve(stop context.Context, p *attach.Process) error {
	a := &attachment{w: w, process: p, resource: resource(p), plan: w.cfg.plan(version(p.Runtime), w.core.Manifests)}
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
	p := &profiler{w: a.w, resource: a.resource, Process: &profiling.Process{
		Client: a.process.Client, Name: a.process.Executable, PID: pid(a.process), Version: version(a.process.Runtime),
	}}
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

// stream gives away what a session says.
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

// version returns the first number of the version of a runtime, or 3 if it says none.
func version(text string) int {
	first, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 3
	}
	return n
}

// pid returns the number of a process: as we see it, or else as it does.
func pid(p *attach.Process) int64 { return cmp.Or(int64(p.PID), p.Info.PID) }

// resource returns what telemetry of a process is of.
func resource(p *attach.Process) []otlp.Attribute {
	instance := p.Instance
	if instance == "" && !p.Cookie.IsZero() {
		instance = p.Cookie.String() // which the runtime makes up for each process
	}
	service := p.Service
	if service == "" {
		service = strings.TrimSuffix("unknown_service:"+p.Executable, ":")
	}
	started := ""
	if !p.Start.IsZero() {
		started = p.Start.UTC().Format(time.RFC3339Nano)
	}
	host, _ := os.Hostname()
	list := []otlp.Attribute{{Key: "process.runtime.name", Value: ".NET"}, {Key: "process.pid", Value: pid(p)}}
	for _, a := range []otlp.Attribute{
		{Key: "process.creation.time", Value: started}, {Key: "container.id", Value: p.Container}, {Key: "host.name", Value: host},
		{Key: "process.executable.name", Value: p.Executable}, {Key: "process.runtime.version", Value: p.Runtime},
		{Key: "os.type", Value: strings.ToLower(p.OS)}, {Key: "host.arch", Value: arch(p.Arch)},
		{Key: "service.name", Value: service}, {Key: "service.instance.id", Value: instance},
	} {
		if a.Value != "" {
			list = append(list, a)
		}
	}
	return list
}

// arch returns the architecture as the conventions call it.
func arch(text string) string {
	switch text {
	case "x64":
		return "amd64"
	case "":
		return runtime.GOARCH
	case "arm":
		return "arm32"
	}
	return text
}

package etwreceiver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/session"
)

// A live is a session as the worker needs it: a *session.Session, or that of a test.
type live interface {
	etw.Source
	Name() string
	Stats() session.Stats
	Stop(context.Context) error
	Close() error
}

// A starter starts a session, or attaches to one that runs.
type starter func(ctx context.Context, cfg session.Config, attach bool) (live, error)

// system starts sessions of the system.
func system(ctx context.Context, cfg session.Config, attach bool) (live, error) {
	if runtime.GOOS != "windows" {
		return nil, fmt.Errorf("etw works only on Windows (this is %s/%s); to read .etl files here use the trace_file receiver: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
	}
	if attach {
		return session.Attach(ctx, cfg.Name, cfg.Consumption)
	}
	return session.Start(ctx, cfg)
}

// A worker has a session.
type worker struct {
	cfg   *Config
	core  *flow.Core
	host  component.Host
	start starter
	first live
	// events are those that are chosen.
	events *flow.Events
}

// Open starts the session: an error that keeps it from starting does not heal by itself.
func (w *worker) Open(ctx context.Context, host component.Host) (err error) {
	w.host = host
	w.first, err = w.begin(ctx)
	return err
}

// Close ends a session that was not read.
func (w *worker) Close() error {
	if w.first != nil {
		return w.first.Close()
	}
	return nil
}

// prefix begins the names of sessions that are of this receiver, whatever process it
// is in.
func (w *worker) prefix() string {
	id := strings.NewReplacer("/", "-", " ", "_").Replace(w.core.Set.ID.String())
	return "otelcol-" + id + "-"
}

// begin starts the session. Those that a collector has left which was killed end first.
func (w *worker) begin(ctx context.Context) (live, error) {
	providers, flags, err := w.cfg.enabled(w.core.Manifests)
	if err != nil {
		return nil, err
	}
	own := &w.cfg.Session
	cfg := session.Config{
		Name: own.Name, Replace: own.OnExisting == "takeover" && own.Name != "", Providers: providers, KernelFlags: uint32(flags), SampleInterval: w.cfg.Kernel.ProfileInterval,
		Buffers: session.Buffers{KB: own.BufferKB, Min: own.MinBuffers, Max: own.MaxBuffers}, FlushTimer: max(own.FlushInterval, time.Second).Truncate(time.Second),
		Consumption: session.Consumption{Lookup: own.Lookup, QueueBytes: w.cfg.QueueBytes, StopTimeout: w.cfg.ShutdownTimeout / 4},
	}
	if w.cfg.Kernel.Stacks {
		cfg.Stacks = flags.Stacks()
	}
	if cfg.Name == "" {
		cfg.Name = w.prefix() + strconv.Itoa(os.Getpid())
		if left, err := session.StopOrphans(w.prefix()); err == nil && len(left) > 0 {
			w.core.Set.Logger.Info("stopped sessions left by a killed collector", zap.Int("sessions", len(left)))
		}
	}
	s, err := w.start(ctx, cfg, own.OnExisting == "attach")
	switch {
	case errors.Is(err, errors.ErrUnsupported) && runtime.GOOS != "windows":
		return nil, err
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("cannot start session %q: %w: run the service as LocalSystem or administrator, or add its account to \"Performance Log Users\" and restart it; kernel flags need an administrator", cfg.Name, err)
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("session %q exists already: %w: stop it with \"logman stop %s -ets\", choose session.name, or set session.on_existing: takeover", cfg.Name, err, cfg.Name)
	case err != nil:
		return nil, fmt.Errorf("cannot start session %q: %w", cfg.Name, err)
	}
	return s, nil
}

// Run passes the events of the session on. One that somebody else has stopped is started
// again.
func (w *worker) Run(stop context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { w.events.Matched().SayAfter(stop, w.core.Set.Logger) })
	s := w.first
	w.first = nil
	wait := w.cfg.Restart.InitialInterval
	for {
		begun := time.Now()
		w.core.Tel.Session(1, "attached")
		err := w.read(stop, s)
		w.core.Tel.Session(-1, "attached")
		s.Close()
		if time.Since(begun) > time.Minute {
			wait = w.cfg.Restart.InitialInterval
		}
		if stop.Err() != nil {
			return
		}
		w.core.Set.Logger.Warn("the session has ended; starting it again", zap.String("session", s.Name()), zap.Error(err))
		componentstatus.ReportStatus(w.host, componentstatus.NewRecoverableErrorEvent(errors.Join(errors.New("the session was stopped by somebody else"), err)))
		for {
			if !flow.Sleep(stop.Done(), wait) {
				return
			}
			wait = min(2*wait, w.cfg.Restart.MaxInterval)
			if s, err = w.begin(stop); err == nil {
				break
			}
			w.core.Set.Logger.Warn("the session does not start", zap.Error(err))
		}
		w.core.Tel.Reattached()
		componentstatus.ReportStatus(w.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

// read passes the events of one session on.
func (w *worker) read(stop context.Context, s live) error {
	var resource []otlp.Attribute
	if host, err := os.Hostname(); err == nil {
		resource = append(resource, otlp.Attribute{Key: "host.name", Value: host})
	}
	resource = append(resource, otlp.Attribute{Key: "os.type", Value: runtime.GOOS}, otlp.Attribute{Key: "host.arch", Value: runtime.GOARCH})
	stream := flow.NewStream(flow.StreamConfig{
		Sender: &w.core.Sender, Tel: w.core.Tel, Format: "etw", Batch: w.cfg.Batch, Output: w.cfg.Output, Events: w.events, Manifests: w.core.Manifests,
		Live: true, Metrics: flow.DefaultMetrics(), Resource: resource,
	})
	l := flow.Live{
		Source: s, Stop: s.Stop, Close: s.Close, Losses: func() map[string]int64 { return losses(s.Stats()) },
		LossEvery: w.cfg.Loss.ReportInterval, FlushEvery: w.cfg.Batch.MaxDelay, Patience: w.cfg.ShutdownTimeout / 4,
	}
	return l.Run(stop, stream)
}

// losses returns the losses of a session, by place.
func losses(n session.Stats) map[string]int64 {
	return map[string]int64{flow.PlaceKernel: n.Lost, flow.PlaceRealTime: n.LostBuffers, flow.PlaceDecode: n.Undecodable}
}

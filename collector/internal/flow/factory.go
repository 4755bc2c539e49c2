package flow

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// A Plan makes the parts for a new configuration.
type Plan struct {
	Retry           RetryConfig
	ShutdownTimeout time.Duration
	Manifests       Manifests
	Transport       string // see [Sender]
	Instruments     func(component.TelemetrySettings) (Instruments, error)
	Work            func(*Core) Worker
}

// A Factory makes receivers: all signals of one configuration share one.
type Factory[C any] struct {
	Plan func(*C) Plan
	// Check says why a configuration has nothing for a signal. It may be nil.
	Check func(*C, pipeline.Signal) error

	mu   sync.Mutex
	live map[*C]*Core
}

// get returns the receiver of a configuration, for a signal.
func (f *Factory[C]) get(set receiver.Settings, config component.Config, signal pipeline.Signal) (*Core, error) {
	cfg := config.(*C)
	if f.Check != nil {
		if err := f.Check(cfg, signal); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.live[cfg]; c != nil {
		return c, nil
	}
	if f.live == nil {
		f.live = make(map[*C]*Core)
	}
	c := &Core{Set: set, plan: f.Plan(cfg)}
	c.Sender.Retry, c.Sender.Transport = c.plan.Retry, c.plan.Transport
	c.work = c.plan.Work(c)
	c.forget = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.live[cfg] == c {
			delete(f.live, cfg)
		}
	}
	f.live[cfg] = c
	return c, nil
}

// Logs makes a receiver for log records.
func (f *Factory[C]) Logs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	c, err := f.get(set, cfg, pipeline.SignalLogs)
	if err != nil {
		return nil, err
	}
	c.Sender.Logs = next
	return c, nil
}

// Metrics makes a receiver for metrics.
func (f *Factory[C]) Metrics(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Metrics) (receiver.Metrics, error) {
	c, err := f.get(set, cfg, pipeline.SignalMetrics)
	if err != nil {
		return nil, err
	}
	c.Sender.Metrics = next
	return c, nil
}

// Traces makes a receiver for spans.
func (f *Factory[C]) Traces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	c, err := f.get(set, cfg, pipeline.SignalTraces)
	if err != nil {
		return nil, err
	}
	c.Sender.Traces = next
	return c, nil
}

// Profiles makes a receiver for profiles.
func (f *Factory[C]) Profiles(_ context.Context, set receiver.Settings, cfg component.Config, next xconsumer.Profiles) (xreceiver.Profiles, error) {
	c, err := f.get(set, cfg, xpipeline.SignalProfiles)
	if err != nil {
		return nil, err
	}
	c.Sender.Profiles = next
	return c, nil
}

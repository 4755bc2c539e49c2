package flow

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Worker is the work of a receiver between its start and its end.
type Worker interface {
	// Open checks conditions that cannot heal by waiting. Its error keeps the collector from
	// starting.
	Open(ctx context.Context, host component.Host) error
	// Run works until stop is done, and passes on the events that it has by then.
	Run(stop context.Context)
	// Close gives up the resources of Open. It is called after Run, and also if that never ran.
	Close() error
}

// A Core is the life of a receiver, which is one for all signals that have its
// configuration: the first Start starts it, and the first Shutdown ends it.
type Core struct {
	Sender Sender
	Tel    *Telemetry
	Set    receiver.Settings
	// Manifests are the providers of those that the configuration names.
	Manifests []*etw.Provider

	plan   Plan
	work   Worker
	forget func()

	mu      sync.Mutex
	started bool
	ended   bool
	trouble error // of the start
	stop    context.CancelFunc
	kill    context.CancelFunc
	done    chan struct{}
}

// Start starts the receiver, unless that was done for another signal.
func (c *Core) Start(ctx context.Context, host component.Host) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started || c.ended {
		return c.trouble
	}
	c.started = true
	c.trouble = c.start(ctx, host)
	return c.trouble
}

func (c *Core) start(ctx context.Context, host component.Host) error {
	stop, endStop := context.WithCancel(context.Background())
	kill, endKill := context.WithCancel(context.Background())
	c.stop, c.kill = endStop, endKill
	instruments, err := c.plan.Instruments(c.Set.TelemetrySettings)
	if err != nil {
		return err
	}
	if c.Tel, err = NewTelemetry(c.Set.ID, instruments); err != nil {
		return err
	}
	if err := c.Sender.Begin(c.Set, c.Tel, host, stop, kill); err != nil {
		return err
	}
	known, left, err := c.plan.Manifests.Read()
	if err != nil {
		return err
	}
	for _, err := range left {
		c.Set.Logger.Warn("a manifest is left out", zap.Error(err))
	}
	c.Manifests = known
	if err := c.work.Open(ctx, host); err != nil {
		return err
	}
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		c.work.Run(stop)
	}()
	return nil
}

// Shutdown ends the receiver. Its events are passed on for half of the shutdown timeout;
// then calls under way are cancelled. It is an error if the pipeline does not even notice
// that.
func (c *Core) Shutdown(context.Context) error {
	c.mu.Lock()
	if c.ended || !c.started {
		c.ended = true
		c.mu.Unlock()
		c.forget()
		return nil
	}
	c.ended = true
	c.mu.Unlock()
	defer c.forget()
	defer c.kill()
	c.stop()
	if err := c.wait(); err != nil {
		return err
	}
	err := c.work.Close()
	if c.Tel != nil {
		c.Tel.Shutdown()
	}
	return err
}

// wait waits until the work has ended.
func (c *Core) wait() error {
	if c.done == nil {
		return nil
	}
	for _, end := range []func(){c.kill, nil} {
		t := time.NewTimer(c.plan.ShutdownTimeout / 2)
		select {
		case <-c.done:
			t.Stop()
			return nil
		case <-t.C:
		}
		if end != nil {
			end()
		}
	}
	return fmt.Errorf("%s: a pipeline has not taken a batch for %v, nor given it back: what it holds is lost", c.Set.ID, c.plan.ShutdownTimeout)
}

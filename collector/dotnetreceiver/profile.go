package dotnetreceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/internal/profiling"
)

// profiled returns the kinds of profiles that the configuration asks for. Those that are also
// log records or metrics are profiles where there is a place for these.
func (c *Config) profiled(place bool) (list []string) {
	for _, k := range profiling.Kinds() {
		if slices.Contains(c.Presets, k) && (place || c.samples(k)) {
			list = append(list, k)
		}
	}
	return list
}

// samples reports whether a preset stands for profiles alone.
func (c *Config) samples(preset string) bool {
	return preset == profiling.CPU || preset == profiling.Allocs
}

// newMachine returns the one that has all processes take turns, nil if no profiles are asked for.
func (w *worker) newMachine() (m *profiling.Machine, err error) {
	cfg := &w.cfg.Profiles
	kinds := w.cfg.profiled(cfg.Directory != "" || w.core.Sender.Profiles != nil)
	if len(kinds) == 0 {
		return nil, nil
	}
	if cfg.KernelHz != 0 {
		if w.kernel, err = profiling.NewKernel(cfg.KernelHz); err != nil {
			return nil, fmt.Errorf("profiles: kernel_hz: %w", err)
		}
	}
	return profiling.New(profiling.Options{
		Kinds: kinds, Interval: cfg.Interval, Window: cfg.Duration, Budget: cfg.Budget, Idle: cfg.Idle, Share: cfg.Share, MaxEvents: cfg.MaxEvents, Spans: cfg.Spans, Kernel: w.kernel,
		List: cfg.Rundown == rundownOnce, BufferMB: w.cfg.BufferMB, Patience: w.cfg.ShutdownTimeout / 4,
	}), nil
}

// A profiler gives the profiles of one process away.
type profiler struct {
	*profiling.Process
	w        *worker
	resource []otlp.Attribute
}

// run takes profiles until the process ends or ctx is done. The error is why there cannot be
// any more.
func (p *profiler) run(ctx context.Context) error {
	if p.w.kernel != nil && p.Unseen {
		p.w.core.Set.Logger.Warn("the kernel does not sample a process of which only its own number is known", zap.String("process", p.Name), zap.Int64("pid", p.PID))
	}
	return p.w.machine.Run(ctx, p.Process, p.give)
}

// give puts the profiles of an interval where they belong.
func (p *profiler) give(x *profiling.Interval) {
	s, every := &p.w.core.Sender, p.w.cfg.Profiles.Interval
	s.Lose(p.resource, "eventpipe", x.Lost, flow.PlaceRuntime, every)
	s.Lose(p.resource, "eventpipe", x.Dropped+x.Open, flow.PlaceProfile, every)
	p.w.core.Tel.Window(x.Cost, outcomeOf(x))
	if len(x.Profiles) == 0 {
		return
	}
	if s.Profiles != nil {
		data, err := flow.ProfilesOf(p.Request(x, p.resource))
		if err == nil {
			err = s.SendProfiles(data)
		}
		if err != nil {
			p.w.core.Set.Logger.Warn("a profile is not given away", zap.Error(err))
		}
	}
	if p.w.folder != nil {
		for i := range x.Profiles {
			p.write(x, &x.Profiles[i])
		}
	}
}

// outcomeOf names the outcome of the window of an interval, "" if there was to be none.
func outcomeOf(x *profiling.Interval) string {
	switch {
	case x.Window > 0:
		return "taken"
	case x.Skipped == profiling.SkippedUnseen:
		return ""
	}
	return x.Skipped
}

// write writes a profile to a file, and tells of it.
func (p *profiler) write(x *profiling.Interval, of *profiling.Profile) {
	log, s := p.w.core.Set.Logger, &p.w.core.Sender
	path, size, err := p.w.folder.write(of.Of, p.Name, p.PID, func(w io.Writer) error {
		return pprof.Write(w, of.Profile, pprof.Options{Period: of.Period, Comments: []string{p.Name}})
	})
	if err != nil {
		log.Error("a profile is not written", zap.String("kind", of.Of), zap.String("process", p.Name), zap.Error(err))
		s.Lose(p.resource, "eventpipe", int64(of.Len()), flow.PlaceProfile, p.w.cfg.Profiles.Interval)
		return
	}
	first, last := of.Times()
	list := []otlp.Attribute{
		{Key: "kind", Value: of.Of}, {Key: "file.path", Value: path}, {Key: "file.size", Value: size},
		{Key: "samples", Value: int64(of.Len())}, {Key: "duration", Value: time.Duration(last - first).Seconds()},
		{Key: "named", Value: of.Naming.Percent()},
	}
	if of.Of == profiling.CPU {
		list = append(list, otlp.Attribute{Key: "cost", Value: x.Cost}, otlp.Attribute{Key: "cost.measured", Value: x.Measured})
	}
	err = s.Notify(p.resource, "eventpipe", flow.Notice{Name: "etwgen.profile", Attributes: list})
	if err != nil && !errors.Is(err, flow.ErrStopped) {
		log.Warn("nobody is told of a profile", zap.String("file", path), zap.Error(err))
	}
}

package dotnetreceiver

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

const (
	sampleProvider = "Microsoft-DotNETCore-SampleProfiler"
	maxSamples     = 1 << 20 // of one profile
)

// kinds are the kinds of profiles, as presets and files are called.
var kinds = []string{"cpu", "allocs"}

// profiled returns the kinds of profiles that the configuration asks for.
func (c *Config) profiled() (list []string) {
	for _, k := range kinds {
		if slices.Contains(c.Presets, k) {
			list = append(list, k)
		}
	}
	return list
}

// A profiler takes profiles of one process from time to time, each by a session of its
// own: names of methods come at the end of a session.
type profiler struct {
	w        *worker
	c        *eventpipe.Client
	name     string // of the program
	pid      int64
	resource []otlp.Attribute
	kinds    []string
	version  int
}

// run takes profiles until ctx is done. The error is why there cannot be any more.
func (p *profiler) run(ctx context.Context) error {
	cfg := &p.w.cfg.Profiles
	for {
		begun := time.Now()
		if err := p.take(ctx); err != nil {
			return err
		}
		if !flow.Sleep(ctx.Done(), cfg.Interval-time.Since(begun)) {
			return nil
		}
	}
}

// config returns what a session for profiles records.
func (p *profiler) config() eventpipe.Config {
	cfg := eventpipe.Config{Rundown: eventpipe.DefaultRundown, BufferMB: p.w.cfg.BufferMB, StopTimeout: p.w.cfg.Profiles.Interval}
	for _, k := range p.kinds {
		switch {
		case k == "cpu":
			of, _ := eventpipe.FindProfile("cpu")
			cfg.Providers = append(cfg.Providers, of.Providers...)
			cfg.Providers = append(cfg.Providers, providers(gc.Needs)...)
		case p.version >= 10: // which are without bias, and cheaper
			cfg.Providers = append(cfg.Providers, providers(alloc.NeedsSampled)...)
		default:
			of, _ := eventpipe.FindProfile("alloc")
			cfg.Providers = append(cfg.Providers, of.Providers...)
		}
	}
	cfg.Providers = eventpipe.Merge(cfg.Providers)
	return cfg
}

// take takes profiles of all kinds, by one session.
func (p *profiler) take(ctx context.Context) error {
	startCtx, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	s, err := p.c.Start(startCtx, p.config())
	if err != nil {
		return err
	}
	defer s.Close()
	full, ended := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.end(ctx, s, full, ended) })
	var mux etw.Mux
	code, times, allocs := symbols.New(&mux), cpu.New(&mux), alloc.New(&mux)
	source := &bounded{Source: s, left: maxSamples, full: full}
	err = mux.Run(ctx, source)
	close(ended)
	wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	n := s.Stats()
	p.w.core.Sender.Lose(p.resource, "eventpipe", n.Lost, flow.PlaceRuntime, p.w.cfg.Profiles.Duration)
	p.w.core.Sender.Lose(p.resource, "eventpipe", source.dropped, flow.PlaceProfile, p.w.cfg.Profiles.Duration)
	for _, k := range p.kinds {
		of, period := times.Samples(), times.Result().Interval()
		if k == "allocs" {
			of, period = allocs.Samples(), 0
		}
		profile := stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames}, of...)
		if profile.Len() > 0 {
			p.give(k, profile, period)
		}
	}
	return err // a session that ended before it was stopped is of a process that did
}

// end stops a session when it is time, or closes it.
func (p *profiler) end(ctx context.Context, s *eventpipe.Session, full, ended <-chan struct{}) {
	t := time.NewTimer(p.w.cfg.Profiles.Duration)
	defer t.Stop()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	case <-full:
	case <-t.C:
	}
	stopCtx, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	if s.Stop(stopCtx) != nil {
		s.Close()
		return
	}
	select {
	case <-ended:
	case <-ctx.Done():
		s.Close()
	}
}

// give puts a profile where it belongs.
func (p *profiler) give(kind string, profile *stacks.Profile, period int64) {
	log := p.w.core.Set.Logger
	if p.w.core.Sender.Profiles != nil {
		out := otlp.Profiles{Resource: func(int64) []otlp.Attribute { return p.resource }}
		out.Add(profile, period)
		data, err := flow.ProfilesOf(&out)
		if err == nil {
			err = p.w.core.Sender.SendProfiles(data)
		}
		if err != nil {
			log.Warn("a profile is not given away", zap.Error(err))
		}
	}
	if p.w.folder == nil {
		return
	}
	path, size, err := p.w.folder.write(kind, p.name, p.pid, func(w io.Writer) error {
		return pprof.Write(w, profile, pprof.Options{Period: period, Comments: []string{p.name}})
	})
	if err != nil {
		log.Error("a profile is not written", zap.String("kind", kind), zap.String("process", p.name), zap.Error(err))
		p.w.core.Sender.Lose(p.resource, "eventpipe", int64(profile.Len()), flow.PlaceProfile, p.w.cfg.Profiles.Duration)
		return
	}
	first, last := profile.Times()
	err = p.w.core.Sender.Notify(p.resource, "eventpipe", flow.Notice{Name: "etwgen.profile", Attributes: []otlp.Attribute{
		{Key: "kind", Value: kind}, {Key: "file.path", Value: path}, {Key: "file.size", Value: size},
		{Key: "samples", Value: int64(profile.Len())}, {Key: "duration", Value: time.Duration(last - first).Seconds()},
		{Key: "named", Value: profile.Naming.Percent()},
	}})
	if err != nil && !errors.Is(err, flow.ErrStopped) {
		log.Warn("nobody is told of a profile", zap.String("file", path), zap.Error(err))
	}
}

// bounded is a source of which no more than so many samples are taken.
type bounded struct {
	etw.Source
	left    int
	dropped int64
	full    chan struct{}
}

func (b *bounded) Next(r *etw.Record) error {
	for {
		err := b.Source.Next(r)
		if err != nil || !isSample(r) {
			return err
		}
		if b.left > 0 {
			if b.left--; b.left == 0 {
				close(b.full)
			}
			return nil
		}
		b.dropped++
	}
}

var (
	tick    = (&clr.GCAllocationTick{}).EventDesc()
	sampled = (&clr.AllocationSampled{}).EventDesc()
)

// isSample reports whether a record is a sample of a profile.
func isSample(r *etw.Record) bool {
	return r.ProviderName == sampleProvider || r.Provider == tick.Provider.GUID && (r.ID == tick.ID || r.ID == sampled.ID)
}

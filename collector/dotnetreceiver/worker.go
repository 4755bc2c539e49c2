package dotnetreceiver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/internal/profiling"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

// A worker has a session in each process that is wanted.
type worker struct {
	cfg     *Config
	core    *flow.Core
	host    component.Host
	ports   []attach.Port
	include patterns
	exclude patterns
	events  *flow.Events       // that are chosen
	machine *profiling.Machine // nil if there are no profiles
	kernel  *profiling.Kernel  // that samples processors, or nil
	folder  *folder            // of profiles, or nil
	wg      sync.WaitGroup
	once    sync.Once // at the first session
	ended   atomic.Bool
}

func newWorker(cfg *Config, core *flow.Core) *worker {
	w := &worker{cfg: cfg, core: core, events: flow.NewEvents(cfg.Events)}
	w.include.compile("discovery: include", cfg.Discovery.Include)
	w.exclude.compile("discovery: exclude", cfg.Discovery.Exclude)
	return w
}

// Open listens at the ports, and readies the folder of profiles.
func (w *worker) Open(_ context.Context, host component.Host) (err error) {
	w.host = host
	if len(w.cfg.profiled(false)) > 0 && w.cfg.Profiles.Directory == "" && w.core.Sender.Profiles == nil {
		return errors.New("the presets cpu and allocs need a place for profiles: write profiles: {directory: /var/lib/otelcol/profiles}, or have the receiver in a profiles pipeline")
	}
	if w.machine, err = w.newMachine(); err != nil {
		return err
	}
	if w.machine != nil && w.cfg.Profiles.Directory != "" {
		if w.folder, err = newFolder(&w.cfg.Profiles); err != nil {
			return errors.Join(fmt.Errorf("profiles: directory: %w", err), w.Close())
		}
	}
	for _, p := range w.cfg.Ports {
		l, err := eventpipe.Listen(p.Path)
		if err != nil {
			return errors.Join(fmt.Errorf("port %s: %w", p.Path, err), w.Close())
		}
		w.ports = append(w.ports, attach.Port{Listener: l, Resume: p.Resume})
	}
	return nil
}

// Close closes the ports, and ends the samples of the kernel.
func (w *worker) Close() error {
	trouble := w.kernel.Close()
	w.kernel = nil
	for _, p := range w.ports {
		trouble = errors.Join(trouble, p.Close())
	}
	w.ports = nil
	return trouble
}

// Run attaches to processes that are there, and to those that come.
func (w *worker) Run(stop context.Context) {
	defer w.wg.Wait()
	if w.cfg.discovers() {
		w.wg.Go(func() { w.include.matched.SayAfter(stop, w.core.Set.Logger) })
		w.wg.Go(func() { w.exclude.matched.SayAfter(stop, w.core.Set.Logger) })
	}
	s := w.supervisor()
	if err := s.Run(stop, w.serve); err != nil {
		w.core.Set.Logger.Error("no process is attached to", zap.Error(err))
	}
}

// supervisor returns the one that attaches to the targets of the configuration.
func (w *worker) supervisor() *attach.Supervisor {
	s := &attach.Supervisor{
		Ports: w.ports, Max: w.cfg.Discovery.MaxProcesses, Interval: w.cfg.Discovery.Interval,
		Retry: w.cfg.Reattach.InitialInterval, MaxRetry: w.cfg.Reattach.MaxInterval,
		Log: flow.Slog(w.core.Set.Logger), Status: w.status,
	}
	for _, t := range w.cfg.Targets {
		target := attach.Target{PID: t.PID, Container: t.Container, Socket: t.Socket}
		if t.Name != "" {
			target.Pattern = regexp.MustCompile(t.Name) // it was checked
		}
		s.Targets = append(s.Targets, target)
	}
	if w.cfg.discovers() {
		s.Targets = append(s.Targets, attach.Target{Match: func(p *attach.Process) bool {
			wanted, unwanted := w.include.match(p), w.exclude.match(p)
			return wanted && !unwanted
		}})
	}
	return s
}

// status has the collector know that something is wrong, or nothing is any more.
func (w *worker) status(err error) {
	e := componentstatus.NewEvent(componentstatus.StatusOK)
	if err != nil {
		e = componentstatus.NewRecoverableErrorEvent(err)
	}
	componentstatus.ReportStatus(w.host, e)
}

// patterns are those of the names of processes.
type patterns struct {
	list    []*regexp.Regexp
	matched flow.Matched
}

// compile fills the patterns, which were checked.
func (p *patterns) compile(place string, texts []string) {
	p.matched = flow.Matched{Place: place, Texts: texts}
	for _, text := range texts {
		p.list = append(p.list, regexp.MustCompile(text))
	}
}

// match reports whether a pattern means one of the names of a process.
func (p *patterns) match(process *attach.Process) bool {
	any := false
	for i, re := range p.list {
		if t := (attach.Target{Pattern: re}); t.Is(process) {
			p.matched.Mark(i)
			any = true
		}
	}
	return any
}

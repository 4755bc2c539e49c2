package dotnetreceiver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A worker looks for processes, and has a session in each.
type worker struct {
	cfg       *Config
	core      *flow.Core
	host      component.Host
	listeners []*eventpipe.Listener
	include   patterns
	exclude   patterns
	names     []*regexp.Regexp // of the targets, nil for those that have none
	events    *flow.Events     // that are chosen
	folder    *folder          // of profiles, or nil
	wg        sync.WaitGroup
	once      sync.Once // at the first session

	mu       sync.Mutex
	attached map[string]time.Time // since when
	cookies  map[string]bool      // of the processes that are attached to
	tries    map[string]*try
	guests   map[string]*guest // that have come by a port, by their cookies
	full     bool              // it was said that no more processes can be attached to
	ended    int               // sessions
	missing  []string          // what is said of targets that no process is
	reported string            // as the status: what is wrong
}

func newWorker(cfg *Config, core *flow.Core) *worker {
	w := &worker{cfg: cfg, core: core, attached: make(map[string]time.Time), cookies: make(map[string]bool), tries: make(map[string]*try), guests: make(map[string]*guest), events: flow.NewEvents(cfg.Events)}
	w.include.compile("discovery: include", cfg.Discovery.Include)
	w.exclude.compile("discovery: exclude", cfg.Discovery.Exclude)
	for _, t := range cfg.Targets {
		var re *regexp.Regexp
		if t.Name != "" {
			re, _ = regexp.Compile(t.Name)
		}
		w.names = append(w.names, re)
	}
	return w
}

// Open listens at the ports, and readies the folder of profiles.
func (w *worker) Open(_ context.Context, host component.Host) (err error) {
	w.host = host
	if len(w.cfg.profiled()) > 0 && w.cfg.Profiles.Directory == "" && w.core.Sender.Profiles == nil {
		return errors.New("the presets cpu and allocs need a place for profiles: write profiles: {directory: /var/lib/otelcol/profiles}, or have the receiver in a profiles pipeline")
	}
	if len(w.cfg.profiled()) > 0 && w.cfg.Profiles.Directory != "" {
		if w.folder, err = newFolder(&w.cfg.Profiles); err != nil {
			return fmt.Errorf("profiles: directory: %w", err)
		}
	}
	for _, p := range w.cfg.Ports {
		l, err := eventpipe.Listen(p.Path)
		if err != nil {
			return errors.Join(fmt.Errorf("port %s: %w", p.Path, err), w.Close())
		}
		w.listeners = append(w.listeners, l)
	}
	return nil
}

// Close closes the ports.
func (w *worker) Close() error {
	var trouble error
	for _, l := range w.listeners {
		trouble = errors.Join(trouble, l.Close())
	}
	w.listeners = nil
	return trouble
}

// Run attaches to what is there, and to what comes.
func (w *worker) Run(stop context.Context) {
	defer w.wg.Wait()
	for i, l := range w.listeners {
		w.wg.Go(func() { w.accept(stop, l, w.cfg.Ports[i]) })
	}
	if w.cfg.discovers() {
		w.wg.Go(func() { w.include.matched.SayAfter(stop, w.core.Set.Logger) })
		w.wg.Go(func() { w.exclude.matched.SayAfter(stop, w.core.Set.Logger) })
	}
	for {
		w.look(stop)
		if !flow.Sleep(stop.Done(), w.cfg.lookEvery(w.waits())) {
			return
		}
	}
}

// lookEvery returns the time between two looks for processes. Waiting is for something
// that may soon be there.
func (c *Config) lookEvery(waiting bool) time.Duration {
	if waiting {
		return min(c.Discovery.Interval, c.Reattach.InitialInterval*5)
	}
	return c.Discovery.Interval
}

func (w *worker) waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.missing) > 0 || len(w.tries) > 0
}

// look attaches to the processes that are wanted and are not attached to.
func (w *worker) look(stop context.Context) {
	if w.needsList() {
		ctx, cancel := context.WithTimeout(stop, 2*time.Second)
		list, err := eventpipe.Processes(ctx)
		cancel()
		if err != nil && stop.Err() == nil && len(list) == 0 {
			w.core.Set.Logger.Warn("processes cannot be listed", zap.Error(err))
		}
		for i := range list {
			if w.wants(&list[i]) {
				w.process(stop, &list[i])
			}
		}
		w.miss(list)
	}
	for _, t := range w.cfg.Targets {
		if t.Socket == "" {
			continue
		}
		paths, _ := filepath.Glob(t.Socket)
		for _, path := range paths {
			w.attach(stop, target{key: path, name: path, dial: func(ctx context.Context) (*eventpipe.Client, error) { return eventpipe.DialSocket(ctx, path) }})
		}
	}
	w.lookAtGuests(stop)
	w.forget()
	w.report()
}

// needsList reports whether processes have to be listed.
func (w *worker) needsList() bool {
	if w.cfg.discovers() {
		return true
	}
	for _, t := range w.cfg.Targets {
		if t.Socket == "" {
			return true
		}
	}
	return false
}

// process attaches to a process that was found.
func (w *worker) process(stop context.Context, p *eventpipe.Process) {
	pid := p.PID
	t := target{key: fmt.Sprintf("pid %d %d", pid, p.Start.Unix()), name: fmt.Sprintf("pid %d", pid), process: p, dial: func(ctx context.Context) (*eventpipe.Client, error) {
		return eventpipe.DialPID(ctx, pid)
	}}
	if !p.Cookie.IsZero() {
		t.cookie = p.Cookie.String()
	}
	w.attach(stop, t)
}

// forget drops what is known of processes that are not there any more, or are well: else
// it would have been tried again, or a session have ended.
func (w *worker) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, t := range w.tries {
		if time.Since(t.next) > steady {
			delete(w.tries, key)
		}
	}
}

// miss says of targets that no process is one, and when one is there again.
func (w *worker) miss(list []eventpipe.Process) {
	var missing []string
	for i, t := range w.cfg.Targets {
		if t.Socket != "" {
			continue
		}
		found := false
		for j := range list {
			found = found || w.is(i, &list[j])
		}
		if !found {
			missing = append(missing, fmt.Sprintf("no .NET process matches %s: causes may be DOTNET_EnableDiagnostics=0, another user, another TMPDIR, or a pid of another namespace; looking again every %v", t.text(), w.cfg.Discovery.Interval))
		}
	}
	w.mu.Lock()
	was := w.missing
	w.missing = missing
	w.mu.Unlock()
	for _, text := range missing {
		if !slices.Contains(was, text) {
			w.core.Set.Logger.Warn(text)
		}
	}
}

// report has the status be what is wrong, if that has changed.
func (w *worker) report() {
	w.mu.Lock()
	trouble := slices.Clone(w.missing)
	for _, t := range w.tries {
		if t.early >= tolerated {
			trouble = append(trouble, t.said)
		}
	}
	slices.Sort(trouble)
	text := strings.Join(trouble, "; ")
	was := w.reported
	w.reported = text
	w.mu.Unlock()
	switch {
	case text == was:
	case text == "":
		componentstatus.ReportStatus(w.host, componentstatus.NewEvent(componentstatus.StatusOK))
	default:
		componentstatus.ReportStatus(w.host, componentstatus.NewRecoverableErrorEvent(errors.New(text)))
	}
}

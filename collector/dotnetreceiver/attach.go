package dotnetreceiver

import (
	"context"
	"errors"
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
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A target is a process to attach to.
type target struct {
	key     string // by which it is the same one
	name    string // for people
	process *eventpipe.Process
	cookie  string // "" if it is not known before it is asked
	guest   *guest // if it comes by itself, by a port
	dial    func(context.Context) (*eventpipe.Client, error)
}

// attach begins to attach to a process, unless it is attached to, or it is too early to
// try again.
func (w *worker) attach(stop context.Context, t target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.tries[t.key]
	switch {
	case !w.attached[t.key].IsZero() || last != nil && time.Now().Before(last.next):
		return
	case t.cookie != "" && w.cookies[t.cookie]: // it is attached to in another way
		w.wg.Go(func() { t.guest.letGo(stop) })
		return
	case len(w.attached) >= w.cfg.Discovery.MaxProcesses:
		if !w.full {
			w.full = true
			w.core.Set.Logger.Warn("a process waits until another one has ended: write a larger discovery: max_processes", zap.String("process", t.name), zap.Int("max_processes", w.cfg.Discovery.MaxProcesses))
		}
		w.wg.Go(func() { t.guest.letGo(stop) })
		return
	}
	w.attached[t.key] = time.Now()
	w.wg.Go(func() {
		err := w.session(stop, t)
		t.guest.letGo(stop)
		w.leave(t, last, err)
	})
}

// leave keeps when it is tried again to attach to a process, after a session or a try.
func (w *worker) leave(t target, last *try, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lasted := time.Since(w.attached[t.key])
	delete(w.attached, t.key)
	var early *earlyError
	switch {
	case err == nil || err == errGone:
		w.full = false
		delete(w.tries, t.key)
	case errors.As(err, &early):
		w.full = false
		w.tries[t.key] = w.cfg.afterEarly(last, t.name, early, lasted, time.Now())
	default:
		w.tries[t.key] = w.cfg.after(last, time.Now())
		if last == nil && err != errTwice {
			w.core.Set.Logger.Warn("cannot attach to a process; trying again", zap.String("process", t.name), zap.Error(err))
		}
	}
}

// errTwice says that a process is attached to already, by another of its ways: a port,
// its socket, its pid.
var errTwice = errors.New("attached already")

// claim reports whether a process, by its cookie, is attached to by nobody else.
func (w *worker) claim(cookie string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cookies[cookie] {
		return false
	}
	w.cookies[cookie] = true
	return true
}

func (w *worker) release(cookie string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.cookies, cookie)
}

// session has a session in a process until either ends. The error is of one that did
// not begin.
func (w *worker) session(stop context.Context, t target) error {
	ctx, cancel := context.WithTimeout(stop, eventpipe.DefaultTimeout)
	defer cancel()
	c, err := t.dial(ctx)
	if err != nil {
		return ignoreStop(stop, err)
	}
	ask := c.Info
	if t.guest != nil {
		ask = t.guest.info
	}
	info, err := ask(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return ignoreStop(stop, err)
	}
	if cookie := info.Cookie.String(); !info.Cookie.IsZero() {
		if !w.claim(cookie) {
			return errTwice // it is attached to in another way
		}
		defer w.release(cookie)
	}
	a := &attachment{w: w, target: t, c: c, info: &info, resource: resource(ctx, c, &info, t), plan: w.cfg.plan(version(info.Runtime))}
	return ignoreStop(stop, a.run(ctx, stop))
}

// An attachment is to one process.
type attachment struct {
	w        *worker
	target   target
	c        *eventpipe.Client
	info     *eventpipe.Info
	resource []otlp.Attribute
	plan     plan
}

// run begins what there is to do in a process, and does it until the process ends or
// stop is done. The error is of what did not begin; ctx is for the begin.
func (a *attachment) run(ctx, stop context.Context) error {
	var s *eventpipe.Session
	var err error
	if len(a.plan.providers) > 0 {
		s, err = a.c.Start(ctx, eventpipe.Config{Providers: a.plan.providers, BufferMB: a.w.cfg.BufferMB})
	}
	a.target.guest.letGo(stop)
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	w, name := a.w, zap.String("process", a.target.name)
	w.core.Tel.Session(1, "attached")
	defer w.core.Tel.Session(-1, "attached")
	w.core.Set.Logger.Info("attached", name, zap.String("runtime", a.info.Runtime))
	w.once.Do(func() { w.wg.Go(func() { w.events.Matched().SayAfter(stop, w.core.Set.Logger) }) })
	w.mu.Lock()
	if w.ended > 0 {
		w.core.Tel.Reattached()
	}
	w.mu.Unlock()
	err = a.work(stop, s)
	w.mu.Lock()
	w.ended++
	w.mu.Unlock()
	if err != nil {
		w.core.Set.Logger.Warn("a session has ended early", name, zap.Error(err))
	} else {
		w.core.Set.Logger.Info("detached", name)
	}
	if s != nil && err != nil {
		return &earlyError{err}
	}
	return err
}

// work reads a session, if there is one, and takes profiles meanwhile.
func (a *attachment) work(stop context.Context, s *eventpipe.Session) error {
	kinds := a.w.cfg.profiled()
	if len(kinds) == 0 {
		return a.stream(stop, s)
	}
	p := &profiler{w: a.w, c: a.c, name: executable(a.info.CommandLine), pid: a.info.PID, resource: a.resource, kinds: kinds, version: version(a.info.Runtime)}
	if a.target.process != nil {
		p.pid = int64(a.target.process.PID)
	}
	if s == nil {
		return p.run(stop)
	}
	ctx, cancel := context.WithCancel(stop)
	var wg sync.WaitGroup
	wg.Go(func() {
		for err := p.run(ctx); err != nil && ctx.Err() == nil; err = p.run(ctx) {
			a.w.core.Set.Logger.Warn("a profile cannot be taken; trying again", zap.String("process", a.target.name), zap.Error(err))
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
		Sender: &w.core.Sender, Tel: w.core.Tel, Format: "eventpipe", Batch: w.cfg.Batch, Output: w.cfg.Output, Events: w.events,
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

// ignoreStop returns an error, unless it is only that we are stopped.
func ignoreStop(stop context.Context, err error) error {
	if stop.Err() != nil {
		return nil
	}
	return err
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

// resource returns what telemetry of a process is of.
func resource(ctx context.Context, c *eventpipe.Client, info *eventpipe.Info, t target) []otlp.Attribute {
	pid := info.PID
	list := []otlp.Attribute{{Key: "process.runtime.name", Value: ".NET"}}
	if p := t.process; p != nil {
		pid = int64(p.PID)
		if !p.Start.IsZero() {
			list = append(list, otlp.Attribute{Key: "process.creation.time", Value: p.Start.UTC().Format(time.RFC3339Nano)})
		}
		if id := containerOf(p.PID); id != "" {
			list = append(list, otlp.Attribute{Key: "container.id", Value: id})
		}
	}
	list = append(list, otlp.Attribute{Key: "process.pid", Value: pid})
	name := executable(info.CommandLine)
	serviceName, instance := service(ctx, c, name)
	if instance == "" && !info.Cookie.IsZero() {
		instance = info.Cookie.String() // which the runtime makes up for each process
	}
	if host, err := os.Hostname(); err == nil {
		list = append(list, otlp.Attribute{Key: "host.name", Value: host})
	}
	for _, a := range []otlp.Attribute{
		{Key: "process.executable.name", Value: name}, {Key: "process.runtime.version", Value: info.Runtime},
		{Key: "os.type", Value: strings.ToLower(info.OS)}, {Key: "host.arch", Value: arch(info.Arch)},
		{Key: "service.name", Value: serviceName}, {Key: "service.instance.id", Value: instance},
	} {
		if a.Value != "" {
			list = append(list, a)
		}
	}
	return list
}

// service returns the name that a process gives itself for OpenTelemetry, or one made
// of its program, and the id of the instance, if it has one.
func service(ctx context.Context, c *eventpipe.Client, program string) (name, instance string) {
	env, _ := c.Environment(ctx) // of a runtime that does not tell, there is none
	of := func(key string) string {
		for _, pair := range env {
			if k, v, ok := strings.Cut(pair, "="); ok && k == key {
				return v
			}
		}
		return ""
	}
	name = of("OTEL_SERVICE_NAME")
	for pair := range strings.SplitSeq(of("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		k, v, _ := strings.Cut(pair, "=")
		switch k, v = strings.TrimSpace(k), strings.TrimSpace(v); {
		case k == "service.name" && name == "":
			name = v
		case k == "service.instance.id":
			instance = v
		}
	}
	switch {
	case name != "":
	case program != "":
		name = "unknown_service:" + program
	default:
		name = "unknown_service"
	}
	return name, instance
}

// arch returns the architecture as the conventions call it.
func arch(text string) string {
	switch text {
	case "x64":
		return "amd64"
	case "x86", "arm64":
		return text
	case "":
		return runtime.GOARCH
	case "arm":
		return "arm32"
	}
	return text
}

package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// ErrDetach is returned by a function that [Supervisor.Run] has called, to be called for
// this process no more.
var ErrDetach = errors.New("detach")

// A Supervisor is attached to the processes that it is to be attached to, as long as it
// runs.
type Supervisor struct {
	// Targets are the processes to attach to. Without any, and without Ports, all are.
	Targets []Target
	Ports   []Port
	// Max is the number of processes at once, or 0 for as many as there are.
	Max int
	// Interval is the time between two looks for processes, 2 s if it is 0.
	Interval time.Duration
	// Retry is how long it takes until a second try, 200 ms if it is 0. The time is doubled
	// each time, up to MaxRetry, 3 s if it is 0, or to a minute for streams that are damaged.
	Retry, MaxRetry time.Duration
	// Log gets the course of events, unless it is nil.
	Log *slog.Logger
	// Status is called with the fault, when that changes, and with nil when nothing is any
	// more: targets that no process is, processes that fail for the third time.
	Status func(error)
}

// Run attaches to the processes that are there, and to those that come, and calls serve for
// each, until ctx is done. It returns when all calls have. Nil from serve means that the
// process, or the work, has ended; if the process is there at the next look, serve is called
// again. After an error it is called again, too, but later each time. The error of Run says
// that a target can mean nothing.
func (s *Supervisor) Run(ctx context.Context, serve func(context.Context, *Process) error) error {
	r := &run{Supervisor: *s, serve: serve, log: s.Log, attached: make(map[string]time.Time), cookies: make(map[etw.GUID]bool),
		tries: make(map[string]*try), left: make(map[string]bool), guests: make(map[string]*guest), missing: make(map[int]string), unreached: make(map[string]int)}
	r.Interval, r.Retry, r.MaxRetry = cmp.Or(s.Interval, 2*time.Second), cmp.Or(s.Retry, 200*time.Millisecond), cmp.Or(s.MaxRetry, 3*time.Second)
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if len(s.Targets)+len(s.Ports) == 0 {
		r.Targets = []Target{{}}
	}
	for _, t := range r.Targets {
		if _, err := filepath.Match(t.Socket, ""); err != nil {
			return fmt.Errorf("attach: socket %q: %w: brackets must be closed, or written as \\[", t.Socket, err)
		}
	}
	defer r.wait.Wait()
	for _, p := range s.Ports {
		r.wait.Go(func() { r.accept(ctx, p) })
	}
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.lookAfter(r.waits())):
		}
	}
}

// A run is the state of a running Supervisor.
type run struct {
	Supervisor
	serve  func(context.Context, *Process) error
	log    *slog.Logger
	finder finder
	wait   sync.WaitGroup

	// These are of the one goroutine that looks.
	unreached map[string]int // looks at which a process could not be reached
	reported  string         // as the status

	mu       sync.Mutex
	attached map[string]time.Time // since when, by key
	cookies  map[etw.GUID]bool    // of the processes that are attached to
	tries    map[string]*try
	left     map[string]bool   // processes that are left alone
	guests   map[string]*guest // by their cookies
	full     bool              // it was said that no more processes can be attached to
	missing  map[int]string    // what is said of targets that no process is
}

// A wanted is a process to attach to.
type wanted struct {
	key     string // by which it is the same one
	process *Process
	dial    func(context.Context) (*eventpipe.Client, error)
}

// lookAfter returns the time until the next look. Waiting is for something that may soon
// be there.
func (s *Supervisor) lookAfter(waiting bool) time.Duration {
	if waiting {
		return min(s.Interval, s.Retry*5)
	}
	return s.Interval
}

func (r *run) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.missing) > 0 || len(r.tries) > 0
}

// look attaches to the processes that are wanted and are not attached to.
func (r *run) look(stop context.Context) {
	var present []string
	complete := true
	if slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Socket == "" }) {
		list, err := r.finder.list(stop)
		if err != nil && stop.Err() == nil {
			complete = false
			r.log.Warn("processes cannot be listed", "error", err)
		}
		present = r.process(stop, list)
		r.miss(list)
	}
	for _, t := range r.Targets {
		if t.Socket == "" {
			continue
		}
		paths, _ := filepath.Glob(t.Socket)
		for _, path := range paths {
			present = append(present, path)
			p := &Process{run: r}
			p.Socket = path
			r.attach(stop, wanted{key: path, process: p, dial: func(ctx context.Context) (*eventpipe.Client, error) { return eventpipe.DialSocket(ctx, path) }})
		}
	}
	present = append(present, r.lookAtGuests(stop)...)
	if complete {
		r.forget(present)
	}
	r.report()
}

// process attaches to those of a list that are wanted, and returns their keys. One that
// cannot be reached is said to be so at the second look, since it may only now be starting.
func (r *run) process(stop context.Context, list []*Process) (keys []string) {
	unreached := make(map[string]int)
	for _, p := range list {
		if !slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Is(p) }) {
			continue
		}
		key, pid := p.key(), p.PID
		keys = append(keys, key)
		if p.Err != nil {
			if unreached[key] = r.unreached[key] + 1; unreached[key] == 2 {
				r.log.Warn("a process cannot be reached", "process", p.String(), "error", p.Err)
			}
			continue
		}
		own := *p // since a session writes to it
		own.run = r
		r.attach(stop, wanted{key: key, process: &own, dial: func(ctx context.Context) (*eventpipe.Client, error) {
			return eventpipe.DialPID(ctx, pid)
		}})
	}
	r.unreached = unreached
	return keys
}

// forget drops the state of processes that are not there any more, and the failures of those
// that are well.
func (r *run) forget(present []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.tries {
		since, attached := r.attached[key]
		if !slices.Contains(present, key) && !attached || attached && time.Since(since) > steady {
			delete(r.tries, key)
		}
	}
	for key := range r.left {
		if !slices.Contains(present, key) {
			delete(r.left, key)
		}
	}
}

// miss says of targets that no process is one.
func (r *run) miss(list []*Process) {
	for i, t := range r.Targets {
		if !t.expects() {
			continue
		}
		found := slices.ContainsFunc(list, t.Is)
		r.mu.Lock()
		text, was := r.missing[i]
		switch {
		case found:
			delete(r.missing, i)
		case !was:
			text = fmt.Sprintf("no .NET process matches %v: %s", &t, why(list))
			r.missing[i] = text
		}
		r.mu.Unlock()
		if !found && !was {
			r.log.Warn(text)
		}
	}
}

// why says why there may be no process of a target: which there are, and which of these
// cannot be asked.
func why(list []*Process) string {
	const most = 5
	var there, silent []string
	for _, p := range list {
		if p.Err != nil {
			silent = append(silent, fmt.Sprintf("%v: %v", p, p.Err))
		} else {
			there = append(there, strings.Join(p.Names(), " or "))
		}
	}
	text := "none is seen: causes may be DOTNET_EnableDiagnostics=0, another user, another TMPDIR, or a pid of another namespace"
	switch {
	case len(there) == 0 && len(silent) > 0:
		text = "none answers"
	case len(there) > 0:
		slices.Sort(there)
		there = slices.Compact(there)
		text = "those that are seen are called " + some(there, most, ", ")
	}
	if len(silent) > 0 {
		text += "; these cannot be reached: " + some(silent, most, "; ")
	}
	return text
}

// some joins the first of a list, and says how many more there are.
func some(list []string, most int, by string) string {
	if len(list) <= most {
		return strings.Join(list, by)
	}
	return fmt.Sprintf("%s%sand %d more", strings.Join(list[:most], by), by, len(list)-most)
}

// report reports the fault as the status, if it has changed.
func (r *run) report() {
	if r.Status == nil {
		return
	}
	r.mu.Lock()
	var trouble []string
	for _, text := range r.missing {
		trouble = append(trouble, text)
	}
	for _, t := range r.tries {
		if t.failed >= tolerated {
			trouble = append(trouble, fmt.Sprintf("%s: %d sessions in a row have ended early, or not begun, the last one by %v", t.process, t.failed, t.err))
		}
	}
	r.mu.Unlock()
	slices.Sort(trouble)
	text := strings.Join(trouble, "; ")
	if text == r.reported {
		return
	}
	r.reported = text
	if text == "" {
		r.Status(nil)
		return
	}
	r.Status(errors.New(text))
}

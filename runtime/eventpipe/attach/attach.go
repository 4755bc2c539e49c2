package attach

import (
	"context"
	"errors"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// errTwice says that a process is attached to already, by another of its ways: a port,
// its socket, its pid.
var errTwice = errors.New("attached already")

// attach begins to attach to a process, unless it is attached to, is to be left alone, or
// it is too early to try again.
func (r *run) attach(stop context.Context, w wanted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.tries[w.key]
	p := w.process
	switch {
	case !r.attached[w.key].IsZero() || r.left[w.key] || last != nil && time.Now().Before(last.next):
		return
	case !p.Cookie.IsZero() && r.cookies[p.Cookie]: // it is attached to in another way
		r.wait.Go(func() { r.letGo(stop, p.guest) })
		return
	case r.Max > 0 && len(r.attached) >= r.Max:
		if !r.full {
			r.full = true
			r.log.Warn("a process waits until another one has ended, since there are as many as may be", "process", p.String(), "most", r.Max)
		}
		r.wait.Go(func() { r.letGo(stop, p.guest) })
		return
	}
	r.attached[w.key] = time.Now()
	r.wait.Go(func() {
		err := r.session(stop, w)
		r.letGo(stop, p.guest)
		r.leave(stop, w, last, err)
	})
}

// leave says how it went, and keeps when it is tried again, after a session or a try.
func (r *run) leave(stop context.Context, w wanted, last *try, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := w.process.String()
	lasted := time.Since(r.attached[w.key])
	delete(r.attached, w.key)
	r.full = r.full && !w.process.begun
	if stop.Err() != nil {
		err = nil
	}
	switch {
	case err == errGone:
		delete(r.tries, w.key)
	case err == errTwice:
		r.tries[w.key] = &try{next: time.Now().Add(r.MaxRetry)}
	case err == nil || errors.Is(err, ErrDetach):
		delete(r.tries, w.key)
		if err != nil {
			r.left[w.key] = true
		}
		if w.process.begun {
			r.log.Info("detached", "process", name)
		}
	default:
		r.tries[w.key] = r.after(last, err, lasted, time.Now())
		r.tries[w.key].process = name
		if w.process.begun {
			r.log.Warn("a session has ended early", "process", name, "error", err)
		} else if last == nil {
			r.log.Warn("cannot attach to a process; trying again", "process", name, "error", err)
		}
	}
}

// claim reports whether a process, by its cookie, is attached to by nobody else.
func (r *run) claim(cookie etw.GUID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cookies[cookie] {
		return false
	}
	r.cookies[cookie] = true
	return true
}

func (r *run) release(cookie etw.GUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cookies, cookie)
}

// session finds out who a process is, and serves it until that ends.
func (r *run) session(stop context.Context, w wanted) error {
	ctx, cancel := context.WithTimeout(stop, eventpipe.DefaultTimeout)
	defer cancel()
	c, err := w.dial(ctx)
	if err != nil {
		return err
	}
	p := w.process
	p.Client = c
	var info eventpipe.Info
	if p.guest != nil {
		info, err = r.info(ctx, p.guest)
	} else {
		info, err = c.Info(ctx)
	}
	switch {
	case err == nil:
		p.Info = info
	case !errors.Is(err, errors.ErrUnsupported): // an old runtime does not tell
		return err
	}
	if !p.Cookie.IsZero() {
		if !r.claim(p.Cookie) {
			return errTwice
		}
		defer r.release(p.Cookie)
	}
	if p.PID == 0 {
		p.Executable = executable(p.CommandLine)
		p.service(ctx, c)
	}
	return r.serve(stop, p)
}

// Begun says that the work in a process has begun: the log has it, and the process goes on
// if it waits at a port for that. [Process.Session] calls it.
func (p *Process) Begun(ctx context.Context) {
	if p.begun {
		return
	}
	p.begun = true
	p.run.letGo(ctx, p.guest)
	p.run.log.Info("attached", "process", p.String(), "runtime", p.Runtime)
}

// Session starts a session in the process. ctx is for the start alone.
func (p *Process) Session(ctx context.Context, cfg eventpipe.Config) (*eventpipe.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	s, err := p.Client.Start(ctx, cfg)
	if err == nil {
		p.Begun(ctx)
	}
	return s, err
}

// Run has the handlers of a Mux see the events that they ask for, until the process ends or
// ctx is done, which is no error. Losses are in the log.
func (p *Process) Run(ctx context.Context, mux *etw.Mux) error {
	s, err := p.Session(ctx, eventpipe.Config{Providers: eventpipe.ForMux(mux)})
	if err != nil {
		return err
	}
	defer s.Close()
	err = mux.Run(ctx, s)
	if lost := s.Stats().Lost; lost > 0 {
		p.run.log.Warn("events were lost", "process", p.String(), "events", lost)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

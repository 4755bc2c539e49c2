package dotnetreceiver

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A guest is a process that has connected to a port. Nothing finds it a second time, so
// it is kept until it is gone: a session may end before it does.
type guest struct {
	w      *worker
	client *eventpipe.Client
	resume sync.Once // done at once where it is not asked for
	met    bool      // it was asked who it is; for the one goroutine that has a session
}

// errGone says that a guest answers no more.
var errGone = errors.New("gone")

// goneAfter is how long a guest may take to connect again before it counts as gone.
const goneAfter = 3 * time.Second

// accept attaches to the processes that connect to a port.
func (w *worker) accept(stop context.Context, l *eventpipe.Listener, port Port) {
	for {
		c, err := l.Accept(stop)
		if err != nil {
			if stop.Err() == nil {
				w.core.Set.Logger.Error("a port takes no processes any more", zap.String("path", port.Path), zap.Error(err))
			}
			return
		}
		g := &guest{w: w, client: c}
		if !port.Resume {
			g.resume.Do(func() {})
		}
		w.mu.Lock()
		w.guests[c.Cookie().String()] = g
		w.mu.Unlock()
		w.attach(stop, g.target())
	}
}

// lookAtGuests attaches to those that are not attached to.
func (w *worker) lookAtGuests(stop context.Context) {
	w.mu.Lock()
	var list []*guest
	for _, g := range w.guests {
		list = append(list, g)
	}
	w.mu.Unlock()
	for _, g := range list {
		w.attach(stop, g.target())
	}
}

func (g *guest) target() target {
	cookie := g.client.Cookie().String()
	return target{key: cookie, cookie: cookie, name: g.client.String(), guest: g, dial: func(context.Context) (*eventpipe.Client, error) { return g.client, nil }}
}

// info asks a guest who it is. One that was asked before, and is there, has connected
// again by now.
func (g *guest) info(ctx context.Context) (eventpipe.Info, error) {
	if g.met {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, goneAfter)
		defer cancel()
	}
	g.met = true
	info, err := g.client.Info(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && ctx.Err() != nil {
		g.letGo(ctx)
		g.w.bid(g)
		return info, errGone
	}
	return info, err
}

// bid forgets a guest that is gone.
func (w *worker) bid(g *guest) {
	w.mu.Lock()
	delete(w.guests, g.client.Cookie().String())
	w.mu.Unlock()
	g.client.Close()
}

// letGo has a process go on that waits until it is attached to, once, whatever has come
// of attaching to it.
func (g *guest) letGo(stop context.Context) {
	if g == nil {
		return
	}
	g.resume.Do(func() {
		timeout := eventpipe.DefaultTimeout
		if stop.Err() != nil {
			stop, timeout = context.WithoutCancel(stop), g.w.cfg.ShutdownTimeout/4
		}
		ctx, cancel := context.WithTimeout(stop, timeout)
		defer cancel()
		if err := g.client.Resume(ctx); err != nil {
			g.w.core.Set.Logger.Warn("a process is not resumed", zap.String("process", g.client.String()), zap.Error(err))
		}
	})
}

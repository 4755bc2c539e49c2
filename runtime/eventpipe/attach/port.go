package attach

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A Port is where processes connect that have its path in DOTNET_DiagnosticPorts. Who made
// the Listener closes it, after Run.
type Port struct {
	*eventpipe.Listener
	// Resume lets a process go on that waits until it is attached to, whatever has become
	// of that.
	Resume bool
}

// A guest is a process that has connected to a port. Nothing finds it a second time, so
// it is kept until it is gone: a session may end before it does.
type guest struct {
	client *eventpipe.Client
	resume sync.Once // done at once where it is not asked for
	met    bool      // it was asked who it is; for the one goroutine that has a session
}

// errGone says that a guest answers no more.
var errGone = errors.New("gone")

const (
	// goneAfter is how long a guest may take to connect again before it counts as gone.
	goneAfter = 3 * time.Second
	// endTimeout is how long a process may take to go on when the supervisor ends.
	endTimeout = time.Second
)

// accept attaches to the processes that connect to a port.
func (r *run) accept(stop context.Context, port Port) {
	for {
		c, err := port.Accept(stop)
		if err != nil {
			if stop.Err() == nil {
				r.log.Error("a port takes no processes any more", "error", err)
			}
			return
		}
		g := &guest{client: c}
		if !port.Resume {
			g.resume.Do(func() {})
		}
		r.mu.Lock()
		r.guests[c.Cookie().String()] = g
		r.mu.Unlock()
		r.attach(stop, r.ofGuest(g))
	}
}

// lookAtGuests attaches to those that are not attached to, and returns the keys of all.
func (r *run) lookAtGuests(stop context.Context) (keys []string) {
	r.mu.Lock()
	var list []*guest
	for _, g := range r.guests {
		list = append(list, g)
	}
	r.mu.Unlock()
	for _, g := range list {
		p := r.ofGuest(g)
		keys = append(keys, p.key)
		r.attach(stop, p)
	}
	return keys
}

func (r *run) ofGuest(g *guest) wanted {
	p := &Process{run: r, guest: g, Client: g.client}
	p.Cookie = g.client.Cookie()
	return wanted{key: g.client.Cookie().String(), process: p, dial: func(context.Context) (*eventpipe.Client, error) { return g.client, nil }}
}

// info asks a guest who it is. One that was asked before, and is there, has connected
// again by now.
func (r *run) info(ctx context.Context, g *guest) (eventpipe.Info, error) {
	if g.met {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, goneAfter)
		defer cancel()
	}
	g.met = true
	info, err := g.client.Info(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && ctx.Err() != nil {
		r.letGo(ctx, g)
		r.mu.Lock()
		delete(r.guests, g.client.Cookie().String())
		r.mu.Unlock()
		g.client.Close()
		return info, errGone
	}
	return info, err
}

// letGo has a process go on that waits until it is attached to, once, whatever has come
// of attaching to it.
func (r *run) letGo(stop context.Context, g *guest) {
	if g == nil {
		return
	}
	g.resume.Do(func() {
		timeout := eventpipe.DefaultTimeout
		if stop.Err() != nil {
			stop, timeout = context.WithoutCancel(stop), endTimeout
		}
		ctx, cancel := context.WithTimeout(stop, timeout)
		defer cancel()
		if err := g.client.Resume(ctx); err != nil {
			r.log.Warn("a process is not resumed", "process", g.client.String(), "error", err)
		}
	})
}

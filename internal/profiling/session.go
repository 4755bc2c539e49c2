package profiling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// Providers returns those that an analysis needs.
func Providers(needs []need.Need) []eventpipe.Provider {
	var list []eventpipe.Provider
	for _, n := range needs {
		list = append(list, eventpipe.Provider{Name: n.Provider, Keywords: n.Keywords, Level: n.Level, Arguments: n.Args})
	}
	return list
}

// A flow is a session that goes on, and who reads it.
type flow struct {
	session *eventpipe.Session
	done    chan struct{}

	mu       sync.Mutex
	trouble  error
	lost     int64
	reported int64
	bytes    int64
}

// follow starts a session of which do takes each record, one at a time.
func follow(ctx context.Context, c *eventpipe.Client, cfg eventpipe.Config, do func(*etw.Record) error) (*flow, error) {
	start, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	s, err := c.Start(start, cfg)
	if err != nil {
		return nil, err
	}
	f := &flow{session: s, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		err := drain(s, func(r *etw.Record) error {
			f.mu.Lock()
			f.lost = s.Stats().Lost
			f.mu.Unlock()
			return do(r)
		})
		f.mu.Lock()
		f.trouble, f.lost = err, s.Stats().Lost
		f.mu.Unlock()
	}()
	return f, nil
}

// drain has do take all records of a session. A process that ends is no error.
func drain(s *eventpipe.Session, do func(*etw.Record) error) error {
	var rec etw.Record
	for {
		switch err := s.Next(&rec); {
		case err == io.EOF, nettrace.IsBrokenOff(err), errors.Is(err, eventpipe.ErrClosed):
			return nil
		case errors.Is(err, etw.ErrIncomplete):
			return fmt.Errorf("what the process sends is damaged: %w", err)
		case err != nil:
			return err
		}
		var d *etw.DecodeError
		if err := do(&rec); err != nil && !errors.As(err, &d) {
			return err
		}
	}
}

// news returns how many events were lost, and how many bytes came, since it was last asked.
func (f *flow) news() (lost, bytes int64) {
	if f == nil {
		return 0, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.session.Received()
	lost, bytes = f.lost-f.reported, n-f.bytes
	f.reported, f.bytes = f.lost, n
	return lost, bytes
}

// goesOn reports whether a session has not ended.
func (f *flow) goesOn() bool {
	select {
	case <-f.done:
		return false
	default:
		return true
	}
}

// end stops a session and waits until all that it has was read.
func (f *flow) end(ctx context.Context) error {
	if f == nil {
		return nil
	}
	defer f.session.Close()
	ctx, cancel := context.WithTimeout(ctx, eventpipe.DefaultTimeout)
	defer cancel()
	if f.session.Stop(ctx) != nil {
		f.session.Close()
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		f.session.Close()
		<-f.done
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Keywords of the runtime that tell of methods: Loader, Jit, and CompilationDiagnostic,
// which has the precompiled ones when they are first called.
const methodKeywords = 0x8 | 0x10 | 0x2000000000

// names are the methods of a process, as they are known so far.
type names struct {
	flow *flow
	list bool // of all methods came

	mu   sync.Mutex
	mux  etw.Mux
	code *symbols.Analysis
}

func newNames(ctx context.Context, p *Process, buffer int) (*names, error) {
	n := new(names)
	n.code = symbols.New(&n.mux)
	var err error
	n.flow, err = follow(ctx, p.Client, eventpipe.Config{BufferMB: buffer, WithoutStacks: p.Version >= 8,
		Providers: []eventpipe.Provider{{Name: need.CLR, Keywords: methodKeywords, Level: etw.LevelVerbose}}}, n.take)
	return n, err
}

func (n *names) take(r *etw.Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mux.Dispatch(r)
}

// table returns the methods known so far.
func (n *names) table() *symbols.Table {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.code.Table()
}

// all asks for the list of all methods, by a session that has nothing else. It returns how
// many bytes that was. A process that is busy takes its time, which it has as long as bytes
// come; a list that was cut off is asked for again.
func (n *names) all(ctx context.Context, c *eventpipe.Client, buffer int) (int64, error) {
	f, err := follow(ctx, c, eventpipe.Config{BufferMB: buffer, Rundown: eventpipe.DefaultRundown,
		Providers: []eventpipe.Provider{{Name: need.CLR, Keywords: methodKeywords, Level: etw.LevelCritical}}}, n.take)
	if err != nil {
		return 0, err
	}
	defer f.session.Close()
	if err = f.session.Stop(ctx); err == nil {
		select {
		case <-f.done:
		case <-ctx.Done():
			f.session.Close()
			<-f.done
		}
		n.list, err = ctx.Err() == nil && f.session.Stats().Lost == 0, f.trouble
	}
	return f.session.Received(), err
}

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// pageProfile is the one whose events a page about a live process has.
const pageProfile = "cause"

// WithPage lets a command that serves a page about files serve one about a live process: about
// the file to which its events go as they come.
func WithPage(cmd *cobra.Command) *cobra.Command {
	files, path := cmd.RunE, ""
	m := &liveMode{}
	m.run = func(cmd *cobra.Command, m *liveMode) error {
		return m.page(cmd, path, func(path string) error { return files(cmd, []string{path}) })
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "of a live process, keep the recording as this `FILE`")
	return m.add(cmd)
}

// page records to a file for as long as do works with it. Without a path the file goes afterwards.
func (m *liveMode) page(cmd *cobra.Command, path string, do func(path string) error) error {
	folder, err := os.MkdirTemp("", "etw")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	cmd.SetContext(ctx)
	g := &growing{begun: make(chan struct{}), over: make(chan struct{}), named: make(chan struct{})}
	profile, _ := eventpipe.FindProfile(pageProfile)
	cfg := eventpipe.Config{Providers: profile.Providers, BufferMB: m.bufferMB}
	if path != "" { // others may read it who want the list at the end
		cfg.Rundown = eventpipe.DefaultRundown
	}
	l, err := openLive(cmd, &m.target, nil, cfg, m.duration)
	if err != nil {
		return err
	}
	defer l.Close()
	path = cmp.Or(path, filepath.Join(folder, l.process.defaultFile(time.Now())))
	go g.follow(l, path)
	select {
	case <-g.begun:
	case <-g.over:
		return cmp.Or(g.err, fmt.Errorf("%s ended before any event came", cli.Clean(l.String())))
	}
	cmd.SetContext(context.WithValue(ctx, cli.GrowingKey{}, cli.Growing{Over: g.over, Unnamed: g.unnamed}))
	go g.name(cmd, m)
	err = do(path)
	end()
	<-g.over
	<-g.named
	return cmp.Or(err, g.err)
}

// A growing is the file of a recording that goes on.
type growing struct {
	clock etw.Clock
	pid   int64
	begun chan struct{}
	over  chan struct{}
	err   error // until over

	mu   sync.Mutex // holds those below
	w    *nettrace.Writer
	last int64 // the time of the latest event

	named  chan struct{} // once all methods that there were are listed, or cannot be
	listed atomic.Int64
	failed error // until named
}

// unnamed says why methods have no names yet, or "".
func (g *growing) unnamed() string {
	select {
	case <-g.named:
		if g.failed != nil {
			return "methods from before have no names: " + g.failed.Error()
		}
		return ""
	default:
		return fmt.Sprintf("methods from before have no names yet: the runtime lists them, %s so far", show.Whole(g.listed.Load()))
	}
}

// name has the file get the methods that there were before.
func (g *growing) name(cmd *cobra.Command, m *liveMode) {
	defer close(g.named)
	if err := g.list(cmd, m); err != nil && cmd.Context().Err() == nil {
		g.failed = err
		cli.Report(cmd, err)
	}
}

// list has the runtime list its methods, in a session that ends at once: for a large process that
// takes more than half a minute.
func (g *growing) list(cmd *cobra.Command, m *liveMode) error {
	nothing := eventpipe.Provider{Name: clr.Provider.Desc.Name, Keywords: uint64(clr.KeywordLoader), Level: etw.LevelCritical}
	l, err := openLive(cmd, &m.target, nil, eventpipe.Config{Providers: []eventpipe.Provider{nothing}, BufferMB: m.bufferMB, Rundown: eventpipe.DefaultRundown}, 0)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(cmd.Context(), func() { l.Session.Close() })()
	r, err := nettrace.NewReader(l.Session, nettrace.WithFileOrder())
	if err != nil {
		return l.explain(err)
	}
	if err := l.Stop(cmd.Context()); err != nil {
		return err
	}
	for rec, err := range r.Records() {
		if errors.Is(err, etw.ErrIncomplete) {
			break // methods without names show addresses
		} else if err != nil {
			return err
		}
		if rec.Provider != rundown.Provider.Desc.GUID {
			continue
		}
		if err := g.add(rec); err != nil {
			return err
		}
	}
	return nil
}

// add has the file get a method that there is now.
func (g *growing) add(rec *etw.Record) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listed.Add(1)
	rec.Clock, rec.Timestamp, rec.ProcessID = &g.clock, g.last, g.pid
	return g.w.Write(rec)
}

// flushed is how often the file gets the latest events.
const flushed = 500 * time.Millisecond

// follow writes events to the file, until the session ends.
func (g *growing) follow(l *live, path string) {
	defer close(g.over)
	f, err := os.Create(path)
	if err != nil {
		g.err = err
		return
	}
	defer f.Close()
	r, err := nettrace.NewReader(l.Session)
	if err != nil {
		g.err = l.explain(err)
		return
	}
	if g.w, err = nettrace.NewWriter(f, r.Header()); err != nil {
		g.err = err
		return
	}
	g.clock, g.pid = r.Header().Clock, r.Header().ProcessID
	g.last = g.clock.Origin
	g.flush()
	done := make(chan struct{})
	defer close(done)
	go g.keep(done)
	for rec, err := range r.Records() {
		if err != nil {
			g.err = l.explain(err)
			break
		}
		if g.err = g.write(r, rec); g.err != nil {
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = cmp.Or(g.err, g.w.Close())
}

func (g *growing) write(r *nettrace.Reader, rec *etw.Record) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, rec.Timestamp)
	return g.w.Copy(r, rec)
}

// keep flushes again and again.
func (g *growing) keep(done <-chan struct{}) {
	ticker := time.NewTicker(flushed)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			g.flush()
		case <-done:
			return
		}
	}
}

// flush has the file begin, and grow.
func (g *growing) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.w.Flush() == nil {
		select {
		case <-g.begun:
		default:
			close(g.begun)
		}
	}
}

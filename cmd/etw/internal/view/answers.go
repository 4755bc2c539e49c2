package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
)

// An answer is the output of a command.
type answer struct {
	body []byte
	said string // on the standard error
	exit int
}

// Size is how much of memory it takes.
func (a *answer) Size() int { return len(a.body) }

// The most that is kept of answers, and the largest one.
const (
	mostKept  = 64 << 20
	mostBytes = 64 << 20
)

// ask runs a command line, or returns its output from before. One runs at a time, and one besides
// reads the traces: its findings are kept for those behind it. So a question whose findings are
// known does not wait for a pass, nor a known answer for anything.
func (s *server) ask(ctx context.Context, args []string) (*answer, error) {
	p := &passing{s: s}
	a, err := s.take(ctx, s.turn, args, func(ctx context.Context) context.Context {
		p.ctx = ctx
		ctx = context.WithValue(ctx, cli.PassKey{}, p.begin)
		ctx = context.WithValue(ctx, cli.SoFarKey{}, s.pass.tellSoFar)
		return context.WithValue(ctx, cli.ProgressKey{}, p.tell)
	})
	if !p.read && len(s.passes) > 0 {
		s.drawn.Store(time.Now().Add(drawing).UnixNano())
	}
	return a, err
}

// A passing is a command that may read the traces.
type passing struct {
	s      *server
	ctx    context.Context
	reads  bool
	read   bool // now or before
	begun  time.Time
	waited time.Duration // for others, since then
}

// begin waits for the pass of the command, and lets another one have its turn until that is over.
func (p *passing) begin() (end func(), err error) {
	if p.reads {
		return func() {}, nil
	}
	s := p.s
	<-s.turn
	select {
	case s.passes <- struct{}{}:
	case <-p.ctx.Done():
		s.turn <- struct{}{}
		return nil, p.ctx.Err()
	}
	p.reads, p.read, p.begun, p.waited = true, true, time.Now(), 0
	over := s.pass.begin()
	return func() {
		over()
		p.reads = false
		<-s.passes
		s.turn <- struct{}{}
	}, nil
}

// tell notes how far the pass came, and has it wait while somebody else has the turn, and while a
// page draws the answer.
func (p *passing) tell(_ int64, share float64) {
	p.s.pass.tell(share)
	if !p.reads {
		return
	}
	drawn := func() time.Duration { return time.Until(time.Unix(0, p.s.drawn.Load())) }
	select {
	case p.s.turn <- struct{}{}:
		<-p.s.turn
		if drawn() <= 0 {
			return
		}
	default:
	}
	begun := time.Now()
	defer func() { p.waited += time.Since(begun) }()
	timer := time.NewTimer(grace + begun.Sub(p.begun) - 2*p.waited)
	defer timer.Stop()
	select {
	case p.s.turn <- struct{}{}:
		<-p.s.turn
	case <-timer.C:
		return
	case <-p.ctx.Done():
		return
	}
	select {
	case <-time.After(drawn()):
	case <-timer.C:
	case <-p.ctx.Done():
	}
}

// grace is how much longer a pass waits for others than it reads, at most, and drawing how long a
// page may take to draw an answer.
const grace, drawing = time.Second, 300 * time.Millisecond

// leap does so for events, which have a turn of their own: where the trace has places to begin
// at, they do not wait for a pass, and take none.
func (s *server) leap(ctx context.Context, args []string) (*answer, error) {
	return s.take(ctx, s.leaps, args, func(ctx context.Context) context.Context {
		return context.WithValue(ctx, cli.LeapKey{}, true)
	})
}

// take waits for a turn and runs a command line in a context with what with adds.
func (s *server) take(ctx context.Context, turn chan struct{}, args []string, with func(context.Context) context.Context) (*answer, error) {
	key := fmt.Sprintf("%q", args) + cli.Stamps(args)
	if a, ok := s.kept.Get(key); ok {
		return a.(*answer), nil
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a, ok := s.kept.Get(key); ok { // somebody before asked the same
		return a.(*answer), nil
	}
	ctx = context.WithValue(with(ctx), cli.ShelfKey{}, &s.shelf)
	stdout, stderr := &desk.Buffer{Most: mostBytes}, &desk.Buffer{Most: 64 << 10}
	a := &answer{exit: s.run(ctx, args, bytes.NewReader(nil), stdout, stderr)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if stdout.Full {
		return nil, errLarge
	}
	a.body, a.said = stdout.Bytes(), strings.TrimSpace(stderr.String())
	if len(a.body) > 0 || ctx.Value(cli.LeapKey{}) == nil { // the whole trace may say why there is nothing
		s.kept.Put(key, a)
	}
	return a, nil
}

// errLarge refuses an answer that a browser could not hold either.
var errLarge = fmt.Errorf("the answer is larger than %d MB: ask for less", mostBytes>>20)

// A pass is a command that reads the traces, under way or over.
type pass struct {
	mu    sync.Mutex
	begun time.Time // zero before the first one
	took  time.Duration
	over  bool
	share float64 // that was read; negative if that is not known
	soFar []byte  // the answer until then, if it is one that grows
}

// begin begins a pass, and returns a function that ends it.
func (p *pass) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.over, p.share, p.soFar = time.Now(), false, 0, nil
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.took, p.over, p.soFar = time.Since(p.begun), true, nil
	}
}

// tell notes how far the pass came.
func (p *pass) tell(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = share
}

// tellSoFar notes the answer so far.
func (p *pass) tellSoFar(v any) {
	text, err := json.Marshal(v)
	if err != nil || len(text) > mostSoFar {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.soFar = text
}

// mostSoFar is how large an answer may be that a page asks for again and again.
const mostSoFar = 4 << 20

// A told is how far a pass came.
type told struct {
	Done    bool    `json:"done"`
	Seconds float64 `json:"seconds"`
	Read    *int64  `json:"read"` // bytes of the traces; null if that is not known
	Size    int64   `json:"size"`
	// SoFar is the answer until now of a pass whose answer grows; those who wait for another
	// one do not ask for it.
	SoFar json.RawMessage `json:"soFar,omitempty"`
}

// now returns how far the pass came, or the last one if there is none.
func (p *pass) now(files []file) told {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := told{Done: p.over || p.begun.IsZero(), Seconds: p.took.Seconds(), SoFar: p.soFar}
	for _, f := range files {
		t.Size += f.Size
	}
	share := min(p.share, 1)
	if t.Done {
		share = 1
	} else {
		t.Seconds = time.Since(p.begun).Seconds()
	}
	if share >= 0 {
		n := int64(share * float64(t.Size))
		t.Read = &n
	}
	return t
}

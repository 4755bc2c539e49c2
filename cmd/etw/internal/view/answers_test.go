package view

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// TestPasses: while a question takes a pass over the traces, those whose findings are known are
// answered, and others that take one wait for it, unless nobody waits for them.
func TestPasses(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	run := func(ctx context.Context, args []string, _ io.Reader, stdout, _ io.Writer) int {
		cmd := new(cobra.Command)
		cmd.SetContext(ctx)
		if args[0] == "pass" {
			_, err := cli.Kept(cmd, args[1], func() (int, error) {
				begun <- struct{}{}
				<-goOn
				end, err := cli.Pass(cmd) // that it has already
				end()
				return 1, err
			})
			if err != nil {
				return 1
			}
		}
		io.WriteString(stdout, args[1])
		return 0
	}
	s := &server{run: run, turn: make(chan struct{}, 1), passes: make(chan struct{}, 1), leaps: make(chan struct{}, 1)}
	answered := make(chan error)
	ask := func(ctx context.Context, args ...string) {
		a, err := s.ask(ctx, args)
		if err == nil && string(a.body) != args[1] {
			err = errors.New(string(a.body))
		}
		answered <- err
	}
	wait := func(want error) {
		t.Helper()
		if err := <-answered; !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	go ask(t.Context(), "pass", "first")
	<-begun
	go ask(t.Context(), "known", "second")
	wait(nil)
	if s.pass.now(nil).Done {
		t.Error("the pass is said to be over")
	}
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx, "pass", "third")
	cancel()
	wait(context.Canceled)
	go ask(t.Context(), "known", "fourth")
	wait(nil)
	goOn <- struct{}{}
	wait(nil)
	if len(s.turn)+len(s.passes) > 0 || !s.pass.now(nil).Done {
		t.Error("the pass is not over")
	}
}

// A noticed is a context that tells when somebody begins to wait for its end.
type noticed struct {
	context.Context
	waits chan struct{}
}

func (n noticed) Done() <-chan struct{} {
	select {
	case n.waits <- struct{}{}:
	default:
	}
	return n.Context.Done()
}

// TestPassWaits: a pass goes on when the others have their answers, when nobody waits for its own,
// or when it has waited long enough.
func TestPassWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name   string
		waited time.Duration // before
		end    func(*server)
	}{
		{"others have their answers", 0, func(s *server) { <-s.turn }},
		{"it waited as long as it read", time.Hour, nil},
		{"others have drawn theirs", 0, func(s *server) {
			s.drawn.Store(time.Now().Add(10 * time.Millisecond).UnixNano())
			<-s.turn
		}},
		{"nobody waits for it", 0, func(*server) { cancel() }},
	} {
		s := &server{turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		n := noticed{ctx, make(chan struct{}, 1)}
		p := &passing{s: s, ctx: n, reads: true, begun: time.Now().Add(-time.Hour), waited: c.waited}
		over := make(chan struct{})
		go func() {
			p.tell(0, 0.5)
			close(over)
		}()
		<-n.waits
		if c.end != nil {
			select {
			case <-over:
				t.Errorf("%s: it did not wait until then", c.name)
			default:
			}
			c.end(s)
		}
		<-over
		if time.Now().UnixNano() < s.drawn.Load() {
			t.Errorf("%s: it went on before", c.name)
		}
		if p.waited <= c.waited || s.pass.share != 0.5 {
			t.Errorf("%s: it waited %v, and told %v", c.name, p.waited, s.pass.share)
		}
	}
}

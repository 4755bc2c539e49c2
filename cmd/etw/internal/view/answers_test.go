package view

import (
	"context"
	"errors"
	"io"
	"testing"

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

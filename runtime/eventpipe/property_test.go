package eventpipe

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A conversation is a sequence of commands, the answers to which are tampered with.
type conversation struct {
	name     string
	commands []uint16      // whose answers are changed, one at a time
	limit    time.Duration // that all may take
	talk     func(ctx context.Context, c *Client) error
}

var conversations = []conversation{
	{"info", []uint16{eventpipetest.ProcessInfo3, eventpipetest.ProcessInfo2, eventpipetest.ProcessInfo}, 3 * DefaultTimeout,
		func(ctx context.Context, c *Client) error {
			_, err := c.Info(ctx)
			return err
		}},
	{"environment", []uint16{eventpipetest.Environment}, DefaultTimeout, func(ctx context.Context, c *Client) error {
		_, err := c.Environment(ctx)
		return err
	}},
	{"resume", []uint16{eventpipetest.ResumeRuntime, eventpipetest.ApplyStartupHook}, 2 * DefaultTimeout, func(ctx context.Context, c *Client) error {
		if err := c.Resume(ctx); err != nil {
			return err
		}
		return c.ApplyStartupHook(ctx, filepath.Join(os.TempDir(), "hook.dll"))
	}},
	{"session", []uint16{eventpipetest.CollectTracing2, eventpipetest.StopTracing}, DefaultTimeout + time.Second + 2*DefaultStopTimeout,
		func(ctx context.Context, c *Client) error {
			s, err := c.Start(ctx, testConfig)
			if err != nil {
				return err
			}
			defer s.Close()
			time.AfterFunc(time.Second, func() { s.Stop(ctx) })
			_, err = count(s)
			return err
		}},
}

// manipulations are changes at a byte. The long delay is past every deadline.
var manipulations = []eventpipetest.Tampered{
	{Cut: true}, {Delay: time.Hour}, {Delay: 500 * time.Millisecond}, {Mask: 0x01}, {Mask: 0x80}, {Mask: 0xff},
}

// TestTampering cuts, delays and garbles every answer, and the stream of a session, at every
// byte: each command ends in time, with an error or without, and no goroutine is left.
// Delays do no harm.
func TestTampering(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	cases := 0
	for _, talk := range conversations {
		for _, cmd := range talk.commands {
			for _, m := range manipulations {
				for at, more := 0, true; more && at < 2000; at += step {
					m.At = at
					more = tampered(t, talk, cmd, m)
					cases++
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 5000/step {
		t.Errorf("%d cases are too few to be all", cases)
	}
}

// tampered has a conversation with a manipulation. It reports whether there was a byte
// to change.
func tampered(t *testing.T, talk conversation, cmd uint16, m eventpipetest.Tampered) (reached bool) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := eventpipetest.NewRuntime(9)
		if cmd == eventpipetest.ProcessInfo2 || cmd == eventpipetest.ProcessInfo {
			rt.Refuse = map[uint16]uint32{eventpipetest.ProcessInfo3: uint32(CodeUnknownCommand)}
		}
		if cmd == eventpipetest.ProcessInfo {
			rt.Refuse[eventpipetest.ProcessInfo2] = uint32(CodeUnknownCommand)
		}
		rt.Stream, rt.Rest = recording(3)
		rt.Tamper = func(command uint16, w net.Conn) net.Conn {
			if command != cmd {
				return w
			}
			c := m
			c.Conn, c.Reached = w, func() { reached = true }
			return &c
		}
		begin := time.Now()
		err := talk.talk(ctx, pipes(rt))
		what := fmt.Sprintf("%s: %v, byte %d, cut %v, delay %v, mask %#x: %v", talk.name, command(cmd), m.At, m.Cut, m.Delay, m.Mask, err)
		soon(t, begin, talk.limit, what)
		if harmless := !m.Cut && m.Mask == 0 && m.Delay < time.Second; err != nil && harmless {
			t.Error(what)
		}
	})
	return reached
}

package eventpipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// A scripted connection gives the same answer, whatever the command.
type scripted struct{ io.Reader }

func (scripted) Write(b []byte) (int, error)     { return len(b), nil }
func (scripted) Close() error                    { return nil }
func (scripted) SetDeadline(time.Time) error     { return nil }
func (scripted) SetReadDeadline(time.Time) error { return nil }

// FuzzAnswers gives arbitrary answers to all commands. An invalid answer must be an error,
// and an error must be one of those that are documented.
func FuzzAnswers(f *testing.F) {
	rt := eventpipetest.NewRuntime(9)
	for _, cmd := range []command{processInfo3, environment, resumeRuntime, collectTracing} {
		var b bytes.Buffer
		answer(rt, cmd, &b)
		f.Add(b.Bytes())
	}
	f.Add([]byte("DOTNET_IPC_V1\x00\x18\x00\xff\xff\x00\x00\x85\x13\x13\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := context.Background()
		c := &Client{name: "fuzz", connect: func(context.Context) (conn, error) { return scripted{bytes.NewReader(data)}, nil }}
		known := func(what string, err error) {
			var refused *RefusedError
			switch {
			case err == nil, errors.As(err, &refused), errors.Is(err, ErrProtocol), errors.Is(err, ErrNoAnswer), errors.Is(err, io.ErrUnexpectedEOF):
			default:
				t.Errorf("%s: %v", what, err)
			}
			if err == nil && len(data) < headerSize {
				t.Errorf("%s is content with %d bytes", what, len(data))
			}
		}
		info, err := c.Info(ctx)
		known("Info", err)
		if len(info.CommandLine) > 3*len(data) {
			t.Errorf("%d bytes of %d", len(info.CommandLine), len(data))
		}
		list, err := c.Environment(ctx)
		known("Environment", err)
		if len(list) > len(data) {
			t.Errorf("%d variables of %d bytes", len(list), len(data))
		}
		known("Resume", c.Resume(ctx))
		s, err := c.Start(ctx, testConfig)
		known("Start", err)
		if err == nil {
			count(s) // any error will do: the reader has tests of its own
			s.Close()
		}
	})
}

// answer writes a runtime's answer to a command.
func answer(rt *eventpipetest.Runtime, cmd command, w io.Writer) {
	data, err := newMessage(cmd).seal()
	if err != nil {
		panic(err)
	}
	rt.Serve(exchange{bytes.NewReader(data), w})
}

// An exchange is a connection that reads a command and keeps the answer.
type exchange struct {
	io.Reader
	io.Writer
}

func (exchange) Close() error                     { return nil }
func (exchange) LocalAddr() net.Addr              { return nil }
func (exchange) RemoteAddr() net.Addr             { return nil }
func (exchange) SetDeadline(time.Time) error      { return nil }
func (exchange) SetReadDeadline(time.Time) error  { return nil }
func (exchange) SetWriteDeadline(time.Time) error { return nil }

package eventpipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// start starts a session, or fails.
func start(t *testing.T, ctx context.Context, rt *eventpipetest.Runtime) *Session {
	t.Helper()
	s, err := pipes(rt).Start(ctx, testConfig)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStopAndThenRead stops a session of which nobody reads, in the goroutine that
// reads it.
func TestStopAndThenRead(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(5))
		if s.Header().ProcessID != 0 || s.Stats().Records != 0 {
			t.Error("a header and records before the first")
		}
		wantError(t, "Stop", s.Stop(ctx), nil)
		wantError(t, "the second Stop", s.Stop(ctx), nil)
		n, err := count(s)
		if n != 5 || err != nil {
			t.Errorf("%d records, %v; want 5", n, err)
		}
		if h, stats := s.Header(), s.Stats(); h.ProcessID != 4711 || !stats.Stopped || stats.Bytes != s.Received() {
			t.Errorf("header %+v, stats %+v, %d received", h, stats, s.Received())
		}
		wantError(t, "a Stop after the end", s.Stop(ctx), nil)
		wantError(t, "Close", s.Close(), nil)
	})
}

// TestRead checks that a session read as bytes is the file.
func TestRead(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(50)
		s := start(t, ctx, rt)
		defer s.Close()
		time.AfterFunc(time.Minute, func() { s.Stop(ctx) })
		got, err := io.ReadAll(s)
		wantError(t, "reading", err, nil)
		if want := append(rt.Stream, rt.Rest...); !bytes.Equal(want, got) {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
		if _, err := s.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("after the end: %v, want %v", err, io.EOF)
		}
		stops := 0
		for _, r := range rt.Requests() {
			if r.Command == eventpipetest.StopTracing {
				stops++
			}
		}
		if stops != 1 {
			t.Errorf("%d commands to stop, want 1", stops)
		}
	})
}

// TestTwoSessions reads two sessions of one process at once.
func TestTwoSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(5)
		a, b := start(t, ctx, rt), start(t, ctx, rt)
		defer a.Close()
		defer b.Close()
		for _, s := range []*Session{b, a} {
			go s.Stop(ctx)
			if n, err := count(s); n != 5 || err != nil {
				t.Errorf("%d records, %v; want 5", n, err)
			}
		}
	})
}

// TestHangingStop checks that a runtime which hangs in a stop is given up.
func TestHangingStop(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(0)
		stream, _ := recording(3)
		rt.Record = func(w io.Writer, stopped <-chan struct{}) {
			w.Write(stream)
			<-stopped
			time.Sleep(time.Hour)
		}
		s := start(t, ctx, rt)
		wantError(t, "Stop", s.Stop(ctx), nil)
		began := time.Now()
		n, err := count(s)
		if n != 3 {
			t.Errorf("%d records, want 3", n)
		}
		wantError(t, "the end", err, context.DeadlineExceeded)
		wantError(t, "the end", err, etw.ErrIncomplete)
		soon(t, began, DefaultStopTimeout, "giving up")
		wantError(t, "Close", s.Close(), nil)
	})
}

// TestSlowRundown checks that a rundown may take long, if something comes.
func TestSlowRundown(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(0)
		stream, rest := recording(3)
		rt.Record = func(w io.Writer, stopped <-chan struct{}) {
			<-stopped
			for _, b := range append(stream, rest...) {
				time.Sleep(DefaultStopTimeout - time.Second)
				w.Write([]byte{b})
			}
		}
		s := start(t, ctx, rt)
		defer s.Close()
		wantError(t, "Stop", s.Stop(ctx), nil)
		if n, err := count(s); n != 3 || err != nil {
			t.Errorf("%d records, %v; want 3", n, err)
		}
	})
}

// TestRefusedStop checks that a session ends which the runtime does not end.
func TestRefusedStop(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(3)
		rt.Refuse = map[uint16]uint32{eventpipetest.StopTracing: uint32(CodeFailed)}
		s := start(t, ctx, rt)
		wantError(t, "Stop", s.Stop(ctx), nil)
		n, err := count(s)
		var refused *RefusedError
		if n > 3 || !errors.As(err, &refused) {
			t.Errorf("%d records, %v", n, err)
		}
		s.Close()
	})
}

// TestDetach closes a session without a stop, while somebody reads.
func TestDetach(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(5))
		time.AfterFunc(time.Second, func() { s.Close() })
		n, err := count(s)
		if n != 5 {
			t.Errorf("%d records, want 5", n)
		}
		wantError(t, "the end", err, ErrClosed)
		if !errors.Is(err, fs.ErrClosed) || errors.Is(err, etw.ErrIncomplete) {
			t.Errorf("the end is %v, want one's own closing, and no damage", err)
		}
		wantError(t, "Stop", s.Stop(ctx), nil)
	})
}

// TestRunEnds ends a Mux that waits for a process which is silent by its context.
func TestRunEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(5))
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		begun := time.Now()
		var mux etw.Mux
		wantError(t, "Run", mux.Run(ctx, s), context.DeadlineExceeded)
		if took := time.Since(begun); took != time.Hour || mux.Stats().Records != 5 {
			t.Errorf("it took %v, for %v", took, mux.Stats())
		}
	})
}

// TestCloseAtOnce closes a session that nobody has read.
func TestCloseAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(5))
		s.Close()
		s.Close()
		_, err := count(s)
		wantError(t, "reading", err, ErrClosed)
		if err := s.Next(new(etw.Record)); err != io.EOF {
			t.Errorf("after the error: %v, want %v", err, io.EOF)
		}
	})
}

// TestEndOfProcess ends the process in the middle, with and without the end of the
// trace.
func TestEndOfProcess(t *testing.T) {
	for name, want := range map[string]error{"orderly": nil, "killed": nettrace.ErrNotStopped} {
		inBubble(t, func(t *testing.T, ctx context.Context) {
			rt := recorder(0)
			stream, rest := recording(3)
			rt.Record = func(w io.Writer, _ <-chan struct{}) {
				w.Write(stream)
				if want == nil {
					w.Write(rest)
				}
			}
			s := start(t, ctx, rt)
			n, err := count(s)
			if n != 3 {
				t.Errorf("%s: %d records, want 3", name, n)
			}
			wantError(t, name, err, want)
			wantError(t, name+": Stop", s.Stop(ctx), nil)
			s.Close()
		})
	}
}

// TestStopOfEndingProcess stops a session whose process has just ended.
func TestStopOfEndingProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(3)
		s := start(t, ctx, rt)
		s.client.connect = func(context.Context) (conn, error) { return nil, ErrNotFound }
		wantError(t, "Stop", s.Stop(ctx), nil)
		wantError(t, "the second Stop", s.Stop(ctx), nil)
		_, err := count(s) // the fake one does not end; it is given up
		wantError(t, "the end", err, context.DeadlineExceeded)
		s.Close()
	})
}

// TestStopAgain checks that a stop which could not be sent may be tried again.
func TestStopAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(3))
		connect := s.client.connect
		failed := errors.New("too many open files")
		s.client.connect = func(context.Context) (conn, error) { return nil, failed }
		wantError(t, "Stop", s.Stop(ctx), failed)
		s.client.connect = connect
		wantError(t, "Stop", s.Stop(ctx), nil)
		if n, err := count(s); n != 3 || err != nil {
			t.Errorf("%d records, %v; want 3", n, err)
		}
		s.Close()
	})
}

// TestRefusedSession checks the error when there are too many sessions.
func TestRefusedSession(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := recorder(3)
		rt.Refuse = map[uint16]uint32{eventpipetest.CollectTracing2: uint32(CodeFailed)}
		_, err := pipes(rt).Start(ctx, testConfig)
		if err == nil || !strings.Contains(err.Error(), "64") {
			t.Errorf("%v does not say how many sessions there can be", err)
		}
	})
}

// TestMuxRun dispatches a live session.
func TestMuxRun(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := start(t, ctx, recorder(7))
		defer s.Close()
		time.AfterFunc(time.Second, func() { s.Stop(ctx) })
		var mux etw.Mux
		n := 0
		mux.HandleRest(func(r *etw.Record) error {
			if n++; r.File != "process 4711" {
				t.Errorf("the record is from %q", r.File)
			}
			return nil
		})
		if err := mux.Run(ctx, s); n != 7 || err != nil {
			t.Errorf("%d records, %v; want 7", n, err)
		}
	})
}

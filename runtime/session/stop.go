package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An ending is an attempt to stop a session, for which several may wait.
type ending struct {
	done chan struct{}
	err  error
}

// Stop ends the session. It returns when the system has done so; undelivered events come to
// Next, and then io.EOF. With a [Rundown] at the end, and a reader, it returns at once: the
// reader sees the rundown, and then the end. Of a session that Attach has opened Stop ends the
// delivery, and not the session.
//
// Any goroutine may call Stop, a handler among them, and more than once. Of a session
// that has ended already it is no error. After an error the session goes on, and Stop
// may be tried again.
func (s *Session) Stop(ctx context.Context) error {
	e := s.end()
	if e == nil || s.config.endsWithRundown() && s.consumer != nil {
		return nil
	}
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done returns a channel that is closed when the session has ended, and everything that
// it had was delivered to the queue that Next reads, or written.
func (s *Session) Done() <-chan struct{} { return s.over }

// end begins to stop the session, or returns the attempt that goes on. It returns nil
// if the session has ended.
func (s *Session) end() *ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.over:
		return nil
	default:
	}
	if s.ending == nil {
		s.ending = &ending{done: make(chan struct{})}
		go s.stop(s.ending)
	}
	return s.ending
}

// stop stops the session. The call may take time, and must not be waited for by whoever
// keeps callbacks from returning: so it has a goroutine of its own.
func (s *Session) stop(e *ending) {
	defer close(e.done)
	if !s.ours {
		s.consumer.closeTrace()
		return
	}
	if s.config.endsWithRundown() {
		s.rundown()
	}
	if s.consumer != nil {
		// The session ends with all that it has, and that may wait for us to take it.
		s.consumer.queue.relax(s.config.Buffers.KB << 10 * s.config.Buffers.Max)
	}
	i, err := control(s.sys, opStop, s.name, s.handle, controlStop, newProperties())
	switch {
	case err == nil:
		s.remember(&i)
	case isGone(err): // somebody else was faster
	default:
		e.err = err
		s.mu.Lock()
		s.ending = nil
		s.mu.Unlock()
		return
	}
	go s.finishLater()
}

// finishLater notes the end of a session that was stopped, when it has delivered its events.
// A delivery that does not end is ended.
func (s *Session) finishLater() {
	if s.consumer != nil {
		select {
		case <-s.consumer.returned:
		case <-time.After(s.config.StopTimeout):
			s.consumer.closeTrace()
			<-s.consumer.returned
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
}

// closePatience is how long Close waits for the system.
const closePatience = 5 * time.Second

var errHangs = errors.New("the system does not answer")

// Interrupt is Close, as [etw.Interrupter] has it.
func (s *Session) Interrupt() { s.Close() }

// Close ends the session, if it has not ended yet, without a rundown, and the reading of it.
// Unread events are lost. Any goroutine may call it, a handler among them, and more than
// once. A session that Attach has opened goes on.
func (s *Session) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	if s.consumer != nil {
		s.consumer.giveUp()
	}
	e := s.end()
	if e == nil {
		return nil
	}
	late := time.After(closePatience)
	select {
	case <-e.done:
	case <-late:
		return fmt.Errorf("session: stop %q: %w", s.name, errHangs)
	}
	if s.consumer != nil {
		select {
		case <-s.consumer.returned:
		case <-late:
			return fmt.Errorf("session: close %q: %w", s.name, errHangs)
		}
	}
	return e.err
}

func (s *Session) isClosed() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// rundownProvider is Microsoft-Windows-DotNETRuntimeRundown.
var rundownProvider = etw.MustParseGUID("a669021c-c450-4609-a035-5af59af4df18")

// A rundown looks every rundownStep whether more was written, and ends when nothing was
// for rundownQuiet of them.
const (
	rundownQuiet          = 8
	defaultRundownTimeout = 30 * time.Second
)

var rundownStep = 250 * time.Millisecond

// rundown has the .NET runtimes write their lists, and waits until nothing more comes.
// Whoever reads need not: the system counts the events written.
func (s *Session) rundown() {
	keywords, _ := s.config.Rundown.asked(RundownAtEnd)
	if s.Enable(rundownProvider, Enablement{Level: etw.LevelVerbose, Keywords: keywords}) != nil {
		return // the session is to be stopped in any case
	}
	defer s.Disable(rundownProvider)
	timeout := time.After(cmp.Or(s.config.Rundown.Timeout, defaultRundownTimeout))
	tick := time.NewTicker(rundownStep)
	defer tick.Stop()
	for quiet, written := 0, uint32(0); quiet < rundownQuiet; {
		select {
		case <-s.closing:
			return
		case <-timeout:
			return
		case <-tick.C:
		}
		i, err := control(s.sys, opFlush, s.name, s.handle, controlFlush, newProperties())
		if err != nil {
			return
		}
		if quiet++; i.BuffersWritten != written {
			quiet, written = 0, i.BuffersWritten
		}
	}
}

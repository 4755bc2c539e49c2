package eventpipe

import (
	"context"
	"errors"
	"time"
)

// Stop has the runtime end the session: it writes the events it still has, then the rundown,
// then the end. Stop returns when the command is sent. The rest is to be read, by Next or
// Read up to io.EOF, meanwhile or afterwards: the runtime waits for it.
//
// Of a session that ended already Stop is no error, nor of a process that ends at this
// moment. After an error the session goes on, and Stop may be tried again.
func (s *Session) Stop(ctx context.Context) error {
	s.stop.Lock() // a runtime uses the number of a session again: it is stopped once
	defer s.stop.Unlock()
	if s.over.Err() != nil || s.isStopping() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.over, cancel)()
	m := newMessage(stopTracing)
	m.u64(s.id)
	var answer conn
	k, err := s.client.send(ctx, m)
	if err == nil {
		answer, err = k.release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoAnswer)
	switch {
	case s.state == closed:
		if answer != nil {
			answer.Close()
		}
		return nil
	case err != nil && !ends:
		return err
	}
	s.state = stopping
	s.conn.SetReadDeadline(time.Now().Add(s.stopTimeout))
	if answer != nil {
		s.wait.Go(func() { s.awaitStop(k, answer) })
	}
	return nil
}

func (s *Session) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == stopping
}

// awaitStop reads the answer to the command to stop, which comes when all of the
// stream was read. A runtime that refuses will not end the stream.
func (s *Session) awaitStop(k *call, answer conn) {
	defer answer.Close()
	defer context.AfterFunc(s.over, func() { answer.SetDeadline(aLongTimeAgo) })()
	kind, payload, err := readAnswer(answer)
	if err != nil || kind != answerFail {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stopping {
		s.err = k.refused(payload)
		s.conn.SetReadDeadline(aLongTimeAgo)
	}
}

package eventpipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A Session is a recording that goes on. It is read as records, by Next, or as the
// bytes of a .nettrace file, by Read, but not as both. Stop, Close and Received may be
// called while another goroutine reads.
//
// A session that nobody reads costs the process up to its buffer of memory, and after
// a Stop it blocks all commands. Read it to the end, or close it.
type Session struct {
	client      *Client
	id          uint64
	conn        conn
	stopTimeout time.Duration
	received    atomic.Int64
	source      source

	stop sync.Mutex         // held by Stop
	over context.Context    // ends when the stream does, or the session is closed
	end  context.CancelFunc // of over
	wait sync.WaitGroup     // for the answer to Stop

	mu    sync.Mutex
	state state
	err   error // with which reading ended
}

// The states of a session.
type state int

const (
	running  state = iota
	stopping       // the command to stop was sent
	closed         // by us, or by the runtime
)

// Start starts a session. ctx is for the start alone.
func (c *Client) Start(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	k, err := c.send(ctx, cfg.message())
	if err != nil {
		return nil, err
	}
	p, err := k.answer()
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, id: p.u64(), stopTimeout: cfg.StopTimeout}
	if err := p.err(k.cmd); err != nil {
		return nil, k.fail(err)
	}
	if s.conn, err = k.release(); err != nil {
		return nil, err
	}
	s.stopTimeout = cmp.Or(s.stopTimeout, DefaultStopTimeout)
	s.over, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Received returns the number of bytes that were read of the session so far. After a
// Stop it shows the progress of the rundown.
func (s *Session) Received() int64 { return s.received.Load() }

// Read reads the stream as it comes, which is a .nettrace file, up to io.EOF. It ends
// with an error after Close, and when a session that was stopped is silent for too
// long.
func (s *Session) Read(p []byte) (int, error) {
	if err := s.patience(); err != nil {
		return 0, s.ended(err)
	}
	n, err := s.conn.Read(p)
	s.received.Add(int64(n))
	if err != nil {
		err = s.ended(err)
	}
	return n, err
}

// patience bounds how long the next read may take, if the session was stopped.
func (s *Session) patience() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.state == stopping {
		s.conn.SetReadDeadline(time.Now().Add(s.stopTimeout))
	}
	return s.err
}

// ended notes that there is no more of the stream, and returns why.
func (s *Session) ended(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil: // what else failed
		err = s.err
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("eventpipe: %s: nothing came for %v after the session was stopped; the process may hang in it, and is left alone now: %w",
			s.client.name, s.stopTimeout, context.DeadlineExceeded)
	case isBroken(err): // by a process that was killed
		err = io.EOF
	}
	s.err = err
	s.finish()
	return err
}

// finish closes the connection. The caller holds mu.
func (s *Session) finish() {
	s.state = closed
	s.conn.Close()
	s.end()
}

// Close ends the session without a Stop, if it has not ended yet: the runtime notices when
// it next has something to write, and there is no rundown. Unread events are lost.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.state != closed {
		s.err = fmt.Errorf("eventpipe: %s: the session was %w", s.client.name, ErrClosed)
		s.finish()
	}
	s.mu.Unlock()
	s.wait.Wait()
	return nil
}

// Interrupt is Close, as [etw.Interrupter] has it.
func (s *Session) Interrupt() { s.Close() }

// A source has the records of a session.
type source struct {
	reader *nettrace.Reader
	failed bool // there is none, and that was said
}

// Next sets r to the next record, in the order of time, as [etw.Source] describes. It
// waits for it. After Close it returns an error that is fs.ErrClosed, and no damage.
func (s *Session) Next(r *etw.Record) error {
	err := s.next(r)
	if err != nil && err != io.EOF {
		s.mu.Lock()
		defer s.mu.Unlock()
		if errors.Is(s.err, ErrClosed) {
			return s.err
		}
	}
	return err
}

func (s *Session) next(r *etw.Record) error {
	if s.source.failed {
		return io.EOF
	}
	if s.source.reader == nil {
		reader, err := nettrace.NewReader(s, nettrace.WithName(s.client.name))
		if err != nil {
			s.source.failed = true
			return incomplete(err)
		}
		s.source.reader = reader
	}
	return s.source.reader.Next(r)
}

// incomplete returns the error for a stream that has not even a begin.
func incomplete(err error) error {
	var d *etw.Damage
	if !errors.As(err, &d) {
		return err
	}
	return &etw.IncompleteError{Damages: []*etw.Damage{d}, Count: 1}
}

// Records iterates over the records that are left, as [etw.Records] does.
func (s *Session) Records() iter.Seq2[*etw.Record, error] { return etw.Records(s) }

// Header returns the header of the stream, which is known from the first record on.
func (s *Session) Header() nettrace.Header {
	if s.source.reader == nil {
		return nettrace.Header{}
	}
	return s.source.reader.Header()
}

// Stats returns counts of Next's reading so far, among them the events that were lost. It
// must not be called while Next runs.
func (s *Session) Stats() nettrace.Stats {
	if s.source.reader == nil {
		return nettrace.Stats{}
	}
	return s.source.reader.Stats()
}

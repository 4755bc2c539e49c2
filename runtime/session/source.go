package session

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A source makes records of arriving events. One goroutine at a time has it.
type source struct {
	consumer *consumer
	decoder  decoder
	// idle is how long nothing must arrive for records to wait no longer.
	idle time.Duration
	said bool // the error at the end was returned
}

// A decoder has the records of chunks.
type decoder interface {
	// add adds a chunk, and gives its memory back when it is not needed.
	add(chunk)
	next(*etw.Record) bool
	release()
	waits() bool
	setOrigin(ticks int64)
	count(*Stats)
}

// newSource returns the source for the events of a consumer.
func newSource(c *consumer, o *Consumption, explicit bool) *source {
	s := &source{consumer: c, idle: max(o.Window, 0)}
	if !c.raw {
		if !explicit {
			o.Window, s.idle = 0, 0
		}
		s.decoder = newEventStream(&c.header.Clock, c.header.PointerSize, o, c.queue.recycle)
		return s
	}
	h := c.header
	if explicit {
		h.Processors = 0 // a record waits, whether the others have come or not
	}
	var opts []etl.Option
	if o.WithoutSchemas {
		opts = append(opts, etl.WithoutSchemas())
	}
	if o.WithoutAttribution {
		opts = append(opts, etl.WithoutAttribution())
	}
	s.decoder = &bufferStream{etl.NewStream(h, max(o.Window, 0), int64(o.WindowBytes), opts...), c.queue.recycle}
	return s
}

// A bufferStream has the records of whole buffers.
type bufferStream struct {
	*etl.Stream
	free func([]byte)
}

func (s *bufferStream) add(c chunk) {
	if unused := s.Add(c.data); unused != nil {
		s.free(unused)
	}
}

func (s *bufferStream) next(r *etw.Record) bool { return s.Next(r) }

func (s *bufferStream) release() { s.Release() }

func (s *bufferStream) waits() bool { return s.Waiting() > 0 }

func (s *bufferStream) setOrigin(ticks int64) { s.Clock().Origin = ticks }

func (s *bufferStream) count(n *Stats) {
	t := s.Stats()
	n.Buffers, n.OutOfOrder, n.Undecodable, n.Unknown, n.UnreadBytes = t.Buffers, t.OutOfOrder, t.Undecodable, t.Unknown, t.UnreadBytes
	n.Damage = t.Damage
}

func (s *eventStream) setOrigin(ticks int64) { s.clock.Origin = ticks }

func (s *eventStream) count(n *Stats) { n.OutOfOrder = s.stats.outOfOrder }

// next sets r to the next record, as [etw.Source] describes.
func (s *source) next(r *etw.Record, added func(bytes int)) error {
	for !s.decoder.next(r) {
		patience := time.Duration(0)
		if s.decoder.waits() {
			patience = s.idle
		}
		switch c, found := s.consumer.queue.take(patience); found {
		case takenChunk:
			n := len(c.data)
			s.decoder.add(c)
			added(n)
		case takenNothing:
			s.decoder.release()
		case takenEnd:
			if !s.decoder.waits() {
				return s.end()
			}
			s.decoder.release()
		}
	}
	return nil
}

// end returns the error at the end.
func (s *source) end() error {
	if s.said {
		return io.EOF
	}
	s.said = true
	<-s.consumer.returned
	if err := s.consumer.err; err != nil {
		return err
	}
	var n Stats
	s.decoder.count(&n)
	if err := n.Damage.Err(); err != nil {
		return err
	}
	return io.EOF
}

// Next sets r to the next record, and waits for it, as [etw.Source] describes. One
// goroutine at a time may call it. After [Session.Stop] it returns io.EOF when all was
// read, after [Session.Close] an error that errors.Is recognises as fs.ErrClosed. A
// session without delivery, which only writes a file, is at its end at once.
func (s *Session) Next(r *etw.Record) error {
	if s.source == nil {
		return io.EOF
	}
	if s.isClosed() {
		return s.errClosed()
	}
	err := s.source.next(r, s.added)
	switch {
	case err == nil:
		s.records.Add(1)
		if s.lookup != nil {
			s.lookup.describe(r)
		}
		if r.Kind == etw.KindClassic {
			s.look(r)
		}
	case s.isClosed():
		return s.errClosed()
	}
	return err
}

func (s *Session) errClosed() error { return fmt.Errorf("session: %q: %w", s.name, fs.ErrClosed) }

// added notes that so many bytes have arrived.
func (s *Session) added(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Bytes += int64(bytes)
	s.source.decoder.count(&s.stats)
}

// look takes the facts of a record about the session.
func (s *Session) look(r *etw.Record) {
	switch {
	case isHeader(r):
		s.source.decoder.setOrigin(r.Timestamp)
	case r.Opcode < opLostEvent || r.Opcode > opLostFile || r.Provider != lostEventClass:
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		switch r.Opcode {
		case opLostEvent:
			s.stats.NoticedEvents++
		case opLostBuffer:
			s.stats.NoticedBuffers++
		case opLostFile:
			s.stats.NoticedFiles++
		}
	}
}

// Records iterates over the records that are left, as [etw.Records] does.
func (s *Session) Records() iter.Seq2[*etw.Record, error] { return etw.Records(s) }

// Header returns the system's facts about the session, its clock among it. Of a session
// without delivery it is empty but for the name.
func (s *Session) Header() etl.Header {
	if s.consumer == nil {
		return etl.Header{SessionName: s.name}
	}
	return s.consumer.header
}

// DeliversBuffers reports whether buffers come whole.
func (s *Session) DeliversBuffers() bool { return s.consumer != nil && s.consumer.raw }

// Stats returns the counts so far. Any goroutine may call it, while another reads, too.
func (s *Session) Stats() Stats {
	if i, err := s.Query(); err == nil {
		s.remember(&i)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.stats
	n.Records = s.records.Load()
	n.add(&s.info)
	if s.consumer != nil {
		n.DroppedEvents, n.DroppedBuffers = s.consumer.queue.dropped()
	}
	return n
}

package flow

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Live is a source that goes on until it is stopped, and its destination.
type Live struct {
	Source etw.Source
	// Stop asks for the end, which the source then delivers. Close gives the rest up.
	Stop  func(context.Context) error
	Close func() error
	// Losses returns the losses so far, by place. It is called by the reader.
	Losses func() map[string]int64

	MetricsEvery time.Duration // 0 makes none
	LossEvery    time.Duration
	FlushEvery   time.Duration
	// Patience is how long the source may take to its end.
	Patience time.Duration

	reported map[string]int64
	checked  time.Time
}

// Run reads the source until its end, or until stop is done, and passes its events on. The
// error is why it ended before it was stopped.
func (l *Live) Run(stop context.Context, s *Stream) error {
	l.reported, l.checked = make(map[string]int64), time.Now()
	ended := make(chan struct{})
	watched, ticked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(stop, ended)
	}()
	go func() {
		defer close(ticked)
		l.tick(ended, s)
	}()
	err := l.read(s)
	close(ended)
	<-watched
	<-ticked
	l.lose(s)
	flushed := s.Flush(true)
	if l.MetricsEvery > 0 {
		flushed = errors.Join(flushed, s.SendMetrics())
	}
	if n := s.Abandon(); n > 0 {
		s.Lose(n, PlaceShutdown, 0)
	}
	if stop.Err() != nil {
		return nil
	}
	return errors.Join(err, flushed)
}

// read takes all records.
func (l *Live) read(s *Stream) error {
	var rec etw.Record
	var trouble error
	for {
		switch err := l.Source.Next(&rec); {
		case err == io.EOF:
			return trouble
		case errors.Is(err, etw.ErrIncomplete):
			trouble = err
			continue
		case err != nil:
			return err
		}
		if err := s.Take(&rec); err != nil {
			return err
		}
		if time.Since(l.checked) >= l.LossEvery {
			l.lose(s)
		}
	}
}

// lose reports losses since the last time.
func (l *Live) lose(s *Stream) {
	since := time.Since(l.checked)
	l.checked = time.Now()
	for place, n := range l.Losses() {
		if more := n - l.reported[place]; more > 0 {
			l.reported[place] = n
			s.Lose(more, place, since)
		}
	}
}

// watch stops the source when it is time, and closes it if that takes too long.
func (l *Live) watch(stop context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-stop.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.Patience)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- l.Stop(ctx) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	l.Close()
	<-stopped
}

// tick gives away batches that do not become full, and metrics.
func (l *Live) tick(ended <-chan struct{}, s *Stream) {
	next := time.Now().Add(l.MetricsEvery)
	for Sleep(ended, l.FlushEvery) {
		if s.Flush(false) != nil {
			return
		}
		if l.MetricsEvery > 0 && !time.Now().Before(next) {
			next = next.Add(l.MetricsEvery)
			if s.SendMetrics() != nil {
				return
			}
		}
	}
}

package flow

import (
	"sync"
	"time"

	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A StreamConfig chooses the output of a Stream.
type StreamConfig struct {
	Sender   *Sender
	Tel      *Telemetry
	Format   string // for the collector's own telemetry, such as etl
	Batch    BatchConfig
	Output   OutputConfig
	Events   *Events // or nil
	Resource []otlp.Attribute
	// Manifests are providers that are known beside those that always are.
	Manifests []*etw.Provider
	Metrics   MetricsConfig
	// Collections says that events of collections are recorded, before there is any.
	Collections bool
	// Live restricts counts to the time since the last batch: histograms and sums go on.
	Live bool
	// Counted is called with each record, as it is counted. It may be nil.
	Counted func(*etw.Record)
	// Acknowledged is called when all records so far were taken.
	Acknowledged func(records int64) error
}

// A Stream makes telemetry of the records of one source. Take is called by one
// goroutine, Flush by any.
type Stream struct {
	cfg     StreamConfig
	mu      sync.Mutex
	decoder *etw.Decoder
	taken   map[*etw.EventInfo]bool
	logs    *logs
	answers *answers // nil if there is no pipeline for metrics and spans
	records int64    // all that came
	acked   int64
	first   time.Time // when the first record of the batch came
	last    int64     // when the last record was written
	decoded int
	raw     int
	skipped int
}

// NewStream returns a stream. Skip records were given away before.
func NewStream(cfg StreamConfig) *Stream {
	s := &Stream{cfg: cfg, decoder: builtin.NewDecoder(cfg.Manifests...), taken: make(map[*etw.EventInfo]bool)}
	if cfg.Sender.Logs != nil {
		s.logs = newLogs(cfg.Output, cfg.Resource)
	}
	if cfg.Sender.Metrics != nil || cfg.Sender.Traces != nil {
		s.answers = newAnswers(&s.cfg)
	}
	return s
}

// Skip counts a record that was given away before. Its facts for later ones are learned all
// the same.
func (s *Stream) Skip(rec *etw.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(rec)
	s.acked = s.records
	if s.answers != nil {
		s.answers.take(rec)
		s.answers.spans.Reset()
	}
}

// Take takes a record. It waits for the pipelines, if the batch is full.
func (s *Stream) Take(rec *etw.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(rec)
	s.last = otlp.UnixNano(rec)
	if s.answers != nil {
		s.answers.take(rec)
	}
	if s.logs != nil {
		s.log(rec)
	}
	if s.first.IsZero() {
		s.first = time.Now()
	}
	if s.full() {
		return s.flush()
	}
	return nil
}

func (s *Stream) count(rec *etw.Record) {
	s.records++
	if s.cfg.Counted != nil {
		s.cfg.Counted(rec)
	}
}

// full reports whether the batch is. Records of which there is no log record make a
// batch, too, since a checkpoint follows it.
func (s *Stream) full() bool {
	if s.logs != nil && (s.logs.count >= s.cfg.Batch.MaxRecords || s.logs.sink.size >= s.cfg.Batch.MaxBytes) {
		return true
	}
	if s.answers != nil && (s.answers.spans.Count() >= s.cfg.Batch.MaxRecords || s.answers.spans.Size() >= s.cfg.Batch.MaxBytes) {
		return true
	}
	return s.records-s.acked >= 16*int64(s.cfg.Batch.MaxRecords)
}

// log adds a log record of an event, if it is chosen.
func (s *Stream) log(rec *etw.Record) {
	e := s.decoder.Event(rec)
	if !s.chosen(rec, e) {
		s.skipped++
		return
	}
	values, err := s.decoder.Decode(rec)
	if err != nil || values == nil {
		values = nil
		if s.raw++; s.cfg.Output.UnknownEvents == "drop" {
			s.raw--
			s.skipped++
			return
		}
	} else {
		s.decoded++
	}
	s.logs.add(rec, e, values)
}

// chosen reports whether an event is one of those that are wanted.
func (s *Stream) chosen(rec *etw.Record, e *etw.EventInfo) bool {
	if s.cfg.Events == nil {
		return true
	}
	taken, ok := s.taken[e]
	if !ok {
		taken = s.cfg.Events.chosen(rec, e)
		s.taken[e] = taken
	}
	return taken
}

// Flush passes the batch on, if the batch is old enough or all is asked for.
func (s *Stream) Flush(all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == s.acked || !all && time.Since(s.first) < s.cfg.Batch.MaxDelay {
		return nil
	}
	return s.flush()
}

// flush gives the batch away, and says that it was taken. After ErrStopped it is still
// there.
func (s *Stream) flush() error {
	if s.logs != nil && s.logs.count > 0 {
		if err := s.cfg.Sender.SendLogs(s.logs.data, s.cfg.Format); err != nil {
			return err
		}
		s.logs.reset()
	}
	if s.answers != nil {
		if err := s.answers.sendSpans(); err != nil {
			return err
		}
	}
	s.cfg.Tel.Took(s.decoded, "decoded")
	s.cfg.Tel.Took(s.raw, "raw")
	s.cfg.Tel.Took(s.skipped, "filtered")
	s.decoded, s.raw, s.skipped, s.first = 0, 0, 0, time.Time{}
	s.acked = s.records
	if s.last > 0 {
		s.cfg.Tel.last.Store(s.last)
	}
	if s.cfg.Acknowledged != nil {
		return s.cfg.Acknowledged(s.acked)
	}
	return nil
}

// SendMetrics passes on the values of counters, meters and collections. At the end of a
// source these are all, and of a live one the new ones.
func (s *Stream) SendMetrics() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil || s.cfg.Sender.Metrics == nil {
		return nil
	}
	return s.answers.sendMetrics()
}

// Records returns how many records came.
func (s *Stream) Records() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records
}

// Abandon returns how many records are not given away, and forgets them.
func (s *Stream) Abandon() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.records - s.acked
	s.acked = s.records
	return n
}

// Lose counts events that are lost, and has a log record say so.
func (s *Stream) Lose(n int64, place string, since time.Duration) error {
	return s.cfg.Sender.Lose(s.cfg.Resource, s.cfg.Format, n, place, since)
}

package provider

import (
	"io"
	"sync"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Memory is a [Sink] that keeps records. The zero Memory is empty and ready for use.
// Several goroutines may use it.
type Memory struct {
	mu      sync.Mutex
	records []*etw.Record
}

// Write keeps a copy of r.
func (m *Memory) Write(r *etw.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r.Clone())
	return nil
}

// Records returns the records so far.
func (m *Memory) Records() []*etw.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[:len(m.records):len(m.records)]
}

// Source returns a source of the records so far, for a Mux.
func (m *Memory) Source() etw.Source { return &memorySource{m.Records()} }

type memorySource struct{ rest []*etw.Record }

func (s *memorySource) Next(r *etw.Record) error {
	if len(s.rest) == 0 {
		return io.EOF
	}
	*r = *s.rest[0]
	s.rest = s.rest[1:]
	return nil
}

// Channel returns a [Sink] that sends a copy of each record to c. It waits until c takes
// it: whoever writes events waits for whoever reads them.
func Channel(c chan<- *etw.Record) Sink { return channel(c) }

type channel chan<- *etw.Record

func (c channel) Write(r *etw.Record) error {
	c <- r.Clone()
	return nil
}

package trace

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Live is a source of records that are nowhere kept, such as a session of the system.
type Live interface {
	etw.Source
	// Format names the format, as [File.Format] does.
	Format() string
	// Clock is that of the session. It must be known from the start.
	Clock() etw.Clock
	// Stats returns the counts so far.
	Stats() Stats
	// Close gives up unread records.
	Close() error
}

// Of returns the trace of a live source: whatever works on files works on it. The name
// stands in for that of a file. Closing the trace closes the source.
func Of(name string, src Live) *Trace {
	return Merge(&File{r: &liveReader{src}, name: name, size: -1})
}

// A liveReader reads other sources than files.
type liveReader struct{ Live }

func (r *liveReader) reader() etw.Source { return r.Live }

func (r *liveReader) format() string { return r.Format() }

func (r *liveReader) head() Head { return Head{} }

func (r *liveReader) clock() etw.Clock { return r.Clock() }

func (r *liveReader) stats() Stats { return r.Stats() }

// share is not known: nobody knows how much is to come.
func (r *liveReader) share(*File) float64 { return -1 }

// facts returns the facts that all sources have.
func (r *liveReader) facts(of *File) facts {
	var f facts
	clock, n := r.Clock(), r.Stats()
	f.number("clockFrequency", clock.Frequency, "Hz")
	f.time("start", clock.Start)
	if of.lastOf != nil {
		end := of.lastOf.FileTime(of.last)
		f.time("end", end)
		f.duration(max(between(clock.Start, end), time.Duration(0)))
	}
	f.number("lost", n.Lost, "")
	f.number("lostBuffers", n.LostBuffers, "")
	f.nonzero("damagedRecords", n.Undecodable, "")
	switch {
	case of.trouble != nil:
		f.ended(false, fmt.Sprintf("no: %v", of.trouble))
	case of.ended:
		f.ended(true, "yes")
	}
	return f
}

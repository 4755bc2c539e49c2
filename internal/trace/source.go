package trace

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Source is an open trace.
type Source interface {
	// Next sets rec to the next record, which is valid until the next call. After
	// the last one it returns io.EOF. Any other error says what could not be
	// read: Next may be called again, and sooner or later returns io.EOF.
	Next(rec *etw.Record) error

	// Name is that of the file, followed by that of the member of an archive.
	Name() string
	// Format is the name and version of the format, such as "nettrace 4".
	Format() string
	// Clock is that of the session.
	Clock() etw.Clock
	// Stats returns what has been counted so far.
	Stats() Stats
	// Facts returns what the trace says of itself. Some of it is known only after
	// the last record.
	Facts() []Fact
	// Progress returns the share of the trace that was read, or -1 if it is not
	// known.
	Progress() float64

	Close() error
}

// Stats are counts of what a Source has read.
type Stats struct {
	Events      int64 // delivered
	Lost        int64 // events that the session could not record
	LostBuffers int64 // buffers of the same fate
	Undecodable int64 // events that are damaged, and so were not delivered
	OutOfOrder  int64 // events that were delivered after later ones, although sorted
}

// A Fact is one thing that a trace says of itself.
type Fact struct {
	Key   string // for programs, such as "pointer_size" or "duration_ms"
	Value any    // for JSON, in the unit that ends the key
	Text  string // for people, with its unit
}

// Options say how to open a trace.
type Options struct {
	// Stdin is what the path - reads.
	Stdin io.Reader
	// Sorted asks for the order of time, which .nettrace files do not have by
	// themselves.
	Sorted bool
	// Attribute asks for the processes and threads of kernel events, whose
	// records in .etl files do not always name them.
	Attribute bool
	// UnpackLimit is how many bytes a compressed file may unpack to. With 0 that
	// depends on its size.
	UnpackLimit int64
}

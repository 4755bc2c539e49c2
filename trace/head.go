package trace

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Head is the facts in the head of a trace, in the same words for all formats. That of a
// live source is empty.
type Head struct {
	Recorder Recorder
	// SamplingInterval is the time between two samples of a thread, 0 if it is not known.
	SamplingInterval time.Duration
	// Identity has the facts that tell the session from others and stays the same while it
	// goes on, besides its clock.
	Identity []byte
	// Stopped is set if the session was stopped, and Written is how many bytes it then had
	// written, both where the head tells. Overwritten is set if it wrote over the oldest records.
	Stopped, Overwritten bool
	// NewFile is set if the session began another file whenever one was full.
	NewFile bool
	Written int64
	// Continued is set if the file goes on with a recording of which another file has the begin, as those
	// of a ring do, once its first records were read.
	Continued bool
	// Processors is how many the machine had, 0 if the head does not tell.
	Processors int
	// End is when the session ended, 0 if the head does not tell.
	End etw.FileTime
	// Zone is the local time of the machine when the session began, nil if the head does
	// not tell.
	Zone *time.Location
}

// A Recorder is a kind of program that makes traces.
type Recorder uint8

const (
	OtherRecorder Recorder = iota
	// Windows records its kernel and all processes. The records of each processor come in
	// order, and call stacks may be records of their own.
	Windows
	// DotNet is a process of .NET, which records itself.
	DotNet
	// Linux is a recorder of the kernel of Linux and of all processes.
	Linux
)

// Head returns the head of the trace.
func (f *File) Head() Head { return f.r.head() }

func identity(text string, numbers ...int64) []byte {
	b := []byte(text)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

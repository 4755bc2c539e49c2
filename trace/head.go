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
	// written, both where the head tells.
	Stopped bool
	Written int64
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

// slack is how long before a session and after it records may be all the same, besides as long as it
// took: rundowns come then, and merging adds records.
const slack = time.Minute

// Bounds returns between which times, since the trace began, records can be: that of one that is
// damaged can be any. ok is false where a file does not tell when its session ended.
func (t *Trace) Bounds() (from, to time.Duration, ok bool) {
	for _, f := range t.files {
		start, end := f.r.clock().Start, f.Head().End
		if end < start || end == 0 {
			return 0, 0, false
		}
		length := between(start, end)
		from = min(from, between(t.start, start)-length-slack)
		to = max(to, between(t.start, end)+length+slack)
	}
	return from, to, from < to
}

func identity(text string, numbers ...int64) []byte {
	b := []byte(text)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

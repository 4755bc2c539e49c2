package requests

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The runtime's own async methods, of .NET 11, have no state machines and write no events of
// tasks. A source of their own has buffers of their steps, one of a thread each. For whom
// threads work the runtime says as before; here it is counted how much there is of it, by the
// heads of buffers, since their contents are not settled yet.

const asyncProfiler = "System.Runtime.CompilerServices.AsyncProfilerEventSource"

// asyncVersion is the version of buffers that is known, and asyncHead how long their head is.
const (
	asyncVersion = 1
	asyncHead    = 37
)

// RuntimeAsync counts the runtime's events of its own async methods.
type RuntimeAsync struct {
	Buffers int `json:"buffers"`
	Events  int `json:"events"`  // in buffers
	Threads int `json:"threads"` // that had some
	// Unknown are buffers of another version, the last of which is Version, and Damaged those
	// whose sizes contradict each other; neither is in another number.
	Unknown int   `json:"unknown,omitempty"`
	Version uint8 `json:"version,omitempty"`
	Damaged int   `json:"damaged,omitempty"`
}

// asyncBuffers is a RuntimeAsync that is being made.
type asyncBuffers struct {
	RuntimeAsync
	threads map[uint64]struct{}
}

// maxAsyncThreads bounds how many threads are told apart.
const maxAsyncThreads = 1 << 16

// take takes an event with a buffer.
func (b *asyncBuffers) take(r *etw.Record) {
	p := r.Payload
	if len(p) < 5 {
		b.Damaged++
		return
	}
	size := uint64(binary.LittleEndian.Uint32(p))
	switch p = p[4:]; {
	case size > uint64(len(p)):
		b.Damaged++
	case p[0] != asyncVersion:
		b.Unknown++
		b.Version = p[0]
	case size < asyncHead, uint64(binary.LittleEndian.Uint32(p[1:])) > size,
		binary.LittleEndian.Uint64(p[29:]) < binary.LittleEndian.Uint64(p[21:]),
		uint64(binary.LittleEndian.Uint32(p[17:]))*2 > size-asyncHead: // an event has an id and a time at least
		b.Damaged++
	default:
		b.Buffers++
		b.Events += int(binary.LittleEndian.Uint32(p[17:]))
		if b.threads == nil {
			b.threads = make(map[uint64]struct{})
		}
		if len(b.threads) < maxAsyncThreads {
			b.threads[binary.LittleEndian.Uint64(p[9:])] = struct{}{}
		}
	}
}

// result returns the counts, or nil.
func (b *asyncBuffers) result() *RuntimeAsync {
	if b.Buffers+b.Unknown+b.Damaged == 0 {
		return nil
	}
	out := b.RuntimeAsync
	out.Threads = len(b.threads)
	return &out
}

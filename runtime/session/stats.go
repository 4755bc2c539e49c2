package session

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Stats are the counts of a session so far, with all that is known to be lost.
type Stats struct {
	Records int64 // delivered by Next
	Buffers int64 // that came whole
	Bytes   int64 // that arrived

	// Lost are the events that found no free buffer when they were written; LostBuffers
	// the buffers that were not delivered, since the reader is too slow; LostLogBuffers
	// those that a file did not take. The system counts them.
	Lost           int64
	LostBuffers    int64
	LostLogBuffers int64

	// NoticedEvents, NoticedBuffers and NoticedFiles count the records by which Windows
	// says, among the events, where some are missing. Each may stand for many.
	NoticedEvents, NoticedBuffers, NoticedFiles int64

	// DroppedEvents are those that our own queue dropped, see [Drop], and
	// DroppedBuffers the buffers that these were in, if buffers come whole. Events in
	// compressed buffers are not counted.
	DroppedEvents, DroppedBuffers int64

	OutOfOrder  int64 // records that were delivered after a later one
	Undecodable int64 // records that were damaged
	Unknown     int64 // records of kinds that are not known
	UnreadBytes int64 // that may have held records

	// Damage has the parts that could not be read.
	Damage etw.DamageLog
}

// HasLosses reports whether anything is known to be lost.
func (s *Stats) HasLosses() bool {
	return s.Lost+s.LostBuffers+s.LostLogBuffers+s.DroppedEvents+s.DroppedBuffers+
		s.NoticedEvents+s.NoticedBuffers+s.NoticedFiles+s.Undecodable+s.UnreadBytes > 0
}

// String returns the counts in words, of the losses those that there are.
func (s Stats) String() string {
	text := fmt.Sprintf("%d records", s.Records)
	for _, n := range []struct {
		count int64
		what  string
	}{
		{s.Lost, "events lost where they were written"},
		{s.LostLogBuffers, "buffers lost at the file"},
		{s.LostBuffers, "buffers lost in the delivery"},
		{s.DroppedEvents, "events dropped here"},
		{s.NoticedEvents + s.NoticedBuffers + s.NoticedFiles, "notices of losses"},
		{s.OutOfOrder, "out of order"},
		{s.Undecodable, "damaged"},
		{s.Unknown, "of unknown kinds"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	return text
}

// add adds the system's losses.
func (s *Stats) add(i *Info) {
	s.Lost = int64(i.EventsLost)
	s.LostLogBuffers = int64(i.LogBuffersLost)
	s.LostBuffers = int64(i.RealTimeBuffersLost)
}

package rewrite

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A lossOf is the session that lost events.
type lossOf struct {
	clock   etw.Clock
	session string
}

// Losses are the numbers of events that sessions lost. Files of one session, and the parts
// of one file, tell each its losses until they were closed, and so the largest number
// counts.
type losses map[lossOf]int64

func (l losses) note(of lossOf, n int64) {
	if n > 0 {
		l[of] = max(l[of], n)
	}
}

func (l losses) sum() int64 {
	sum := int64(0)
	for _, n := range l {
		sum += n
	}
	return sum
}

// A lossTable is the losses in a .nettrace: how many events of each thread.
type lossTable struct {
	clock   etw.Clock
	process int64
	threads map[int64]int64
}

// Of lossTables each is of other events. The parts of one file have all the same, that of
// the whole; the files of one session have each its own.
type lossTables []lossTable

func (l *lossTables) note(t lossTable) {
	maps.DeleteFunc(t.threads, func(_, n int64) bool { return n <= 0 })
	if len(t.threads) == 0 {
		return
	}
	for _, other := range *l {
		if other.clock == t.clock && other.process == t.process && maps.Equal(other.threads, t.threads) {
			return
		}
	}
	*l = append(*l, t)
}

// lostOfSessions returns the events and buffers that sessions lost, and those that the files
// lost since: an .etl has no other place to say that it is a part. Each damage is of one
// buffer at least, and each record that could not be read one event.
func lostOfSessions(readers []*etl.Reader) (events, buffers int64) {
	inEvents, inBuffers := make(losses), make(losses)
	for _, r := range readers {
		n := r.Stats()
		of := lossOf{clock: r.Header().Clock, session: r.Header().SessionName}
		inEvents.note(of, n.Lost)
		inBuffers.note(of, n.LostBuffers)
		damaged := int64(n.Damage.Count)
		for _, d := range n.Damage.Damages {
			if errors.Is(d, etl.ErrMissing) || errors.Is(d, etl.ErrSurplus) || errors.Is(d, etl.ErrRecord) {
				damaged--
			}
		}
		events += n.Undecodable
		buffers += max(n.MissingBuffers, damaged)
	}
	return events + inEvents.sum(), buffers + inBuffers.sum()
}

// isBrokenOff reports whether the end of a stream is missing.
func isBrokenOff(r *nettrace.Reader) bool {
	n := r.Stats()
	return slices.ContainsFunc(n.Damage.Damages, func(d *etw.Damage) bool {
		return errors.Is(d, nettrace.ErrNotStopped) || errors.Is(d, io.ErrUnexpectedEOF)
	})
}

package trace

import (
	"hash/maphash"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A runtime of .NET writes an event to each session that records it, at once, and each takes the
// time itself: files of sessions that overlap have copies of it, microseconds apart. Between two
// copies the thread has no other event of the kind. One of them counts.
type copies struct {
	seed     maphash.Seed
	sessions []*recording // of the files: nil for those of another kind, or clock
	last     map[copyKey]*copied
	found    int64
}

// A recording is a session of one process.
type recording struct {
	pid   int64
	clock *etw.Clock // shared by those that can have copies
	began int64      // in its ticks
}

// A copyKey is a kind of event of a thread.
type copyKey struct {
	event    etw.Key
	clock    *etw.Clock
	pid, tid int64
}

// copied is the last event of a kind of a thread.
type copied struct {
	sum uint64
	at  int64
	in  []*recording // that had it
}

// copiesLast is how far copies are apart at most, by parts of a second: a thread may lose its
// processor between them.
const copiesLast = 50

// maxCopied bounds the events that are kept in mind.
const maxCopied = 1 << 16

// newCopies returns nil if no two of the sessions are of one process. It changes the list.
func newCopies(sessions []*recording) *copies {
	any := false
	for i, s := range sessions {
		for _, other := range sessions[:i] {
			switch {
			case s == nil || other == nil || other.pid != s.pid || other.clock != s.clock:
			case other.began == s.began: // another part of it
				sessions[i] = other
			default:
				any = true
			}
		}
	}
	if !any {
		return nil
	}
	return &copies{seed: maphash.MakeSeed(), sessions: sessions, last: make(map[copyKey]*copied)}
}

// has reports whether r, of a file, is the copy of a record of another session.
func (c *copies) has(file int, r *etw.Record) bool {
	if c == nil || c.sessions[file] == nil {
		return false
	}
	s := c.sessions[file]
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.Write(r.ActivityID[:])
	h.Write(r.Payload)
	k, sum, longest := copyKey{r.Key(), s.clock, r.ProcessID, r.ThreadID}, h.Sum64(), s.clock.Frequency/copiesLast
	l := c.last[k]
	if l != nil && l.sum == sum && l.at >= s.began && r.Timestamp-l.at <= longest && !slices.Contains(l.in, s) {
		l.in = append(l.in, s)
		c.found++
		return true
	}
	if l == nil {
		if len(c.last) >= maxCopied {
			clear(c.last)
		}
		l = new(copied)
		c.last[k] = l
	}
	*l = copied{sum, r.Timestamp, append(l.in[:0], s)}
	return false
}

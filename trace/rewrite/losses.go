package rewrite

import (
	"maps"

	"github.com/etwgen/etwgen/runtime/etw"
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

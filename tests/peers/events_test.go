package peers

import (
	"fmt"
	"math"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A kind of events.
type kind struct {
	provider string
	id       uint16
	version  uint8
}

type peerCount struct {
	Provider string
	ID       uint16
	Version  uint8
	Count    int64
}

type peerInfo struct {
	Events, EventsLost, EventsWithStack, StackAddresses int64
	EventsByProcess, EventsByThread                     map[int64]int64
	FirstEventTicks, LastEventTicks                     int64
	Complete                                            bool
}

// ownInfo is our counts of the same.
type ownInfo struct {
	events, lost, withStack, addresses int64
	ownStacks                          int64 // of events that TraceEvent drops them of
	processes, threads                 map[int64]int64
	first, last                        int64
	dependent                          int // references that weak tables make
}

func newInfo() ownInfo {
	return ownInfo{processes: map[int64]int64{}, threads: map[int64]int64{}, first: math.MaxInt64, last: math.MinInt64}
}

func (i *ownInfo) add(r *etw.Record) {
	i.events++
	switch n := r.Stack.Len(); {
	case n == 0:
	case isMethodStack(r):
		i.ownStacks++
	default:
		i.withStack++
		i.addresses += int64(n)
	}
	i.processes[r.ProcessID]++
	i.threads[r.ThreadID]++
	i.first, i.last = min(i.first, r.Timestamp), max(i.last, r.Timestamp)
}

// isMethodStack reports whether r is one of the events that say where methods are.
func isMethodStack(r *etw.Record) bool {
	switch r.Provider {
	case rundown.Provider.Desc.GUID:
		return true
	case clr.Provider.Desc.GUID:
		return r.ID >= 140 && r.ID <= 144 || r.ID == 190
	}
	return false
}

// peerDynamic is the least of the ids that TraceEvent makes up for dynamicEvent.
const peerDynamic = 65000

var dynamicEvent = (*clr.GCDynamicEvent)(nil).EventDesc().ID

// compareEvents compares how many events of each kind there are, of whom and when.
func compareEvents(s *sheet) {
	i := &s.theirs.Info
	if !i.Complete {
		s.differs(whyQueued)
	}
	theirs := map[kind]int64{}
	for _, c := range s.theirs.Counts {
		k := kind{c.Provider, c.ID, c.Version}
		if k.provider == clr.Provider.Desc.Name && k.id >= peerDynamic {
			s.differs(whyDynamic)
			k.id = dynamicEvent
		}
		theirs[k] += c.Count
	}
	for k, n := range theirs {
		s.equal(fmtKind(k), s.counts[k], n)
	}
	for k, n := range s.counts {
		if _, ok := theirs[k]; !ok {
			s.equal(fmtKind(k), n, int64(0))
		}
	}
	if s.info.ownStacks > 0 {
		s.differs(whyMethodStacks)
	}
	s.equal("events", s.info.events, i.Events)
	s.equal("lost", s.info.lost, i.EventsLost)
	s.equal("stacks", s.info.withStack, i.EventsWithStack)
	s.equal("addresses", s.info.addresses, i.StackAddresses)
	s.equal("the first time", s.info.first, i.FirstEventTicks)
	s.equal("the last time", s.info.last, i.LastEventTicks)
	for id, n := range i.EventsByProcess {
		s.equal("events of a process", s.info.processes[id], n)
	}
	for id, n := range i.EventsByThread {
		s.equal("events of a thread", s.info.threads[id], n)
	}
}

func fmtKind(k kind) string {
	return fmt.Sprintf("the number of events %d, version %d, of %s", k.id, k.version, k.provider)
}

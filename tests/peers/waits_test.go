package peers

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

type peerWait struct {
	ElapsedMS, StartMS, DurationNS float64
	TID, OwnerThread               int64
	LockID                         uint64
}

type peerContention struct {
	Starts, Stops, Open, Restarts, StopsWithoutStart int
	LongestMS, TotalMSByDurationNS, TotalMSByEvents  float64
	Contentions                                      []peerWait
}

type peerWaits struct {
	Starts, Stops, Open, Restarts, StopsWithoutStart int
	LongestMS, TotalMS                               float64
	Waits                                            []peerWait
}

func compareContention(s *sheet) {
	theirs := &s.theirs.Contention
	if theirs.Starts+theirs.Stops+len(s.ours.Contention.Runtimes) == 0 {
		return
	}
	count, open, without, byEvents, longest := 0, 0, 0, 0.0, 0.0
	for _, rt := range s.ours.Contention.Runtimes {
		count, open, without = count+rt.Count, open+rt.Open, without+rt.StopsWithoutStart
		byEvents += rt.TotalByEventsMS
		for i := range rt.Longest {
			longest = max(longest, rt.Longest[i].DurationMS)
		}
	}
	s.equal("count", count, theirs.Stops)
	s.equal("open", open, theirs.Open)
	s.equal("stops without a start", without, theirs.StopsWithoutStart)
	s.near("total by the runtime", s.ours.Contention.TotalMS, theirs.TotalMSByDurationNS)
	s.near("total by events", byEvents, theirs.TotalMSByEvents)

	byKey := keyed(theirs.Contentions)
	for _, rt := range s.ours.Contention.Runtimes {
		for i := range rt.Longest {
			w := &rt.Longest[i]
			p := byKey.find(w.Thread, w.StartMS)
			if p == nil {
				s.t.Errorf("%s: contention: thread %d at %v: TraceEvent has none", s.file, w.Thread, w.StartMS)
				continue
			}
			s.near("start", w.StartMS, p.StartMS)
			s.near("duration", w.DurationMS, p.DurationNS/1e6)
			s.equal("owner", w.Owner, p.OwnerThread)
			lock, _ := strconv.ParseUint(w.Lock, 0, 64)
			s.equal("lock", lock, p.LockID)
		}
	}
}

func compareWaits(s *sheet) {
	theirs := &s.theirs.Waits
	if theirs.Starts+theirs.Stops+len(s.ours.Waits.Runtimes) == 0 {
		return
	}
	count, open, without := 0, 0, 0
	byKey := keyed(theirs.Waits)
	for _, rt := range s.ours.Waits.Runtimes {
		count, open, without = count+rt.Count, open+rt.Open, without+rt.StopsWithoutStart
		for i := range rt.Longest {
			w := &rt.Longest[i]
			p := byKey.find(w.Thread, w.StartMS)
			if p == nil {
				s.t.Errorf("%s: waits: thread %d at %v: TraceEvent has none", s.file, w.Thread, w.StartMS)
				continue
			}
			s.near("start", w.StartMS, p.StartMS)
			s.near("duration", w.DurationMS, p.ElapsedMS)
		}
	}
	s.equal("count", count, theirs.Stops)
	s.equal("open", open, theirs.Open)
	s.equal("stops without a start", without, theirs.StopsWithoutStart)
	s.near("total", s.ours.Waits.TotalMS, theirs.TotalMS)
}

// A waitIndex finds waits by their thread and start.
type waitIndex []peerWait

func keyed(list []peerWait) waitIndex {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b peerWait) int { return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.StartMS, b.StartMS)) })
	return list
}

func (x waitIndex) find(thread int64, ms float64) *peerWait {
	for i := range x {
		if x[i].TID == thread && math.Abs(x[i].StartMS-ms) < 1e-4 {
			return &x[i]
		}
	}
	return nil
}

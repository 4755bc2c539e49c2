package threadpool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
)

// Signs of likely starvation: so many adjustments that make up for workers that wait for
// tasks, or so long a time in the queue. Those that are so far apart are of two times: the pool
// makes up for blocked workers twice a second, and for starvation once no work was taken for a while.
const (
	manyBlocked = 3
	manyWaiting = 10 // one of so many that were begun: threads that wait for some run them, which no event tells
	longQueueMS = 100
	apartMS     = 1000
	starvedMS   = 10000
)

// A stretch is a time with signs of starvation.
type stretch struct {
	first, last float64
	before      measure.Float // workers before the first adjustment in it
	most        uint32        // and after that with most
	gap         float64       // how far another may be before it
}

func (x stretch) compare(y stretch) int {
	return cmp.Or(cmp.Compare(x.last, y.last), cmp.Compare(x.first, y.first))
}

// join adds a stretch to others, apart from each other and in order, of which none ends after it.
func join(list []stretch, x stretch) []stretch {
	n := len(list)
	for ; n > 0 && list[n-1].last >= x.first-x.gap; n-- {
		y := list[n-1]
		x.first, x.most, x.gap = min(x.first, y.first), max(x.most, y.most), max(x.gap, y.gap)
		if !y.before.IsZero() {
			x.before = y.before
		}
	}
	return append(list[:n], x)
}

// starvation returns the signs of starvation, or nil, of which those of the queue are given. Workers that make up for blocked ones
// go again once these are not blocked any more: an adjustment that lowers their number is no
// sign.
func (s *state) starvation(signs []stretch, waits measure.Summary, queue *Queue) *Starvation {
	out, before := &Starvation{}, s.wished
	count := map[clr.ThreadAdjustmentReason]int{}
	for _, adj := range s.adjustments {
		sign := adj.reason == clr.ThreadAdjustmentReasonStarvation || adj.reason == clr.ThreadAdjustmentReasonCooperativeBlocking
		if sign && float64(adj.Workers) >= before.Or(0) {
			gap := float64(apartMS)
			if adj.reason == clr.ThreadAdjustmentReasonStarvation {
				gap = starvedMS
			}
			signs = append(signs, stretch{adj.AtMS, adj.AtMS, before, adj.Workers, gap})
			count[adj.reason]++
		}
		before = measure.Known(float64(adj.Workers))
	}
	if n := count[clr.ThreadAdjustmentReasonStarvation]; n > 0 {
		out.Because = append(out.Because, measure.Count(n, "adjustment", "adjustments")+" because of starvation")
	}
	// The pool makes up for each worker that waits for a task, though there be others for all the work.
	told := queue != nil && queue.Dequeued > 0
	waited := waits.Max.Or(0) > longQueueMS || told && queue.Waiting*manyWaiting > queue.Dequeued
	if n := count[clr.ThreadAdjustmentReasonCooperativeBlocking]; n >= manyBlocked && (waited || !told) {
		out.Unsure = !told && out.Because == nil
		out.Because = append(out.Because, measure.Count(n, "adjustment", "adjustments")+" because of blocked workers")
	}
	if waits.P95.Or(0) > longQueueMS {
		out.Because = append(out.Because, fmt.Sprintf("work waits for %.0f ms in the queue (95th percentile)", waits.P95.Or(0)))
	}
	if queue != nil && queue.Before >= manyBlocked {
		out.Because = append(out.Because, fmt.Sprintf("%d items that came before the recording waited on in it, for %.0f ms at least", queue.Before, queue.BeforeMS))
	}
	if out.Because == nil {
		return nil
	}
	out.longest(signs)
	return out
}

// longest sets the times to the longest with signs.
func (s *Starvation) longest(signs []stretch) {
	order.Stable(signs, stretch.compare)
	var list []stretch
	for _, x := range signs {
		list = join(list, x)
	}
	if s.Times = len(list); s.Times == 0 {
		return
	}
	x := slices.MaxFunc(list, func(a, b stretch) int { return cmp.Compare(a.last-a.first, b.last-b.first) })
	s.FirstMS, s.LastMS, s.WorkersBefore = measure.Known(x.first), measure.Known(x.last), x.before
	if x.most > 0 {
		s.WorkersAfter = measure.Known(float64(x.most))
	}
}

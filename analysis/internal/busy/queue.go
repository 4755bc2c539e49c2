package busy

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/window"
)

// A Queue holds requests to something that serves one after another, as a disk does its
// requests. The zero Queue is ready for use.
type Queue struct {
	Union
	// Window is the part of the time that counts, on the clock of the requests.
	Window       window.Window
	begun, ended []int64
	free         int64 // since then it has served none of those that ended
}

// Serve adds a request, in the order in which they end, and returns how much of its time it
// was served in the window: from when it began, or the one before it ended, whichever came later.
func (q *Queue) Serve(from, to int64) int64 {
	if to < from {
		return 0
	}
	q.Add(q.Window.Clip(from, to))
	q.begun, q.ended = append(q.begun, from), append(q.ended, to)
	since := from
	if len(q.ended) > 1 {
		since = max(since, q.free)
	}
	q.free = max(since, to)
	since, to = q.Window.Clip(since, to)
	return to - since
}

// Depth returns how many requests there were when one began in the window, itself among them: the
// mean and the most. One that ends when another begins is over.
func (q *Queue) Depth() (mean float64, most int) {
	slices.Sort(q.begun)
	slices.Sort(q.ended)
	sum, over, n := 0, 0, 0
	for i, from := range q.begun {
		for over < len(q.ended) && q.ended[over] <= from && over < i {
			over++
		}
		if q.Window.Has(from) {
			depth := i + 1 - over
			sum, n, most = sum+depth, n+1, max(most, depth)
		}
	}
	if n > 0 {
		mean = float64(sum) / float64(n)
	}
	return mean, most
}

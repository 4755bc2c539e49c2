package busy

import "slices"

// A Queue holds requests to something that serves one after another, as a disk does its
// requests. The zero Queue is ready for use.
type Queue struct {
	Union
	begun, ended []int64
	free         int64 // since then it has served none of those that ended
}

// Serve adds a request, in the order in which they end, and returns how much of its time it
// was served: from when it began, or the one before it ended, whichever came later.
func (q *Queue) Serve(from, to int64) int64 {
	if to < from {
		return 0
	}
	q.Add(from, to)
	q.begun, q.ended = append(q.begun, from), append(q.ended, to)
	since := from
	if len(q.ended) > 1 {
		since = max(since, q.free)
	}
	q.free = max(since, to)
	return max(0, to-since)
}

// Depth returns how many requests there were when one began, itself among them: the mean and
// the most. One that ends when another begins is over.
func (q *Queue) Depth() (mean float64, most int) {
	slices.Sort(q.begun)
	slices.Sort(q.ended)
	sum, over := 0, 0
	for i, from := range q.begun {
		for over < len(q.ended) && q.ended[over] <= from && over < i {
			over++
		}
		depth := i + 1 - over
		sum += depth
		most = max(most, depth)
	}
	if len(q.begun) > 0 {
		mean = float64(sum) / float64(len(q.begun))
	}
	return mean, most
}

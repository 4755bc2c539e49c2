package cpu

import "math"

// A rounds is the times in which the sampler looked at each thread of a process that runs managed
// code, or called out of it. A sample stands for the time between these, half of it before and half
// after: a thread that it met in two rounds was there from the one to the other, however far they are
// apart, and one that it did not meet in the next had nothing of its program to do for a part of that time.
type rounds struct {
	pauses []span
	at     []int64 // when each began
	last   int64   // when the last sample was taken
	stand  []weight
	sums   []int64 // of the times that the rounds before one stand for
}

// MaxRound is how many nanoseconds the sampler takes at most from one thread to the next, where it
// looks at all of them.
const MaxRound = 500_000

// take takes a sample of a thread that was in a round before, and returns in which it is: the first
// one is 1.
func (r *rounds) take(at int64, before int) int {
	if len(r.at) == 0 || before == len(r.at) || at-r.last > MaxRound {
		r.at = append(r.at, at)
	}
	r.last = at
	return len(r.at)
}

// weigh parts the time between the rounds.
func (r *rounds) weigh() {
	r.stand, r.sums = make([]weight, len(r.at)), make([]int64, len(r.at)+1)
	pauses := r.pauses
	for i := range r.at {
		from, to := r.around(i)
		w := &r.stand[i]
		w.pause, pauses = overlap(pauses, from, to)
		w.time = to - from - w.pause
		r.sums[i+1] = r.sums[i] + to - from
	}
}

// around returns the time that a round stands for.
func (r *rounds) around(i int) (from, to int64) {
	at := r.at[i]
	from, to = at, at
	if i > 0 {
		from -= (at - r.at[i-1]) / 2
	}
	if i+1 < len(r.at) {
		next := r.at[i+1]
		to = next - (next-at)/2
	}
	return from, to
}

// between returns how long the rounds from one up to, but not including, another are.
func (r *rounds) between(from, to int) int64 {
	if from >= to {
		return 0
	}
	return r.sums[to] - r.sums[from]
}

// Within has the samples be those of threads in times that are known, which are so many
// nanoseconds all together. Samples of others are for Skip.
func (a *Analysis) Within(nanoseconds int64) { a.within, a.weighed = max(nanoseconds, 1), nil }

// scale has all samples together stand for the time that is known, if it is.
func (a *Analysis) scale(weights []weight, pauses []stopped) {
	sum := int64(0)
	for _, w := range weights {
		sum += w.time + w.pause
	}
	if a.within == 0 || sum == 0 {
		return
	}
	factor := float64(a.within) / float64(sum)
	scaled := func(of *int64) { *of = int64(math.Round(float64(*of) * factor)) }
	for i := range weights {
		scaled(&weights[i].time)
		scaled(&weights[i].pause)
	}
	for i := range pauses {
		scaled(&pauses[i].time)
	}
}

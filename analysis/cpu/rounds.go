package cpu

import (
	"cmp"
	"math"

	"github.com/etwgen/etwgen/internal/order"
)

// Threads work for one activity for so short times that most of them have no sample or one,
// and the time to the next sample of the thread is mostly not its own. There each sample
// stands for the time between the rounds in which the sampler stopped the program, half of it
// before and half after, and all together for the time that is known exactly.

// Within has the samples be those of threads in times that are known, which are so many
// nanoseconds all together. Samples of others are for Skip.
func (a *Analysis) Within(nanoseconds int64) { a.within, a.weighed = max(nanoseconds, 1), nil }

// maxRound is how long the sampler takes at most to look at all threads, from one to the next.
const maxRound = 500_000

// weighRounds weighs the samples by the rounds in which they were taken.
func (a *Analysis) weighRounds(weights []weight) {
	byProcess := make(map[int64][]int32)
	for i, x := range a.taken.all() {
		pid := a.threads.list[x.thread()].process
		byProcess[pid] = append(byProcess[pid], int32(i))
	}
	sum := int64(0)
	for pid, list := range byProcess {
		order.Stable(list, func(x, y int32) int { return cmp.Compare(a.taken.at(int(x)).at, a.taken.at(int(y)).at) })
		rounds, of := a.rounds(list)
		stand, pauses := make([]weight, len(rounds)), merged(a.pauses[pid])
		for i, at := range rounds {
			from, to := at, at
			if i > 0 {
				from -= (at - rounds[i-1]) / 2
			}
			if i+1 < len(rounds) {
				to += (rounds[i+1] - at) / 2
			}
			stand[i].pause, pauses = overlap(pauses, from, to)
			stand[i].time = to - from - stand[i].pause
		}
		for i, x := range list {
			weights[x] = weight{}
			if s := a.taken.at(int(x)).state(); s != skipped {
				weights[x] = stand[of[i]].in(s)
				sum += weights[x].time + weights[x].pause
			}
		}
	}
	if sum == 0 {
		return
	}
	factor := float64(a.within) / float64(sum)
	for i := range weights {
		w := &weights[i]
		w.time, w.pause = int64(math.Round(float64(w.time)*factor)), int64(math.Round(float64(w.pause)*factor))
	}
}

// rounds returns when the rounds of the sampler began in which samples of a process were taken,
// and of which round each is. In one it looks at each thread once.
func (a *Analysis) rounds(list []int32) (rounds []int64, of []int) {
	seen, last := make(map[int32]bool), int64(0)
	for i, x := range list {
		t := a.taken.at(int(x))
		if i == 0 || seen[t.thread()] || t.at-last > maxRound {
			rounds = append(rounds, t.at)
			clear(seen)
		}
		seen[t.thread()], last = true, t.at
		of = append(of, len(rounds)-1)
	}
	return rounds, of
}

// sumUp sets the times of threads to those of their samples.
func (a *Analysis) sumUp(res *Result, weights []weight) {
	rows := make(map[thread]*Thread, len(res.Threads))
	for i := range res.Threads {
		t := &res.Threads[i]
		rows[thread{t.Process, t.Thread}] = t
		t.TimeMS, t.ManagedMS, t.PauseMS, t.UnsampledMS = 0, 0, 0, 0
	}
	for i, x := range a.taken.all() {
		w, t := weights[i], rows[a.threads.list[x.thread()]]
		if t == nil || x.state() == skipped {
			continue
		}
		ms := float64(w.time) / 1e6
		t.TimeMS += ms
		t.PauseMS += float64(w.pause) / 1e6
		if x.state() == managed {
			t.ManagedMS += ms
		}
	}
}

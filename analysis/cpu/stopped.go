package cpu

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A trigger is where a thread made the runtime collect, which it waits for there.
type trigger struct {
	span // of the pause
	thread
	stack stacks.ID
}

// trigger notes where a thread makes the runtime collect: within the pause, or before it where
// another thread is to stop the program.
func (a *Analysis) trigger(r *etw.Record) {
	if r.Stack.Len() > 0 {
		a.begun[r.ProcessID] = trigger{thread: thread{r.ProcessID, r.ThreadID}, stack: a.base.Intern(r.ProcessID, r.Stack)}
	}
}

// pause takes a pause of a process.
func (a *Analysis) pause(process int64, of span) {
	a.pauses[process] = append(a.pauses[process], of)
	if by, ok := a.begun[process]; ok {
		delete(a.begun, process)
		by.span = of
		a.own[by.thread] = append(a.own[by.thread], by)
	}
	a.weighed = nil
}

// A stopped is a part of the pause that a sample has. The sampler met the thread in two stacks, before
// and after: in that time it was in no frame for sure but those that both have. If it waits for
// a collection of its own, the stacks are one; and if it was not met on one side, that is 0.
type stopped struct {
	sample        int
	before, after stacks.ID
	time          int64
}

// A stopping parts the pauses of the samples of one thread.
type stopping struct {
	pauses       []span // of its process
	own          []trigger
	before, last stacks.ID // the stacks of its last samples
	sample       int       // the last one, + 1
	round        int       // of that
}

// stop takes the next sample of a thread, which is in a round, and parts the pause of the last one:
// each half is between that and another.
func (s *stopping) stop(list []stopped, of *rounds, weights []weight, next stopped, round int) []stopped {
	if i := s.sample - 1; i >= 0 && weights[i].pause > 0 {
		from, to := of.around(s.round)
		at := of.at[s.round]
		list = s.part(list, stopped{sample: i, before: s.before, after: s.last}, span{from, at})
		list = s.part(list, stopped{sample: i, before: s.last, after: next.after}, span{at, to})
	}
	s.before, s.last, s.sample, s.round = s.last, next.after, next.sample+1, round
	return list
}

// part adds the pauses in one half.
func (s *stopping) part(list []stopped, x stopped, in span) []stopped {
	x.time, s.pauses = overlap(s.pauses, in.from, in.to)
	for len(s.own) > 0 && s.own[0].from < in.to {
		by := &s.own[0]
		if own := min(x.time, by.to-max(by.from, in.from), in.to-max(by.from, in.from)); own > 0 {
			list = append(list, stopped{x.sample, by.stack, by.stack, own})
			x.time -= own
		}
		if by.to > in.to {
			break
		}
		s.own = s.own[1:]
	}
	if x.time > 0 {
		list = append(list, x)
	}
	return list
}

// stopped parts the pauses of all samples, which are in rounds of these numbers.
func (a *Analysis) stopped(threads []weighing, numbers []int32, weights []weight) (list []stopped) {
	if len(a.pauses) == 0 {
		return nil
	}
	for i := range threads {
		t := &threads[i]
		t.stops = stopping{pauses: t.of.pauses, own: a.own[a.threads.list[i]]}
	}
	for i, x := range a.inOrder() {
		t := &threads[x.thread()]
		list = t.stops.stop(list, t.of, weights, stopped{sample: i, after: x.stack}, int(numbers[i]))
	}
	for i := range threads {
		list = threads[i].stops.stop(list, threads[i].of, weights, stopped{}, 0)
	}
	order.Stable(list, func(x, y stopped) int { return cmp.Compare(x.sample, y.sample) })
	return list
}

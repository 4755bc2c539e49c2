package stacks

import (
	"cmp"

	"github.com/etwgen/etwgen/internal/order"
)

// A Timed is a sample of a thread: when it was, its last value and its stack.
type Timed struct {
	Time, Value int64
	Stack       ID
}

// A Thread is the samples of a thread in the order of time.
type Thread struct {
	Process, Thread int64
	Samples         []Timed
}

// Threads returns the samples of each thread, in the order in which the first of each comes.
// They take 24 bytes each beside the profile.
func (p *Profile) Threads() []Thread {
	type key struct{ process, thread int64 }
	index := make(map[key]int)
	var list []Thread
	for s := range p.Samples() {
		k := key{s.Process, s.Thread}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, Thread{Process: s.Process, Thread: s.Thread})
		}
		list[i].Samples = append(list[i].Samples, Timed{s.Time, s.Values[len(s.Values)-1], s.Stack})
	}
	for i := range list {
		order.Stable(list[i].Samples, func(a, b Timed) int { return cmp.Compare(a.Time, b.Time) })
	}
	return list
}

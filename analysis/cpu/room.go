package cpu

import (
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
)

// A trace of any size has so many samples that are kept one by one until their stacks are known: of
// more, those of the same thread and stack within a slot of time are one.
const mostSamples = 2 << 20

// keep keeps a sample.
func (k *Kernel) keep(s interrupted) {
	if len(k.list) >= k.most {
		k.fold()
	}
	k.list = append(k.list, s)
}

// fold makes room, by slots that are longer until half of it is left. Where even that is not enough,
// as many more are kept: stacks are not without end.
func (k *Kernel) fold() {
	type kind struct {
		thread  *system.Thread
		address uint64 // of one without a stack
		kernel  bool
		stack   system.CallStack
	}
	for k.slot = max(k.slot, int64(time.Millisecond)); ; k.slot *= 4 {
		last, left := make(map[kind]int), k.list[:0]
		for _, s := range k.list {
			of := kind{thread: s.thread, kernel: isKernel(s.address), stack: s.stack}
			if s.stack == (system.CallStack{}) {
				of.address = s.address
			}
			if i, ok := last[of]; ok && uint64(s.at)-uint64(left[i].at) < uint64(k.slot) {
				left[i].times += s.times
				left[i].early += s.early
				left[i].weight = int64(measure.Plus(uint64(left[i].weight), uint64(s.weight)))
				continue
			}
			last[of] = len(left)
			left = append(left, s)
		}
		k.list = left
		switch {
		case len(left) <= k.most/2:
			return
		case k.slot > 1<<58:
			k.most = 2 * len(left)
			return
		}
	}
}

// rest counts the samples that are added to others.
func (k *Kernel) rest() (r stacks.Rest) {
	for i := range k.list {
		r.Summed += k.list[i].times - 1
	}
	if r.Summed > 0 {
		r.Slot = time.Duration(k.slot)
	}
	return r
}

package cpu

import (
	"math/bits"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
)

// A trace of any size has so many samples that are kept one by one until their stacks are known: of
// more, those of the same thread and stack within a slot of time are one. Where slots of a second are
// not enough, as stacks are many, one of several samples of a thread stands for those beside it, too.
const (
	mostSamples = 1 << 20
	mostSlot    = int64(1024 * time.Millisecond)
)

// keep keeps a sample.
func (k *Kernel) keep(s interrupted) {
	if len(k.list) >= k.most {
		k.fold()
	}
	k.list = append(k.list, s)
}

// fold makes room, by slots that are longer until half of it is left.
func (k *Kernel) fold() {
	last := make([]int32, 1<<bits.Len(uint(2*len(k.list)))) // a hash table: of each kind, its place in left, + 1
	for k.slot = max(k.slot, int64(time.Millisecond)); ; k.slot *= 4 {
		left := k.list[:0]
		clear(last)
		for _, s := range k.list {
			at := s.hash() % uint64(len(last))
			for last[at] != 0 && !left[last[at]-1].alike(&s) {
				at = (at + 1) % uint64(len(last))
			}
			if i := last[at] - 1; i >= 0 && uint64(s.at)-uint64(left[i].at) < uint64(k.slot) {
				left[i].own += s.own
				left[i].add(&s)
				continue
			}
			left = append(left, s)
			last[at] = int32(len(left))
		}
		k.list = left
		if len(left) <= k.most/2 {
			return
		}
		if k.slot >= mostSlot {
			k.thin()
			return
		}
	}
}

// thin has one of samples of a thread that follow each other stand for all, up to a number that is
// larger until half of the room is left: which one, chance decides by how many each is, so that each
// stack has about its share, and each thread all of its. More threads than that need more room.
func (k *Kernel) thin() {
	for k.heavy = max(k.heavy, 2); ; k.heavy *= 2 {
		user, kernel, left := make(map[*system.Thread]int), make(map[*system.Thread]int), k.list[:0]
		for _, s := range k.list {
			last := user
			if isKernel(s.address) {
				last = kernel
			}
			i, ok := last[s.thread]
			if !ok || left[i].times+s.times > k.heavy {
				last[s.thread] = len(left)
				left = append(left, s)
				continue
			}
			x := &left[i]
			x.add(&s)
			k.random = k.random*6364136223846793005 + 1442695040888963407 // the same trace has the same answer
			if uint32(k.random>>33)%x.times < s.times {
				x.own, x.stack, x.address = s.own, s.stack, s.address
			}
		}
		if k.list = left; len(left) <= k.most/2 || k.heavy >= 1<<30 {
			k.most = max(k.most, 2*len(left))
			return
		}
	}
}

// add has a sample stand for another, too.
func (s *interrupted) add(x *interrupted) {
	s.times, s.early = s.times+x.times, s.early+x.early
	s.weight = int64(measure.Plus(uint64(s.weight), uint64(x.weight)))
}

// alike reports whether samples differ in time alone. Addresses count of those without a stack.
func (s *interrupted) alike(x *interrupted) bool {
	return s.thread == x.thread && s.stack == x.stack && isKernel(s.address) == isKernel(x.address) && (s.stack != system.CallStack{} || s.address == x.address)
}

// hash returns a hash of the parts that samples which are alike share.
func (s *interrupted) hash() uint64 {
	_, tid := s.thread.IDs()
	if s.stack == (system.CallStack{}) {
		return seeded.Hash(uint64(tid), s.address)
	}
	return seeded.Hash(uint64(tid), uint64(s.stack.Kernel)<<32|uint64(s.stack.User))
}

// rest counts the samples that are added to others.
func (k *Kernel) rest() (r stacks.Rest) {
	for i := range k.list {
		s := &k.list[i]
		r.Summed += int64(s.own) - 1
		r.Sampled += int64(s.times - s.own)
	}
	if r.Summed > 0 {
		r.Slot = time.Duration(k.slot)
	}
	return r
}

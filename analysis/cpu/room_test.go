package cpu

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/system"
)

// TestRoom: of many samples, those that differ in time alone are one, and where that is not enough,
// one stands for others of its thread. Sums of threads stay, and stacks have about their shares.
func TestRoom(t *testing.T) {
	threads := [3]*system.Thread{{TID: 1}, {TID: 2}, {TID: 3}}
	for _, stacks := range []int{5, 500} {
		k := &Kernel{most: 200}
		const n = 10_000
		for i := range int64(n) {
			user := system.StackID(1 + int(i)%stacks)
			if i%10 < 4 {
				user = 1000 // each thread has it in four of ten
			}
			k.keep(interrupted{thread: threads[i%3], at: i * 1e5, weight: 7, times: 1, own: 1, address: 99, stack: system.CallStack{User: user}})
		}
		times, weight, of, usual := int64(0), int64(0), make(map[*system.Thread]int64), int64(0)
		for _, s := range k.list {
			times, weight = times+int64(s.times), weight+s.weight
			of[s.thread] += int64(s.times)
			if s.stack.User == 1000 {
				usual += int64(s.times)
			}
		}
		if times != n || weight != 7*n || of[threads[1]] != n/3 {
			t.Errorf("%d samples of weight %d, %d of them of a thread", times, weight, of[threads[1]])
		}
		rest := k.rest()
		if rest.Summed+rest.Sampled != n-int64(len(k.list)) || rest.Summed < 0 || rest.Slot > 4*time.Second || (rest.Sampled > 0) != (stacks == 500) {
			t.Errorf("%+v, with %d kept", rest, len(k.list))
		}
		if len(k.list) > 200 {
			t.Errorf("%d stacks: %d are kept, slot %d, most %d", stacks, len(k.list), k.slot, k.most)
		}
		if usual < n*3/10 || usual > n/2 {
			t.Errorf("%d stacks: one of %d weighs %d", stacks, n*4/10, usual)
		}
	}
}

package cpu

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
)

// TestRoom: of many samples, those that differ in time alone are one, and the sums stay.
func TestRoom(t *testing.T) {
	threads := [3]*system.Thread{{TID: 1}, {TID: 2}, {TID: 3}}
	for _, stacks := range []int{5, 500} {
		k := &Kernel{most: 200}
		const n = 10_000
		for i := range int64(n) {
			k.keep(interrupted{thread: threads[i%3], at: i * 1e6, weight: 7, times: 1, address: 99, stack: system.CallStack{User: system.StackID(1 + int(i)%stacks)}})
		}
		times, weight, of := int64(0), int64(0), make(map[*system.Thread]int64)
		for _, s := range k.list {
			times, weight = times+s.times, weight+s.weight
			of[s.thread] += s.times
		}
		if times != n || weight != 7*n || of[threads[1]] != n/3 {
			t.Errorf("%d samples of weight %d, %d of them of a thread", times, weight, of[threads[1]])
		}
		if rest := k.rest(); rest.Summed != n-int64(len(k.list)) || rest.Slot <= 0 {
			t.Errorf("%+v, with %d kept", rest, len(k.list))
		}
		if most := max(200, 3*2*stacks); len(k.list) > most {
			t.Errorf("%d stacks: %d are kept, slot %d, most %d", stacks, len(k.list), k.slot, k.most)
		}
	}
}

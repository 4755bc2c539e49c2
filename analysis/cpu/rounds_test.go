package cpu

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/window"
)

// TestRounds: samples of threads that work for something stand for the time between rounds
// of the sampler, half before and half after, and for the time that is known all together. Of
// that a pause is the part in which it stopped managed code.
func TestRounds(t *testing.T) {
	const ms = 1_000_000
	a := &Analysis{pauses: map[int64][]span{1: {{3*ms + ms/2, 4 * ms}, {6 * ms, 6*ms + ms/2}}}}
	add := func(at int64, id int64, s state) {
		a.take(thread{1, id}, taken{at: at}, s)
	}
	add(1*ms, 1, skipped) // a round of two threads
	add(1*ms+1000, 2, managed)
	add(2*ms, 1, managed) // of one
	add(4*ms, 1, managed)
	add(4*ms+1000, 2, skipped)
	add(7*ms, 2, external)
	a.Within(20 * ms)
	a.window = new(window.Window)
	weights := a.weigh().weights
	// Rounds stand for 0.5, 1.5, 2.5 and 1.5 ms, all of them are asked for, and are 6 ms.
	sum := int64(0)
	for i, want := range []float64{0, 0.5, 1.5, 2.5, 0, 1.5} {
		sum += weights[i].time + weights[i].pause
		if got := float64(weights[i].time+weights[i].pause) / ms * 6 / 20; got < want-1e-5 || got > want+1e-5 {
			t.Errorf("sample %d stands for %.6f ms, want %.6f", i, got, want)
		}
	}
	if sum < 20*ms-9 || sum > 20*ms+9 || weights[3].pause == 0 || weights[2].pause != 0 || weights[5].pause != 0 {
		t.Errorf("%d ns in all, weights %v", sum, weights)
	}
}

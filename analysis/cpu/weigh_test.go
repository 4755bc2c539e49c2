package cpu

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestMedian holds the median against that of sorted values.
func TestMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		values := make([]int64, n+1)
		for i := range values {
			values[i] = int64(r.IntN(n/3+1)) - 5
		}
		want := slices.Sorted(slices.Values(values))[len(values)/2]
		if got := median(values); got != want {
			t.Fatalf("the median of %d values is %d, want %d", n+1, got, want)
		}
	}
	if got := median(nil); got != 0 {
		t.Errorf("the median of nothing is %d", got)
	}
}

// TestLate: samples weigh the same in whichever order they come, in more blocks than one.
func TestLate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type sample struct {
		thread
		at    int64
		state state
	}
	list := make([]sample, 3*seriesBlock/2)
	for i := range list {
		list[i] = sample{thread{1, int64(r.IntN(3))}, int64(i)*1000 + int64(r.IntN(900)), []state{external, managed, skipped}[r.IntN(3)]}
	}
	result := func() *Result {
		a := &Analysis{pauses: map[int64][]span{1: {{5_000, 25_000}, {90_000, 91_000}}}}
		for _, s := range list {
			a.take(s.thread, taken{at: s.at}, s.state)
		}
		return a.Result()
	}
	want := result()
	if want.Samples == 0 || want.PauseMS == 0 || want.UnsampledMS == 0 {
		t.Fatalf("%+v", want)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if got := result(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

package cpu

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/window"
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
	result := func(from, to int64) *Result {
		a := &Analysis{window: new(window.Window), pauses: map[int64][]span{1: {{5_000, 25_000}, {90_000, 91_000}}}}
		if to != 0 {
			a.window.Between(time.Unix(0, from), time.Unix(0, to))
		}
		for _, s := range list {
			a.take(s.thread, taken{at: s.at}, s.state)
		}
		return a.Result()
	}
	want := result(0, 0)
	if want.Samples == 0 || want.PauseMS == 0 || want.UnsampledMS == 0 {
		t.Fatalf("%+v", want)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if got := result(0, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Parts of the time add up to all of it: what a sample stands for does not depend on the window. How far
	// they are apart does, since only the part is looked at.
	sum, end := new(Result), int64(len(list))*1000
	for from := int64(1); from < end; from += end / 7 {
		part := result(from, from+end/7)
		if apart := part.IntervalMS; part.Samples > 1000 && (apart == want.IntervalMS || math.Abs(apart-want.IntervalMS) > want.IntervalMS/10) {
			t.Errorf("samples are %v ms apart from %d on, of all %v", apart, from, want.IntervalMS)
		}
		sum.Samples, sum.Managed = sum.Samples+part.Samples, sum.Managed+part.Managed
		sum.TimeMS, sum.PauseMS, sum.UnsampledMS = sum.TimeMS+part.TimeMS, sum.PauseMS+part.PauseMS, sum.UnsampledMS+part.UnsampledMS
	}
	for _, x := range [...][2]float64{{float64(sum.Samples), float64(want.Samples)}, {float64(sum.Managed), float64(want.Managed)},
		{sum.TimeMS, want.TimeMS}, {sum.PauseMS, want.PauseMS}, {sum.UnsampledMS, want.UnsampledMS}} {
		if math.Abs(x[0]-x[1]) > 1e-6 {
			t.Errorf("parts of the time add up to %v, not to %v", x[0], x[1])
		}
	}
}

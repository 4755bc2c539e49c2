package busy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		spans := make([]span, 1+random.IntN(100))
		for i := range spans {
			from := random.Int64N(200)
			spans[i] = span{from, from + 1 + random.Int64N(50)}
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.to, b.to) })
		var q Queue
		served, before := int64(0), spans[0].from
		for _, s := range spans {
			got := q.Serve(s.from, s.to)
			if want := s.to - max(s.from, before); got != want {
				t.Fatalf("%v after %d is served for %d, want %d", s, before, got, want)
			}
			served, before = served+got, s.to
		}
		if served > q.Total() {
			t.Errorf("served for %d of %d", served, q.Total())
		}
		sum, most := 0, 0
		for i, s := range spans { // of two that begin at once, one is first
			depth := 1
			for k, x := range spans {
				if x.from < s.from && x.to > s.from || x.from == s.from && k < i {
					depth++
				}
			}
			sum, most = sum+depth, max(most, depth)
		}
		if mean, got := q.Depth(); got != most || mean != float64(sum)/float64(len(spans)) {
			t.Errorf("depth %v, %d, want %v, %d", mean, got, float64(sum)/float64(len(spans)), most)
		}
	}
	var q Queue
	if mean, most := q.Depth(); mean != 0 || most != 0 {
		t.Error(mean, most)
	}
	if q.Serve(5, 3) != 0 || q.Serve(3, 3) != 0 {
		t.Error("nothing is served for a while")
	}
}

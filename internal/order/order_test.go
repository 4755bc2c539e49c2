package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A pair is sorted by its key alone.
type pair struct{ key, seq int }

// TestOrder holds the functions against those of package slices.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	both := func(a, b pair) int { return cmp.Or(byKey(a, b), cmp.Compare(a.seq, b.seq)) }
	for n := range 200 {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{r.IntN(n), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		got := slices.Clone(list)
		Stable(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("Stable: %v, want %v", got, want)
		}
		got = slices.Clone(list)
		ByKey(got, func(p *pair) uint64 { return uint64(p.key) })
		if !slices.Equal(got, want) {
			t.Fatalf("ByKey: %v, want %v", got, want)
		}
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
		Sort(list, both)
		if !slices.Equal(list, want) {
			t.Fatalf("Sort: %v, want %v", list, want)
		}
	}
}

// TestDelete holds Delete against that of package slices.
func TestDelete(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		list := make([]int, n)
		for i := range list {
			list[i] = r.IntN(3)
		}
		isOne := func(x int) bool { return x == 1 }
		want, got := slices.DeleteFunc(slices.Clone(list), isOne), Delete(list, isOne)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for _, x := range list[len(got):] {
			if x != 0 {
				t.Fatal("the rest is not cleared")
			}
		}
	}
}

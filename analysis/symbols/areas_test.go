package symbols

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// Areas find the same as a plain search, however starts lie.
func TestAreas(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	steps := []uint64{0, 1, 0x10, 0x100, 0x10000, maxGap, maxGap + 1, 1 << 32, 1 << 40}
	for round := range 300 {
		var starts []uint64
		at := rng.Uint64N(1 << 20)
		for range rng.IntN(60) + 1 {
			starts = append(starts, at)
			at += steps[rng.IntN(len(steps))] * rng.Uint64N(3)
		}
		if round%10 == 0 {
			starts = append(starts, ^uint64(0), ^uint64(0))
		}
		var a areas
		places := make([]place, len(starts))
		for i, s := range starts {
			places[i].offset = a.add(i, s, places[max(i-1, 0)].offset)
		}
		a.finish(places)
		addresses := slices.Clone(starts)
		for _, s := range starts {
			addresses = append(addresses, s-1, s+1, s+maxGap/2)
		}
		for _, address := range append(addresses, 0, ^uint64(0)) {
			want := sort.Search(len(starts), func(i int) bool { return starts[i] > address }) - 1
			got, start := a.last(places, address)
			if got != want || want >= 0 && start != starts[want] {
				t.Fatalf("%#x in %#x: %d, %#x, want %d", address, starts, got, start, want)
			}
		}
	}
	if i, _ := new(areas).last(nil, 5); i != -1 {
		t.Errorf("without starts: %d", i)
	}
}

package busy

import (
	"math/rand/v2"
	"testing"
)

func TestTotal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		const length = 20_000
		var covered [length]bool
		var u Union
		for range 3 * leastSpans {
			from := random.Int64N(length)
			to := min(from+random.Int64N(3), length)
			u.Add(from, to)
			for i := from; i < to; i++ {
				covered[i] = true
			}
		}
		want := int64(0)
		for _, c := range covered {
			if c {
				want++
			}
		}
		if got := u.Total(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
		if got := u.Total(); got != want {
			t.Errorf("asked again: %d, want %d", got, want)
		}
	}
	var u Union
	u.Add(5, 5)
	u.Add(6, 1)
	if u.Total() != 0 {
		t.Error("nothing has a length:", u.Total())
	}
}

// TestFew has a million spans that overlap take little memory.
func TestFew(t *testing.T) {
	var u Union
	for i := range int64(1 << 20) {
		u.Add(i, i+10)
	}
	if cap(u.spans) > 4*leastSpans || u.Total() != 1<<20+9 {
		t.Error(cap(u.spans), u.Total())
	}
}

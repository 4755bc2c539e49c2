package cpu

import "testing"

// TestFlags: of samples in managed code a runtime says so, or of next to none.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		inside, all int
		want        bool
	}{{352, 18395, true}, {9, 56947, false}, {3, 921, false}, {0, 608, false}, {0, 20, true}, {0, 0, true}} {
		of := make(map[int64]*Flags)
		for i := range c.all {
			Note(of, 7, i >= c.inside)
		}
		if got := of[7].Tell(); got != c.want {
			t.Errorf("%d of %d in managed code: %v", c.inside, c.all, got)
		}
	}
}

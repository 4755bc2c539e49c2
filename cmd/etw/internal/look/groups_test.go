package look

import "testing"

// TestCompareCells: numbers by their value, then texts, so that there is one order.
func TestCompareCells(t *testing.T) {
	want := []string{"", "-7", "2", "9", "10", "-", "18446744073709551615", "1a", "a"}
	for i, x := range want {
		for j, y := range want {
			if got := compareCells([]string{"same", x}, []string{"same", y}); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%q and %q: %d", x, y, got)
			}
		}
	}
}

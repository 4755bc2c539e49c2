package show

import "testing"

// TestSize: a number is never rounded to nothing, nor to the begin of the next unit.
func TestSize(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 32_500: "32.5 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
		11_436_589: "11.4 MB", 21_747e6: "21747.0 MB", -1500: "-1.5 kB", 999.6: "1.0 kB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%v) = %q, want %q", bytes, got, want)
		}
	}
}

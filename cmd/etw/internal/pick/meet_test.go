package pick

import (
	"testing"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500M": 500 << 20, "20g": 20 << 30, "3KiB": 3 << 10, "2TB": 2 << 40, "7b": 7} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "M", "1.5G", "9999999999999G", "8388608T", "1X"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

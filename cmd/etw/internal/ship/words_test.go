package ship

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/compare"
)

// TestWordsOfNoise: a condition may hold of a number that the table calls noise.
func TestWordsOfNoise(t *testing.T) {
	for verdict, want := range map[compare.Verdict]bool{compare.Noise: true, compare.More: false} {
		if text := wordsOf(&compare.Change{Verdict: verdict}); strings.Contains(text, "which the table calls noise") != want {
			t.Errorf("%s: %s", verdict, text)
		}
	}
}

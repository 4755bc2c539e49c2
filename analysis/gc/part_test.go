package gc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/gc"
)

// TestPart: shares are of the part that the analysis saw, or of the life of the runtime in it.
func TestPart(t *testing.T) {
	for _, test := range []struct {
		first, last float64 // ms, of events
		want        string
	}{
		{2, 398, "100 25"},
		{350, 398, "50 50"},
		{500, 600, "0 -"}, // it began later
	} {
		res := &gc.Result{Runtimes: []*gc.Runtime{{FirstMS: test.first, LastMS: test.last, SpanMS: test.last - test.first, PauseMS: 25}}}
		res.Part(300*time.Millisecond, 400*time.Millisecond)
		rt := res.Runtimes[0]
		got := fmt.Sprintf("%v %v", rt.SpanMS, rt.PausePercent)
		if got != test.want {
			t.Errorf("events from %v to %v ms: %s, want %s", test.first, test.last, got, test.want)
		}
	}
}

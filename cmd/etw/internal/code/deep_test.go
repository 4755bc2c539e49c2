package code

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// TestDeep: stacks as deep as recorders keep them are told, unless they are very few.
func TestDeep(t *testing.T) {
	samples := func(deep, others int) []*stacks.Samples {
		s := stacks.NewSamples("thread time", stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "time", Unit: "nanoseconds"})
		for i := range deep + others {
			frames := make([]uint64, 100)
			if i >= deep {
				frames = frames[:99]
			}
			s.AddStack(time.Unix(0, 1), 1, 1, s.InternAddresses(1, frames), 0, 1, 1)
		}
		return []*stacks.Samples{s}
	}
	if got := appendDeep(nil, samples(2, 1998), 100); got != nil {
		t.Errorf("of few: %q", got)
	}
	if got := appendDeep(nil, samples(3, 1997), 100); len(got) != 1 || !strings.HasPrefix(got[0], "3 samples have 100 frames, as many as are recorded") {
		t.Errorf("%q", got)
	}
	if got := appendDeep([]string{"thread time"}, samples(0, 0), 100); len(got) != 1 {
		t.Errorf("of none: %q", got)
	}
}

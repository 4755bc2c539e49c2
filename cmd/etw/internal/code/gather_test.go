package code

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// TestCallerless: of a stack with one frame outside the kernel the callers are missing.
func TestCallerless(t *testing.T) {
	const kernel = 0xffffffff81000000
	s := stacks.NewSamples("blocked", stacks.ValueType{Name: "times", Unit: "count"}, stacks.ValueType{Name: "blocked", Unit: "nanoseconds"})
	for i, frames := range [][]uint64{{kernel, kernel + 1, 0x7000}, {kernel}, {kernel, 0x7000, 0x4000}, {0x7000}, nil} {
		s.AddStack(time.Unix(0, 1), 1, 1, s.InternAddresses(1, frames), 0, 1, 1<<i)
	}
	if cut, all := callerless([]*stacks.Samples{s}); cut != 1+2 || all != 31 {
		t.Errorf("%v of %v", cut, all)
	}
}

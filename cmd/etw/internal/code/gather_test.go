package code

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// Stacks whose outermost frame is the kernel's have no callers.
func TestEndingInKernel(t *testing.T) {
	const kernel = 0xffffffff81000000
	s := stacks.NewSamples("blocked", stacks.ValueType{Name: "times", Unit: "count"}, stacks.ValueType{Name: "blocked", Unit: "nanoseconds"})
	for i, frames := range [][]uint64{{kernel, kernel + 8}, {kernel, 0x7f0000001000}, nil} {
		s.AddStack(time.Unix(0, int64(i)), 7, 8, s.InternAddresses(7, frames), 0, 1, 100<<i)
	}
	if ns := endingInKernel([]*stacks.Samples{s}); ns != 100 {
		t.Errorf("%d ns, want 100", ns)
	}
}

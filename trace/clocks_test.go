package trace

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A clockReader has no records, but a clock.
type clockReader struct {
	anyReader
	of etw.Clock
}

type anyReader reader

func (r clockReader) clock() etw.Clock { return r.of }

// TestSharedClocks: two recordings of one machine, whose time of day is cut to milliseconds,
// have one clock; those of another machine, or of a clock that is set anew, do not.
func TestSharedClocks(t *testing.T) {
	const ms, day etw.FileTime = 10_000, 864_000_000_000
	clock := func(start etw.FileTime, origin, frequency int64) *File {
		return &File{r: clockReader{of: etw.Clock{Start: start, Origin: origin, Frequency: frequency}}}
	}
	first := clock(day+100*ms, 5_000_000_000, 1e9)
	second := clock(day+1083*ms, 5_984_032_257, 1e9) // 984.03 ms later by ticks, 983 by the day
	early := clock(day+50*ms, 4_950_500_000, 1e9)
	others := []*File{clock(day+100*ms, 5_000_000_000, 1e7), clock(day+103*ms, 5_000_000_000, 1e9), clock(day+100*ms, 0, 1e9)}
	shareClocks(append([]*File{first, second, early}, others...))
	for i, f := range others {
		if f.shared != nil {
			t.Errorf("clock %d is shared", i)
		}
	}
	one := first.shared
	if one == nil || second.shared != one || early.shared != one || one.Origin != 4_950_500_000 {
		t.Fatalf("%v, %v, %v", one, second.shared, early.shared)
	}
	if got := one.FileTime(5_000_000_000); got != day+100*ms { // the latest account
		t.Errorf("the first began at %d, want %d", got, day+100*ms)
	}
	if got := first.Clock(); got != *one {
		t.Errorf("%v", got)
	}
}

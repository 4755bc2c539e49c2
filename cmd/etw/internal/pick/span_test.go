package pick

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestBound: a record whose time is damaged does not stretch the span of a trace, but bounds that
// most records break are no bounds.
func TestBound(t *testing.T) {
	var s TimeSpan
	s.Bound(-time.Minute, 2*time.Minute, true)
	see := func(at ...time.Duration) {
		for _, elapsed := range at {
			s.See(new(etw.Record), elapsed, new(filter.Header), filter.Numbers{})
		}
	}
	see(time.Second, 1000*time.Hour, 2*time.Second, -1000*time.Hour)
	if s.First != time.Second || s.Last != 2*time.Second {
		t.Errorf("from %v to %v", s.First, s.Last)
	}
	for i := range 100 {
		see(time.Duration(i) * time.Hour)
	}
	if s.First != -1000*time.Hour || s.Last != 1000*time.Hour {
		t.Errorf("with wrong bounds from %v to %v", s.First, s.Last)
	}
}
